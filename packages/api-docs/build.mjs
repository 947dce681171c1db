/**
 * dist/openapi/<surface>.yaml   each surface in one file, `common.yaml` and access policies written in
 * dist/docs/                    a page to read them with; it loads nothing from anywhere else
 * Another directory than dist may be given as the argument.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { describeAccess } from './describe-access.mjs';
import { openapiDir, redocly, surfaces } from './redocly.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const dist = path.resolve(process.argv[2] ?? path.join(here, 'dist'));
rmSync(dist, { recursive: true, force: true });
mkdirSync(path.join(dist, 'openapi'), { recursive: true });

const scratch = mkdtempSync(path.join(tmpdir(), 'gantry-api-docs-'));
try {
  for (const name of surfaces) {
    const bundled = path.join(scratch, `${name}.yaml`);
    redocly('bundle', `${openapiDir}${name}.yaml`, '--output', bundled);
    const document = describeAccess(parse(readFileSync(bundled, 'utf8')));
    writeFileSync(
      path.join(dist, 'openapi', `${name}.yaml`),
      stringify(document, { lineWidth: 120, aliasDuplicateObjects: false }),
    );
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

cpSync(path.join(here, 'page'), path.join(dist, 'docs'), { recursive: true });
const library = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE']) {
  cpSync(path.join(library, file), path.join(dist, 'docs', 'swagger-ui', file));
}
