/**
 * dist/openapi/<surface>.yaml   each surface in one file, access policies written in
 * dist/docs/                    a page to read them with; it loads nothing from anywhere else
 * Another directory than dist may be given as the argument.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { publishedFiles } from '@gantry/openapi';
import { stringify } from 'yaml';
import { describeAccess } from './describe-access.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const dist = path.resolve(process.argv[2] ?? path.join(here, 'dist'));
rmSync(dist, { recursive: true, force: true });
mkdirSync(path.join(dist, 'openapi'), { recursive: true });

for (const [surface, file] of Object.entries(publishedFiles)) {
  const document = describeAccess(JSON.parse(readFileSync(file, 'utf8')));
  writeFileSync(
    path.join(dist, 'openapi', `${surface}.yaml`),
    stringify(document, { lineWidth: 120, aliasDuplicateObjects: false }),
  );
}

cpSync(path.join(here, 'page'), path.join(dist, 'docs'), { recursive: true });
const getPackageDir = (name) => path.dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
const library = getPackageDir('swagger-ui-dist');
for (const file of ['swagger-ui-bundle.js', 'LICENSE', 'NOTICE']) {
  cpSync(path.join(library, file), path.join(dist, 'docs', 'swagger-ui', file));
}
// It names a typeface in fifty places.
const stylesheet = readFileSync(path.join(library, 'swagger-ui.css'), 'utf8');
writeFileSync(
  path.join(dist, 'docs', 'swagger-ui', 'swagger-ui.css'),
  stylesheet.replaceAll('font-family:sans-serif', 'font-family:inherit'),
);
const typeface = getPackageDir('@fontsource-variable/schibsted-grotesk');
for (const file of ['index.css', 'files', 'LICENSE']) {
  cpSync(path.join(typeface, file), path.join(dist, 'docs', 'typeface', file), { recursive: true });
}
