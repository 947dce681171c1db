/** Follows the installation of a version's packages until it has ended. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Gantry, unwrap, type WorkerSchemas } from '@gantry/sdk';
import { CommandError } from './errors';
import { onInterrupt, onTermination } from './interrupt';
import type { Session } from './session';
import { dim, text } from './text';
import { followHints } from './workspace-hints';

export type DependencyInstallation = WorkerSchemas['DependencyInstallation'];

/** Without a hint, since those may be lost. */
const REREAD_MS = 2_000;
const READ_INTERVAL_MS = 200;
/** An executor that is free begins within a second. */
const PENDING_MS = 15_000;
/** Another executor that still installs the packages reports within this time. */
const FAILED_MS = 5_000;

const PHASES = {
  resolving: 'Resolving packages',
  downloading: 'Downloading packages',
  installing: 'Installing packages',
};

interface InstalledVersion {
  id: string;
  sha: string;
}

export async function loadDependencies(gantry: Gantry, { id, sha }: InstalledVersion): Promise<DependencyInstallation> {
  const params = { path: { worker_id: id, sha } };
  const version = await unwrap(gantry.worker.GET('/api/workers/{worker_id}/versions/{sha}', { params }));
  // Servers before this field leave it out.
  const dependencies: DependencyInstallation | undefined = version.dependencies;
  if (!dependencies) throw new CommandError('the server does not report package installations');
  return dependencies;
}

/** Returns the last state: also one that no executor has begun for a while. @throws ApiError, CommandError */
export async function waitForDependencies(session: Session, gantry: Gantry, version: InstalledVersion) {
  const { output } = session;
  const ended = new AbortController();
  let isInterrupted = false;
  let nextHint = new AbortController();
  const stop = () => {
    isInterrupted = true;
    nextHint.abort();
  };
  const releases = [onInterrupt(stop), onTermination(stop)];
  const { signal } = ended;
  const onHint = () => nextHint.abort();
  // Hints only save time: without them the state is read again every few seconds.
  const hints = followHints(gantry, { noun: 'workers', onHint, onInterrupted: () => {}, signal }).catch((error) => {
    if (!(error instanceof ApiError) && !signal.aborted) throw error;
  });
  const startedAt = Date.now();
  let failedAt: number | null = null;
  let shown = '';
  try {
    for (;;) {
      nextHint = new AbortController();
      const installation = await loadDependencies(gantry, version);
      const { status } = installation;
      failedAt = status === 'failed' ? (failedAt ?? Date.now()) : null;
      const isActive = status === 'pending' || status === 'installing';
      const isOver = failedAt === null ? !isActive : Date.now() - failedAt >= FAILED_MS;
      if (isOver || isInterrupted || (status === 'pending' && Date.now() - startedAt > PENDING_MS)) {
        // By Ctrl-C or SIGTERM: the installation goes on.
        return { installation, isInterrupted: isInterrupted && isActive };
      }
      const step = describeProgress(installation);
      const phase = installation.progress?.phase ?? status;
      if (phase !== shown) output.showStep(dim(step));
      else output.showDetail(dim(step));
      shown = phase;
      await delay(REREAD_MS, undefined, { signal: nextHint.signal }).catch(() => {});
      await delay(READ_INTERVAL_MS);
    }
  } finally {
    for (const release of releases) release();
    ended.abort();
    await hints;
    output.clearStep();
  }
}

function describeProgress({ status, progress }: DependencyInstallation) {
  if (status === 'failed') return text`Packages could not be installed; waiting for other executors`;
  if (!progress)
    return text`${status === 'pending' ? 'Waiting for an executor to install packages' : 'Installing packages'}`;
  const { phase, done, total } = progress;
  return total === null ? text`${PHASES[phase]}` : text`${PHASES[phase]}: ${done ?? 0} of ${total}`;
}
