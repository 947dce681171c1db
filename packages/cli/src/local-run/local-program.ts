/** A worker of a folder, as far as running it on this machine needs its manifest. The server checks the rest. */
import fs from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import type { WorkerSchemas } from '@gantry/sdk';
import { CommandError, EXIT } from '../errors';
import { readWorkerFolder } from '../worker-folder';
import { type LocalContext, readContexts } from '../workspace-folder';

export type InputItem = Pick<WorkerSchemas['Worker']['inputs'][number], 'name' | 'type' | 'options'> & {
  required: boolean;
  default?: unknown;
};

export type LocalProgram = Awaited<ReturnType<typeof loadProgram>>;

/** Asks for the value of a secret. */
export type PromptSecret = (name: string) => Promise<string>;

/** @throws CommandError that says what is missing and how to give it */
export async function loadProgram(dir: string, askSecret?: PromptSecret) {
  const folder = await readWorkerFolder(dir);
  const { manifest } = folder;
  const fail = (field: string, message: string, hint?: string) =>
    new CommandError(`${folder.locate([field])}: ${message}`, EXIT.failed, hint);
  if (manifest.runner === 'agent') {
    throw fail('runner', 'an agent cannot run locally: only the platform has models', 'Deploy it: gantry deploy');
  }
  const entrypoint = typeof manifest.entrypoint === 'string' ? manifest.entrypoint : 'main.py';
  if (!folder.files.some((file) => file.path === entrypoint)) {
    throw fail('entrypoint', `no ${entrypoint} in ${path.resolve(dir)}`);
  }
  const readNames = (field: string): string[] => {
    const value = manifest[field] ?? [];
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
    throw fail(field, 'expected a list of names');
  };
  const readNumber = (field: string, defaultValue: number): number => {
    const limits = (manifest.limits ?? {}) as Record<string, unknown>;
    return typeof limits[field] === 'number' ? limits[field] : defaultValue;
  };
  const network = manifest.network ?? 'public';
  const connections = readNames('connections');
  const dependencies = readNames('python_dependencies');
  return {
    /** The name of the folder. */
    name: path.basename(path.resolve(dir)),
    dir,
    files: folder.files,
    entrypoint,
    inputs: readItems(manifest.inputs, () => fail('inputs', 'expected a list of inputs')),
    outputs: readItems(manifest.outputs, () => fail('outputs', 'expected a list of outputs')),
    secrets: await readSecrets(dir, readNames('secrets'), askSecret),
    contexts: await findContexts(dir, readNames('contexts')),
    connections,
    dependencies,
    hasNetwork: network !== 'none',
    timeoutSeconds: readNumber('timeout_seconds', 300),
    memoryMb: readNumber('memory_mb', 512),
    /** Differences from a run on the platform. */
    differences: [
      ...(typeof network === 'object' ? ['network: the list of hosts is not enforced locally'] : []),
      ...(connections.length ? [`connections: ${connections.join(', ')} not available locally`] : []),
      ...((manifest.approvals as { required?: unknown } | undefined)?.required === true
        ? ['approvals.required: not enforced locally']
        : []),
    ],
  };
}

/** A text alone is a required text input. */
function readItems(value: unknown, problem: () => CommandError): InputItem[] {
  const items = value ?? [];
  if (!Array.isArray(items)) throw problem();
  return items.map((item: unknown): InputItem => {
    if (typeof item === 'string') return { name: item, type: 'text', required: true };
    const fields = item as Partial<InputItem> | null;
    if (typeof fields?.name !== 'string') throw problem();
    return { ...fields, name: fields.name, type: fields.type ?? 'text', required: fields.required === true };
  });
}

/** From the environment, or from .env, which is never deployed; else from the person. */
async function readSecrets(dir: string, names: string[], askSecret?: PromptSecret): Promise<Record<string, string>> {
  const file = path.join(dir, '.env');
  const stored = fs.existsSync(file) ? parseEnv(fs.readFileSync(file, 'utf8')) : {};
  const values: [string, string | undefined][] = [];
  for (const name of names) values.push([name, process.env[name] ?? stored[name] ?? (await askSecret?.(name))]);
  const missing = values.flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length) {
    throw new CommandError(
      `secrets without a value: ${missing.join(', ')}`,
      EXIT.failed,
      `Set them in the environment or in ${path.join(dir, '.env')}: ${missing[0]}=...`,
    );
  }
  return Object.fromEntries(values as [string, string][]);
}

/** Those of the workspace folder that the worker's folder is in. */
async function findContexts(dir: string, names: string[]): Promise<LocalContext[]> {
  if (!names.length) return [];
  const workspace = path.resolve(dir, '../..');
  const known = await readContexts(workspace);
  return names.map((name) => {
    const found = known.find((one) => one.name === name);
    if (found) return found;
    throw new CommandError(
      `context ${name}: ${path.join(workspace, 'contexts', name)} not found`,
      EXIT.failed,
      'To write contexts/ beside workers/: gantry export',
    );
  });
}
