import type { Gantry } from '@gantry/sdk';
import { type GantryCommand, withSession } from '../command';
import { type DependencyInstallation, loadDependencies, waitForDependencies } from '../dependency-wait';
import { CommandError, describeFailure, EXIT } from '../errors';
import { formatBytes } from '../output';
import {
  type ChangedWorker,
  compareWithServer,
  findWorker,
  loadRemoteFolder,
  uploadFolder,
  type Worker,
} from '../remote-worker';
import type { GlobalOptions, Session } from '../session';
import { bold, dim, green, joinLines, text, yellow } from '../text';
import { formatTime } from '../time';
import { diffToJson, formatDiff, formatSummary, isEmpty } from '../worker-diff';
import { hashManifest, readWorkerFolder, storeDeployment } from '../worker-folder';

interface DiffOptions extends GlobalOptions {
  worker?: string;
}

interface DeployOptions extends DiffOptions {
  message?: string;
  dryRun?: boolean;
  force?: boolean;
  wait: boolean;
}

export function registerDeploy(program: GantryCommand): void {
  program
    .command('deploy')
    .description('Deploy a worker from a folder')
    .argument('[folder]', 'Folder with a worker.yaml', '.')
    .option('-m, --message <text>', 'Message for the version history')
    .option('--worker <id>', 'Deploy to this worker')
    .option('--dry-run', 'Show what would change without changing it')
    .option('--force', 'Overwrite a worker that was changed elsewhere')
    .option('--no-wait', 'Do not wait for packages to be installed')
    .addHelpText('after', '\nHidden files, caches and *.pyi files are not deployed.')
    .action(withSession<[string], DeployOptions>(deployFolder));
  program
    .command('diff')
    .description('Show what a deployment would change')
    .argument('[folder]', 'Folder with a worker.yaml', '.')
    .option('--worker <id>', 'Compare with this worker')
    .action(withSession<[string], DiffOptions>(showDiff));
}

async function loadComparison(session: Session, dir: string, options: DiffOptions) {
  const folder = await readWorkerFolder(dir);
  const gantry = session.gantry();
  const { url, workspaceId, deployment } = await loadRemoteFolder(session, gantry, dir);
  const manifestId = typeof folder.manifest.id === 'string' ? folder.manifest.id : undefined;
  const workerId = options.worker ?? deployment?.worker_id ?? manifestId;
  const worker = workerId === undefined ? null : await findWorker(gantry, workerId);
  if (!worker && options.worker) {
    throw new CommandError(`worker ${options.worker} not found`, EXIT.failed, 'See: gantry workers list');
  }
  const diff = await compareWithServer(gantry, worker, folder, deployment);
  return { folder, gantry, url, workspaceId, deployment, worker, diff };
}

async function showDiff(session: Session, dir: string, options: DiffOptions): Promise<void> {
  const { diff, worker } = await loadComparison(session, dir, options);
  session.output.print({ worker_id: worker?.id ?? null, ...diffToJson(diff) }, () =>
    isEmpty(diff) ? dim('No differences') : formatDiff(diff),
  );
}

async function deployFolder(session: Session, dir: string, options: DeployOptions): Promise<void> {
  const { folder, gantry, url, workspaceId, deployment, worker, diff } = await loadComparison(session, dir, options);
  const { output } = session;
  const hasRemoteChanges = worker !== null && deployment?.worker_id === worker.id && deployment.sha !== worker.sha;
  if (!isEmpty(diff) && !output.isJson) output.note(formatSummary(diff));
  if (options.dryRun) {
    output.print({ worker_id: worker?.id ?? null, ...diffToJson(diff) }, () => dim('Nothing was changed'));
    return;
  }
  if (hasRemoteChanges && !options.force && !isEmpty(diff)) {
    throw new CommandError(
      `${worker.id} has been changed elsewhere since this folder was deployed or pulled`,
      EXIT.failed,
      'Compare: gantry diff. Download: gantry pull. Overwrite: gantry deploy --force',
    );
  }
  const changed =
    worker && isEmpty(diff)
      ? null
      : await uploadWithProgress(session, (onProgress) =>
          uploadFolder(gantry, folder, { workerId: worker?.id ?? null, message: options.message, onProgress }),
        );
  const current = changed ?? worker;
  if (!current) throw new CommandError('the server returned no worker');
  const manifestSha = hashManifest(folder.manifestText);
  storeDeployment(dir, url, workspaceId, { worker_id: current.id, sha: current.sha, manifest_sha: manifestSha });
  const { dashboardUrl } = await session.connectAll();
  const page = `${dashboardUrl}/workers/${encodeURIComponent(current.id)}`;
  const isNewVersion = current.sha !== worker?.sha;
  const shouldWait = options.wait && isNewVersion;
  // The server returns the secrets of a webhook only once, and the wait may be killed.
  if (!output.isJson) output.print(null, () => formatDeployment(current, { page, isNew: !worker, isNewVersion }));
  const { installation: dependencies, isInterrupted } = await loadPackageState(session, gantry, current, shouldWait);
  const packages = isNewVersion || dependencies?.status === 'failed' ? describePackages(current, dependencies) : null;
  output.print(
    {
      warnings: [],
      ...current,
      url: page,
      created: !worker,
      changed: isNewVersion,
      changes: diffToJson(diff),
      dependencies,
    },
    () => joinLines(packages ? [text`Packages  ${packages}`] : []),
  );
  if (isInterrupted) {
    const hint = `Check the status: gantry open ${current.id}`;
    throw new CommandError('stopped waiting; the packages are still being installed', EXIT.usage, hint);
  }
  if (shouldWait && dependencies?.status === 'failed') {
    throw new CommandError(
      `version ${current.version} is deployed, but its packages could not be installed: ${dependencies.error}`,
      EXIT.failed,
      current.version > 1
        ? `The next run retries. If the packages are wrong, fix them and deploy again, or roll back: gantry rollback ${current.id}`
        : `The next run retries. If the packages are wrong, fix them and deploy again: gantry deploy ${dir}`,
    );
  }
}

