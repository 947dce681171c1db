/** Checks every OpenAPI file against redocly.yaml; warnings are failures too. */
import { fileURLToPath } from 'node:url';
import { openapiDir, redocly, surfaces } from './redocly.mjs';

const config = fileURLToPath(new URL('redocly.yaml', import.meta.url));
try {
  const files = surfaces.map((name) => `${openapiDir}${name}.yaml`);
  redocly('lint', '--config', config, '--format', 'codeframe', '--max-problems', '100', ...files);
  process.stdout.write(`${surfaces.map((name) => `${name}.yaml`).join(', ')}: no problems\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
