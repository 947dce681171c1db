/** Follows the installation of a version's packages until it has ended. */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Gantry, parseEventData, readEventStream, unwrap, type WorkerSchemas } from '@gantry/sdk';
import { onInterrupt } from './interrupt';
import type { Session } from './session';
import { dim, text } from './text';

export type DependencyInstallation = WorkerSchemas['DependencyInstallation'];

/** Without a hint, since those may be lost. */
const REREAD_MS = 5_000;
const READ_INTERVAL_MS = 200;
/** An executor that is free begins within a second. */
const PENDING_MS = 15_000;

const PHASES = {
  resolving: 'Resolving packages',
  downloading: 'Downloading packages',
  installing: 'Installing packages',
};

interface InstalledVersion {
  id: string;
  sha: string;
}

export interface DependencyWait {
  installation: DependencyInstallation;
  /** Ctrl-C: the installation goes on. */
  isInterrupted: boolean;
}

export async function loadDependencies(gantry: Gantry, { id, sha }: InstalledVersion): Promise<DependencyInstallation> {
  const params = { path: { worker_id: id, sha } };
  return (await unwrap(gantry.worker.GET('/api/workers/{worker_id}/versions/{sha}', { params }))).dependencies;
}

/** Returns the last state: also one that no executor has begun for a while. @throws ApiError */
export async function waitForDependencies(
  session: Session,
  gantry: Gantry,
  version: InstalledVersion,
): Promise<DependencyWait> {
  const { output } = session;
  const ended = new AbortController();
  let isInterrupted = false;
  let wake = (): void => {};
  const stop = () => {
    isInterrupted = true;
    wake();
  };
  const release = onInterrupt(stop);
  const hints = followWorkerHints(gantry, ended.signal, () => wake());
  const startedAt = Date.now();
  let shown = '';
  try {
    for (;;) {
      const hinted = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const installation = await loadDependencies(gantry, version);
      const isPending = installation.status === 'pending';
      const isOver = !isPending && installation.status !== 'installing';
      if (isOver || isInterrupted || (isPending && Date.now() - startedAt > PENDING_MS)) {
        return { installation, isInterrupted: isInterrupted && !isOver };
      }
      const step = describeProgress(installation);
      const phase = installation.progress?.phase ?? installation.status;
      if (phase !== shown) output.showStep(dim(step));
      else output.showDetail(dim(step));
      shown = phase;
      await Promise.race([hinted, delay(REREAD_MS, undefined, { signal: ended.signal }).catch(() => {})]);
      await delay(READ_INTERVAL_MS);
    }
  } finally {
    release();
    ended.abort();
    await hints;
    output.clearStep();
  }
}

function describeProgress({ status, progress }: DependencyInstallation) {
  if (!progress)
    return text`${status === 'pending' ? 'Waiting for an executor to install packages' : 'Installing packages'}`;
  const { phase, done, total } = progress;
  return total === null ? text`${PHASES[phase]}` : text`${PHASES[phase]}: ${done ?? 0} of ${total}`;
}

/** Hints only save time: without them the state is read again every few seconds. */
function followWorkerHints(gantry: Gantry, signal: AbortSignal, onHint: () => void): Promise<void> {
  return readEventStream({
    connect: (lastEventId, connection) =>
      gantry.request('worker', '/api/events', {
        headers: { Accept: 'text/event-stream', ...(lastEventId !== null && { 'Last-Event-ID': lastEventId }) },
        signal: connection,
      }),
    onEvents: (events) => {
      if (events.some((event) => event.event === 'reset' || parseEventData(event).noun === 'workers')) onHint();
    },
    onInterrupted: () => {},
    parseCommentId: (comment) => comment.trim() || null,
    signal,
  }).catch((error: unknown) => {
    if (!(error instanceof ApiError) && !signal.aborted) throw error;
  });
}