/** Loads the state of the packages, null if it cannot be read: the version is deployed nevertheless. */
async function loadPackageState(
  session: Session,
  gantry: Gantry,
  current: Worker | ChangedWorker,
  shouldWait: boolean,
) {
  try {
    if (shouldWait) return await waitForDependencies(session, gantry, current);
    return { installation: await loadDependencies(gantry, current), isInterrupted: false };
  } catch (error) {
    session.output.note(text`The status of the packages could not be read: ${describeFailure(error).message}`);
    return { installation: null, isInterrupted: false };
  }
}

type OnProgress = (sentBytes: number, totalBytes: number) => void;

async function uploadWithProgress<Result>(
  { output }: Session,
  upload: (onProgress: OnProgress) => Promise<Result>,
): Promise<Result> {
  try {
    return await upload((sentBytes, totalBytes) => {
      const sending = `Uploading ${formatBytes(totalBytes)}`;
      if (sentBytes === 0) output.showStep(dim(sending));
      else if (sentBytes < totalBytes)
        output.showDetail(dim(`${sending}: ${Math.floor((100 * sentBytes) / totalBytes)} %`));
      else output.showStep(dim('Uploaded; waiting for the server to validate it'));
    });
  } finally {
    output.clearStep();
  }
}

interface DeploySummary {
  page: string;
  isNew: boolean;
  isNewVersion: boolean;
}

function formatDeployment(worker: Worker | ChangedWorker, { page, isNew, isNewVersion }: DeploySummary) {
  const what = isNew ? 'Created' : isNewVersion ? 'Deployed' : 'Unchanged:';
  const secrets = 'webhook_url' in worker ? worker : null;
  return joinLines([
    text`${green(what)} ${bold(worker.id)}, version ${worker.version} (${worker.sha.slice(0, 8)})`,
    text`Page      ${page}`,
    ...(worker.next_run_at ? [text`Next run  ${formatTime(worker.next_run_at)}`] : []),
    // Shown this once.
    ...(secrets?.webhook_url ? [text`Webhook   ${secrets.webhook_url}`] : []),
    ...(secrets?.webhook_signing_key ? [text`Signing   ${secrets.webhook_signing_key}`] : []),
    ...('warnings' in worker ? worker.warnings.map((warning) => yellow(warning)) : []),
    text`Run it:   gantry run ${worker.id}${formatRequiredInputs(worker)} --wait`,
  ]);
}

/** @returns null where the version needs none, or their state is not known */
function describePackages(
  { python_dependencies: declared }: Worker | ChangedWorker,
  installation: DependencyInstallation | null,
): string | null {
  if (!installation || installation.status === 'none') return null;
  const { status, packages, error } = installation;
  if (status === 'failed') return `${declared.join(', ')}: not installed; the next run retries: ${error}`;
  if (status === 'pending') return `${declared.join(', ')}: not installed yet; the first run installs them`;
  if (status === 'installing') return `${declared.join(', ')}: being installed; runs that need them wait`;
  return packages.map(({ name, version }) => `${name} ${version}`).join(', ') || `${declared.join(', ')}: installed`;
}

const formatRequiredInputs = ({ inputs }: Worker | ChangedWorker): string =>
  inputs.map(({ name, required }) => (required ? ` -i ${name}=...` : '')).join('');
