/** The OpenAPI tool-kit, run so that it talks to nobody. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const command = createRequire(import.meta.url).resolve('@redocly/cli/bin/cli.js');
export const openapiDir = fileURLToPath(new URL('../../openapi/', import.meta.url));

/** A surface that has no file yet is left out. */
export const surfaces = ['worker', 'automation', 'skills'].filter((name) => existsSync(`${openapiDir}${name}.yaml`));

/** @returns what it printed. @throws Error with what it printed. */
export function redocly(...args) {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`redocly ${args[0]} failed:\n${stdout}\n${stderr}`);
  return stdout;
}
