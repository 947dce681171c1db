// Types of the three surfaces, from their OpenAPI files. A surface that does not exist yet gets an empty one.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import openapiTypescript, { astToString } from 'openapi-typescript';

const openapi = new URL('../../openapi/', import.meta.url);
const generated = new URL('src/generated/', import.meta.url);
mkdirSync(generated, { recursive: true });

for (const surface of ['worker', 'automation', 'skills']) {
  const file = new URL(`${surface}.yaml`, openapi);
  const types = existsSync(file)
    ? astToString(await openapiTypescript(file, { defaultNonNullable: false }))
    : 'export type paths = Record<never, never>;\nexport interface components { schemas: Record<never, never> }\n';
  writeFileSync(new URL(`${surface}.ts`, generated), types);
}
