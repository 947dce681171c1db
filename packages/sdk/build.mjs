/** Builds the ES module beside the CommonJS build of tsc: one file, whose types are those of the CommonJS build. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = path.dirname(fileURLToPath(import.meta.url));
const out = path.resolve(process.argv[2] ?? path.join(root, 'dist'));

const bundle = await rolldown({
  input: path.join(root, 'src/index.ts'),
  external: ['openapi-fetch', 'eventsource-parser'],
  platform: 'neutral',
});
await bundle.write({ file: path.join(out, 'index.mjs'), format: 'esm', sourcemap: true });
await bundle.close();
fs.writeFileSync(path.join(out, 'index.d.mts'), "export * from './index.js';\n");
