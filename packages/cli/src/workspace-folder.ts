/**
 * A workspace as a folder:
 *
 *   workers/<id>/      a folder as `gantry deploy` takes it
 *   contexts/<name>/   the files of a context
 *   contexts.yaml      what is said of contexts, by name
 *   alerts.yaml        a list of alerts
 *   secrets.yaml       a list of the names of secrets; their values are never in the folder
 */
import fs from 'node:fs';
import path from 'node:path';
import { CommandError, EXIT, usageError } from './errors';
import { type LocalFile, readWorkerFolder, type WorkerFolder, walkFiles } from './worker-folder';
import { type Alert, readAlerts } from './workspace-alerts';
import { locatedError, readYaml, requireMap, type YamlSource } from './yaml-source';

export const WORKERS = 'workers';
export const CONTEXTS = 'contexts';
export const CONTEXTS_FILE = 'contexts.yaml';
export const ALERTS_FILE = 'alerts.yaml';
export const SECRETS_FILE = 'secrets.yaml';

export interface ContextFields {
  description: string;
  writeable: boolean;
  visibility: 'private' | 'workspace';
}

export interface LocalContext {
  name: string;
  fields: ContextFields;
  files: LocalFile[];
}

export interface LocalWorker {
  id: string;
  folder: WorkerFolder;
}

export type LocalWorkspace = Awaited<ReturnType<typeof readWorkspaceFolder>>;

/** Reads all of a folder before anything is done with it. @throws CommandError with file, line and column */
export async function readWorkspaceFolder(dir: string) {
  if (!fs.existsSync(dir)) throw usageError(`${path.resolve(dir)} not found`);
  const parts = [WORKERS, CONTEXTS, CONTEXTS_FILE, ALERTS_FILE, SECRETS_FILE];
  if (!parts.some((name) => fs.existsSync(path.join(dir, name)))) {
    throw usageError(
      `${path.resolve(dir)} is not a workspace folder: it contains none of ${parts.join(', ')}`,
      'To create one: gantry export',
    );
  }
  const workers: LocalWorker[] = [];
  for (const id of listFolders(dir, WORKERS)) {
    const folder = await readWorkerFolder(path.join(dir, WORKERS, id), `${WORKERS}/${id}/`);
    if (folder.manifest.id !== undefined && folder.manifest.id !== id) {
      throw new CommandError(`${folder.locate(['id'])}: the id must be the name of the folder, ${id}`, EXIT.failed);
    }
    workers.push({ id, folder });
  }
  const declaredNames = workers.flatMap(({ folder }) => readNames(folder.manifest.secrets));
  const listedNames = await readSecretNames(dir);
  return {
    workers,
    contexts: await readContexts(dir),
    alerts: await readOptional<Alert[]>(dir, ALERTS_FILE, [], (source) => readAlerts(source, process.env)),
    /** Names that the file lists and that workers declare, sorted. */
    secrets: [...new Set([...listedNames, ...declaredNames])].sort(),
  };
}

/** Hidden ones are of editors and of version control. */
function listFolders(dir: string, name: string): string[] {
  const folder = path.join(dir, name);
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith('.') ? [entry.name] : []))
    .sort();
}

async function readOptional<Value>(
  dir: string,
  name: string,
  defaultValue: Value,
  read: (source: YamlSource) => Value,
): Promise<Value> {
  const file = path.join(dir, name);
  return fs.existsSync(file) ? read(await readYaml(name, fs.readFileSync(file, 'utf8'))) : defaultValue;
}

const readNames = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

const readSecretNames = (dir: string): Promise<string[]> =>
  readOptional(dir, SECRETS_FILE, [], (source) => {
    const names = source.value ?? [];
    if (!Array.isArray(names)) throw locatedError(source, [], 'expected a list of names such as "- CRM_TOKEN"');
    for (const [index, name] of names.entries()) {
      if (typeof name !== 'string' || !/^[A-Z][A-Z0-9_]*$/.test(name)) {
        throw locatedError(source, [String(index)], 'expected the name of a secret, such as CRM_TOKEN, not a value');
      }
    }
    return names as string[];
  });

const CONTEXT_FIELDS = {
  description: (value: unknown) => typeof value === 'string' || 'expected a string',
  writeable: (value: unknown) => typeof value === 'boolean' || 'expected true or false',
  visibility: (value: unknown) => value === 'private' || value === 'workspace' || 'expected private or workspace',
} as const;

export async function readContexts(dir: string): Promise<LocalContext[]> {
  const contextFields = await readOptional<Record<string, ContextFields>>(dir, CONTEXTS_FILE, {}, readContextFields);
  const names = [...new Set([...listFolders(dir, CONTEXTS), ...Object.keys(contextFields)])].sort();
  return names.map((name) => ({
    name,
    fields: contextFields[name] ?? { description: '', writeable: false, visibility: 'workspace' },
    files: readLocalFiles(path.join(dir, CONTEXTS, name)),
  }));
}

function readContextFields(source: YamlSource): Record<string, ContextFields> {
  if (source.value === null || source.value === undefined) return {};
  const contexts = requireMap(source, 'expected names of contexts, such as "price-list: { writeable: true }"');
  return Object.fromEntries(
    Object.entries(contexts).map(([name, entry]) => {
      const fields = entry ?? {};
      if (typeof fields !== 'object' || Array.isArray(fields)) throw locatedError(source, [name], 'expected fields');
      for (const [field, value] of Object.entries(fields)) {
        if (!Object.hasOwn(CONTEXT_FIELDS, field)) {
          const known = Object.keys(CONTEXT_FIELDS).join(', ');
          throw locatedError(source, [name, field], `${field} is not a context field; fields: ${known}`);
        }
        const answer = CONTEXT_FIELDS[field as keyof typeof CONTEXT_FIELDS](value);
        if (answer !== true) throw locatedError(source, [name, field], answer as string);
      }
      return [name, { description: '', writeable: false, visibility: 'workspace', ...fields } as ContextFields];
    }),
  );
}

/** All of them: what is in a context is data, whatever it is called. Links are left out. */
export const listContextFiles = (dir: string): string[] =>
  walkFiles(dir, (name) => name !== '.git' && name !== '.DS_Store').sort();

const readLocalFiles = (dir: string): LocalFile[] =>
  listContextFiles(dir).map((name) => ({ path: name, content: fs.readFileSync(path.join(dir, name)) }));
