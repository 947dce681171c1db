import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Gantry, paginate, unwrap, type WorkerSchemas } from '@gantry/sdk';
import { collectItems } from '../collect-items';
import { type GantryCommand, withSession } from '../command';
import { usageError } from '../errors';
import { loadContextFiles } from '../remote-context';
import { loadBundle } from '../remote-worker';
import { mergeLocalManifest, replaceFiles } from '../replace-files';
import type { GlobalOptions, Session } from '../session';
import { STANDARD_STREAM, writeTar } from '../tar';
import { bold, formatCount, joinLines, text, yellow } from '../text';
import { type LocalFile, listFiles } from '../worker-folder';
import { toAlertFile } from '../workspace-alerts';
import { ALERTS_FILE, CONTEXTS, CONTEXTS_FILE, listContextFiles, SECRETS_FILE, WORKERS } from '../workspace-folder';
import { readYaml } from '../yaml-source';

interface ExportOptions extends GlobalOptions {
  output?: string;
}

export function registerExport(program: GantryCommand): void {
  program
    .command('export')
    .description('Export workers, contexts and alerts to files')
    .option('-o, --output <path>', 'Folder, .tar file, or - for stdout')
    .addHelpText(
      'after',
      `
Without -o, it writes to workspace/, or a tar archive if stdout is redirected to
a file, as in "> workspace.tar". Secret values and webhook URLs are not
exported. Next: gantry apply`,
    )
    .action(withSession<[], ExportOptions>(exportWorkspace));
}

async function exportWorkspace(session: Session, { output }: ExportOptions): Promise<void> {
  const target = output ?? (isFile(process.stdout) && !session.output.isJson ? STANDARD_STREAM : 'workspace');
  if (target === STANDARD_STREAM && session.output.isJson)
    throw usageError('--json and the tar archive cannot share stdout');
  const gantry = session.gantry();
  const isTar = target === STANDARD_STREAM || target.endsWith('.tar');
  const { files, counts, notes } = await loadWorkspace(gantry, isTar ? null : target);
  if (isTar) await replaceTar(session, target, files);
  else await replaceFiles(session, target, files, listExportedFiles(target));
  for (const note of notes) session.output.note(yellow(note));
  const place = target === STANDARD_STREAM ? 'stdout' : path.resolve(target);
  const summary = joinLines([
    text`Wrote ${formatCount(counts.workers, 'worker')}, ${formatCount(counts.contexts, 'context')}, ${formatCount(counts.alerts, 'alert')} and ${formatCount(counts.secrets, 'secret name')}`,
    text`to ${bold(place)}`,
  ]);
  if (target === STANDARD_STREAM) return session.output.note(summary);
  session.output.print({ output: place, ...counts, files: files.map((file) => file.path) }, () => summary);
}

/** Whether a shell redirects a stream to a file, as `> workspace.tar` does. */
const isFile = ({ fd }: { fd: number }): boolean => fs.fstatSync(fd).isFile();

/** @param dir where files that say the same stay as they are written */
async function loadWorkspace(gantry: Gantry, dir: string | null) {
  const query = { limit: 200 };
  const workers = await collectItems(paginate(gantry.worker, '/api/workers', { params: { query } }));
  const contexts = await collectItems(paginate(gantry.worker, '/api/contexts'));
  const alerts = await collectItems(paginate(gantry.worker, '/api/alerts'));
  const secrets = await collectItems(paginate(gantry.worker, '/api/secrets'));
  const files: LocalFile[] = [];
  const names = new Set(secrets.map(({ name }) => name));
  for (const { id } of sortBy(workers, 'id')) {
    const worker = await unwrap(gantry.worker.GET('/api/workers/{worker_id}', { params: { path: { worker_id: id } } }));
    for (const name of worker.secrets) names.add(name);
    files.push(...(await loadWorkerFiles(gantry, worker, dir)));
  }
  for (const { name } of sortBy(contexts, 'name')) files.push(...(await loadContextFiles(gantry, name)));
  const workerAlerts = alerts.filter(({ automation_id: automation }) => automation === null);
  const written: [string, unknown][] = [
    [CONTEXTS_FILE, Object.fromEntries(sortBy(contexts, 'name').map(toContextEntry))],
    [ALERTS_FILE, toAlertFile(sortBy(workerAlerts, 'created_at'))],
    [SECRETS_FILE, [...names].sort()],
  ];
  for (const [name, value] of written) files.push(await formatYaml(name, value, dir));
  const paused = workers.filter(({ status }) => status === 'paused').map(({ id }) => id);
  const omittedCount = alerts.length - workerAlerts.length;
  return {
    files,
    counts: {
      workers: workers.length,
      contexts: contexts.length,
      alerts: workerAlerts.length,
      secrets: names.size,
    },
    notes: [
      ...(paused.length ? [`${paused.join(', ')}: paused here, but active when gantry apply creates them`] : []),
      ...(omittedCount ? [`skipped ${formatCount(omittedCount, 'alert')} of automations, which are not exported`] : []),
    ],
  };
}

const sortBy = <Item>(items: Item[], field: keyof Item): Item[] =>
  [...items].sort((one, other) => (one[field] < other[field] ? -1 : one[field] > other[field] ? 1 : 0));

async function loadWorkerFiles(
  gantry: Gantry,
  worker: WorkerSchemas['Worker'],
  dir: string | null,
): Promise<LocalFile[]> {
  // A bundle has neither. With the id, gantry deploy of this folder finds its worker.
  const manifestHeader = `id: ${worker.id}\n${worker.visibility === 'private' ? 'visibility: private\n' : ''}`;
  const bundle = (await loadBundle(gantry, worker.id, worker.sha)).map((file) =>
    file.path === 'worker.yaml'
      ? { ...file, content: Buffer.concat([Buffer.from(manifestHeader), file.content]) }
      : file,
  );
  const folder = `${WORKERS}/${worker.id}`;
  const files = dir === null ? bundle : await mergeLocalManifest(path.join(dir, folder), worker, bundle);
  return files.map((file) => ({ ...file, path: `${folder}/${file.path}` }));
}

function toContextEntry({ name, description, writeable, visibility }: WorkerSchemas['Context']): [string, object] {
  const fields = {
    ...(description && { description }),
    ...(writeable && { writeable }),
    ...(visibility === 'private' && { visibility }),
  };
  return [name, fields];
}

/** A file that says the same stays as it is written, with its comments. */
async function formatYaml(name: string, value: unknown, dir: string | null): Promise<LocalFile> {
  const file = dir === null ? null : path.join(dir, name);
  if (file !== null && fs.existsSync(file)) {
    const content = fs.readFileSync(file);
    const written = await readYaml(name, content.toString()).catch(() => null);
    if (written && isDeepStrictEqual(written.value, value)) return { path: name, content };
  }
  const { stringify } = await import('yaml');
  return { path: name, content: Buffer.from(stringify(value)) };
}

/** The files that an export owns: those that the workspace no longer has are deleted. */
function listExportedFiles(dir: string): string[] {
  const inWorkers = listFiles(path.join(dir, WORKERS)).map((file) => `${WORKERS}/${file}`);
  const inContexts = listContextFiles(path.join(dir, CONTEXTS));
  return [...inWorkers, ...inContexts.map((file) => `${CONTEXTS}/${file}`)];
}

async function replaceTar({ prompts }: Session, target: string, files: LocalFile[]): Promise<void> {
  if (fs.existsSync(target)) await prompts.confirm(`Replace ${path.resolve(target)}?`);
  await writeTar(target, files);
}
