/**
 * The runs that webhooks of a worker start, as they come. The stream of changes says only that there are new runs;
 * which ones is read from the list, so that a lost connection, a restarted server or a missed hint loses none.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type Gantry, type RunItem } from '@gantry/sdk';
import { followHints } from './workspace-hints';

/** A list is requested at most this often: other runs of the workspace are hinted too. */
const LIST_INTERVAL_MS = 1_000;
/** Runs are listed in the order of their creation, and a run can be committed later than a younger one. */
const OVERLAP_MS = 60_000;
/** Bounds the runs that came in the meantime; the oldest of more are left out. */
const RUNS_MAX = 1_000;

export interface WebhookRuns {
  /** Oldest first. */
  runs: RunItem[];
  /** The number of older ones that were left out. */
  skipped: number;
}

export interface WebhookRunOptions {
  /** Called when runs that come from now on will be found. */
  onListening: () => void;
  /** Called when the connection is lost and another one is about to be tried. */
  onInterrupted: () => void;
  signal: AbortSignal;
}

/** Ends without an error when the signal is aborted. @throws ApiError where the server refuses for good */
export async function* followWebhookRuns(
  gantry: Gantry,
  workerId: string,
  { onListening, onInterrupted, signal }: WebhookRunOptions,
): AsyncGenerator<WebhookRuns, void, undefined> {
  const listNew = await createRunLister(gantry, workerId);
  let failure: unknown;
  let isHinted = false;
  let wake = (): void => {};
  const notifyChange = (): void => {
    isHinted = true;
    wake();
  };
  signal.addEventListener('abort', notifyChange);
  const hints = { noun: 'runs' as const, onOpen: notifyChange, onHint: notifyChange, onInterrupted, signal };
  const reading = followHints(gantry, hints).catch((error: unknown) => {
    failure = error;
    notifyChange();
  });
  let isListening = false;
  while (!signal.aborted) {
    if (!isHinted) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (failure !== undefined) throw failure;
    if (signal.aborted) break;
    isHinted = false;
    const found = await listNew(signal).catch((error: unknown) => {
      if (isPermanentError(error)) throw error;
      // The server is away for a moment.
      notifyChange();
      return { runs: [], skipped: 0 };
    });
    if (!isListening) onListening();
    isListening = true;
    if (found.runs.length) yield found;
    await delay(LIST_INTERVAL_MS, undefined, { signal }).catch(() => {});
  }
  await reading;
}

const isPermanentError = (error: unknown): boolean =>
  !(error instanceof ApiError) || (error.status >= 400 && error.status < 500 && error.status !== 429);

/** @returns a function that lists the runs which it has not listed before and that are not there yet */
async function createRunLister(gantry: Gantry, workerId: string) {
  /** When each run was created, by its id. */
  const listedAt = new Map<string, number>();
  let newest = 0;

  async function listNewRuns(signal?: AbortSignal): Promise<WebhookRuns> {
    const since = newest && { since: new Date(newest - OVERLAP_MS).toISOString() };
    const filters = { worker_id: workerId, trigger: 'webhook' as const, limit: 200, ...since };
    const runs: RunItem[] = [];
    const created: [string, number][] = [];
    let skipped = 0;
    for await (const run of gantry.runs.list(filters, signal && { signal })) {
      if (listedAt.has(run.id)) continue;
      created.push([run.id, Date.parse(run.created_at)]);
      if (runs.length < RUNS_MAX) runs.unshift(run);
      else skipped++;
    }
    for (const [id, at] of created) {
      listedAt.set(id, at);
      newest = Math.max(newest, at);
    }
    for (const [id, at] of listedAt) if (at < newest - OVERLAP_MS) listedAt.delete(id);
    return { runs, skipped };
  }

  for await (const { created_at: at } of gantry.runs.list({ worker_id: workerId, trigger: 'webhook', limit: 1 })) {
    newest = Date.parse(at);
    break;
  }
  if (newest) await listNewRuns();
  return listNewRuns;
}
