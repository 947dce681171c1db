/**
 * Of each surface of openapi/:
 * dist/<surface>.json           everything in one file, for whoever reads it while running
 * src/generated/<surface>.ts    its types
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle, createConfig } from '@redocly/openapi-core';
import openapiTypescript, { astToString } from 'openapi-typescript';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const config = await createConfig({});
for (const directory of ['dist', 'src/generated']) mkdirSync(here(directory), { recursive: true });

for (const surface of ['worker', 'automation', 'skills']) {
  const { bundle: bundled, problems } = await bundle({ ref: here(`../../openapi/${surface}/index.yaml`), config });
  if (problems.length) throw new Error(problems.map(({ message }) => `${surface}: ${message}`).join('\n'));
  const document = JSON.stringify(bundled.parsed, null, 2);
  writeFileSync(here(`dist/${surface}.json`), document);
  const types = astToString(await openapiTypescript(document, { defaultNonNullable: false }));
  writeFileSync(here(`src/generated/${surface}.ts`), types);
}
