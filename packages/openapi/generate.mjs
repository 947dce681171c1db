/**
 * Of each surface of openapi/:
 * dist/<surface>.json                    everything in one file, for services at run time
 * dist/published/<surface>.json, .yaml   the same with every status and header that an operation answers, for people and their tools
 * src/generated/<surface>.ts             its types, as clients see them
 * src/generated/<surface>-received.ts    its types, as handlers see them: validation has filled in each default
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundle, createConfig } from '@redocly/openapi-core';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { stringify } from 'yaml';
import completeOperations from './complete-operations.mjs';
import { documentResponses } from './document-responses.mjs';

const resolvePath = (name) => fileURLToPath(new URL(name, import.meta.url));
const config = await createConfig({
  plugins: [completeOperations()],
  preprocessors: { 'gantry/complete-operations': 'on' },
});
for (const directory of ['dist/published', 'src/generated']) mkdirSync(resolvePath(directory), { recursive: true });

async function writeTypes(name, document, options) {
  writeFileSync(resolvePath(`src/generated/${name}.ts`), astToString(await openapiTypescript(document, options)));
}

/** A parameter with a default is always there. */
function markDefaultAsRequired(_key, value) {
  const hasDefault = value?.schema?.default !== undefined && value.in === 'query';
  return hasDefault ? { ...value, required: true } : value;
}

for (const surface of ['worker', 'automation', 'skills']) {
  const { bundle: bundled, problems } = await bundle({
    ref: resolvePath(`../../openapi/${surface}/index.yaml`),
    config,
  });
  if (problems.length) throw new Error(problems.map(({ message }) => `${surface}: ${message}`).join('\n'));
  const document = JSON.stringify(bundled.parsed, null, 2);
  writeFileSync(resolvePath(`dist/${surface}.json`), document);
  const published = documentResponses(bundled.parsed);
  writeFileSync(resolvePath(`dist/published/${surface}.json`), JSON.stringify(published, null, 2));
  // Written here and not by a service, whose event loop it would block for a third of a second.
  const yaml = stringify(published, { lineWidth: 120, aliasDuplicateObjects: false });
  writeFileSync(resolvePath(`dist/published/${surface}.yaml`), yaml);
  await writeTypes(surface, document, { defaultNonNullable: false });
  const received = JSON.stringify(bundled.parsed, markDefaultAsRequired);
  await writeTypes(`${surface}-received`, received, { defaultNonNullable: true, emptyObjectsUnknown: true });
}
