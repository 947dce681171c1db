/** A worker as a folder: worker.yaml, its files, and which worker of which server it is. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { CommandError, EXIT, usageError } from './errors';
import { readStateFile, writeStateFile } from './state-file';
import { readYaml, requireMap } from './yaml-source';

const MANIFEST_NAMES = ['worker.yaml', 'worker.json'];
const STATE_FILE = '.gantry.json';
const MAP_EXPECTED = 'expected fields such as "name: Morning report"';
const FILES_MAX = 500;
const BYTES_MAX = 10 * 1024 * 1024;
/** Besides everything whose name begins with a dot, such as .git, .venv and .env. */
const IGNORED_NAMES = /^(\..*|__pycache__|node_modules|venv|.*\.py[ci])$/;

export interface LocalFile {
  /** Relative, with slashes. */
  path: string;
  content: Buffer;
}

export type WorkerFolder = Awaited<ReturnType<typeof readWorkerFolder>>;

/**
 * @param namePrefix what messages write before the name of the manifest.
 * @throws CommandError that names the file and what is wrong
 */
export async function readWorkerFolder(dir: string, namePrefix = '') {
  const manifestPath = MANIFEST_NAMES.find((name) => fs.existsSync(path.join(dir, name)));
  if (!manifestPath) {
    throw usageError(`no worker.yaml in ${path.resolve(dir)}`, 'To create a worker: gantry init');
  }
  const manifestText = fs.readFileSync(path.join(dir, manifestPath), 'utf8');
  const source = await readYaml(`${namePrefix}${manifestPath}`, manifestText);
  const manifest = requireMap(source, MAP_EXPECTED);
  const files = listFiles(dir)
    .filter((file) => !MANIFEST_NAMES.includes(file))
    .sort();
  if (!files.length) throw usageError(`${path.resolve(dir)} contains only ${manifestPath}`);
  if (files.length > FILES_MAX) throw usageError(`${path.resolve(dir)} contains more than ${FILES_MAX} files`);
  let bytes = 0;
  const contents = files.map((file): LocalFile => {
    const content = fs.readFileSync(path.join(dir, file));
    bytes += content.length;
    if (bytes > BYTES_MAX) throw usageError(`${path.resolve(dir)} exceeds 10 MB at ${file}`);
    return { path: file, content };
  });
  return {
    dir,
    manifestPath,
    manifestText,
    /** The content of the manifest, not validated yet. */
    manifest,
    /** @returns where in the manifest something is */
    locate: source.locate,
    /** All but the manifest, sorted by path. */
    files: contents,
  };
}

/** Files of a worker below a folder. Links are left out: what they lead to is another folder's. */
export const listFiles = (dir: string): string[] => walkFiles(dir, (name) => !IGNORED_NAMES.test(name));

/** @param file relative. @returns whether it is part of a worker */
export const isDeployed = (file: string): boolean => !file.split(/[/\\]/).some((name) => IGNORED_NAMES.test(name));

export function walkFiles(dir: string, isIncluded: (name: string) => boolean, below = ''): string[] {
  if (!fs.existsSync(dir)) return [];
  return fs.readdirSync(path.join(dir, below), { withFileTypes: true }).flatMap((entry) => {
    if (!isIncluded(entry.name)) return [];
    const name = below ? `${below}/${entry.name}` : entry.name;
    if (entry.isDirectory()) return walkFiles(dir, isIncluded, name);
    return entry.isFile() ? [name] : [];
  });
}

/** @throws CommandError with the line and the column */
export async function parseManifest(name: string, content: string): Promise<Record<string, unknown>> {
  return requireMap(await readYaml(name, content), MAP_EXPECTED);
}

/** The worker that a folder was last deployed to, or pulled from, on one server. */
export interface Deployment {
  worker_id: string;
  /** The sha of the version that the folder was pulled from. */
  sha: string;
  /** SHA-256 of the manifest that made it. */
  manifest_sha: string;
}

export const hashManifest = (content: string): string => createHash('sha256').update(content).digest('hex');

const buildDeploymentKey = (url: string, workspaceId: string | null): string => `${url} ${workspaceId ?? ''}`.trim();

export function readDeployment(dir: string, url: string, workspaceId: string | null): Deployment | undefined {
  return readDeployments(dir)[buildDeploymentKey(url, workspaceId)];
}

export function storeDeployment(dir: string, url: string, workspaceId: string | null, deployment: Deployment): void {
  const deployments = { ...readDeployments(dir), [buildDeploymentKey(url, workspaceId)]: deployment };
  writeStateFile(path.join(dir, STATE_FILE), { deployments });
}

function readDeployments(dir: string): Record<string, Deployment> {
  const file = path.join(dir, STATE_FILE);
  try {
    return (readStateFile(file)?.deployments ?? {}) as Record<string, Deployment>;
  } catch {
    throw new CommandError(`${file} is corrupted`, EXIT.failed, 'Remove it and specify the worker: --worker <id>');
  }
}
