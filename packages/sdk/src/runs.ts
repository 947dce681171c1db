import type { SurfacePaths } from '@gantry/openapi';
import type { Client } from 'openapi-fetch';
import { toApiError, toNotJsonError, unwrap } from './api-error';
import type { WorkerSchemas } from './clients';
import { parseEventData, readEventBatches } from './event-stream';
import { createIdempotencyKey } from './idempotency-key';
import { paginate } from './pagination';

export type Run = WorkerSchemas['Run'];
export type RunItem = WorkerSchemas['RunItem'];
export type RunStatus = WorkerSchemas['RunStatus'];

type RunFilters = NonNullable<SurfacePaths<'worker'>['/api/runs']['get']['parameters']['query']>;

/** An event of a run: `status`, `log`, `progress`, `step`, `approval`, `output`, `done` and others. */
export interface RunEvent {
  /** Its position: the stream resumes after it. */
  id: string;
  type: string;
  data: Record<string, unknown>;
}

export interface StartOptions {
  /** Higher goes first among the queued runs of the workspace, -100 to 100. */
  priority?: number;
  /** Repeating a start with the same key starts nothing more. Default: a random one. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

export interface FollowOptions {
  /** The last event of an earlier stream. */
  lastEventId?: string;
  /** Called when a connection is lost and another one is about to be tried. */
  onInterrupted?: () => void;
  signal?: AbortSignal;
}

export interface Runs {
  /** @returns the run as it is once it was accepted. @throws ApiError */
  start(
    workerId: string,
    inputs?: Record<string, unknown>,
    options?: StartOptions,
  ): Promise<{ run_id: string; status: RunStatus }>;
  get(runId: string, options?: { signal?: AbortSignal }): Promise<Run>;
  list(filters?: RunFilters, options?: { signal?: AbortSignal }): AsyncGenerator<RunItem, void, undefined>;
  cancel(runId: string): Promise<Run>;
  /** Starts a run with the inputs of another one. */
  replay(
    runId: string,
    options?: { version?: 'current' | 'same'; inputs?: Record<string, unknown> },
  ): Promise<{ run_id: string; status: RunStatus }>;
  /** Events from the beginning, or after `lastEventId`, to the end of the run; a lost connection is resumed. */
  events(runId: string, options?: FollowOptions): AsyncGenerator<RunEvent, void, undefined>;
  /** @returns the run once it has ended, however it did. @throws the reason of the signal where it is aborted */
  wait(runId: string, options?: { signal?: AbortSignal }): Promise<Run>;
}

/** Connections in a row that fail before a stream is given up: about two minutes. */
const STREAM_RETRIES_MAX = 15;

export function createRuns(worker: Client<SurfacePaths<'worker'>>): Runs {
  const buildRunPath = (runId: string) => ({ path: { run_id: runId } });

  async function* followRun(runId: string, logs: boolean, options: FollowOptions) {
    const signal = options.signal ?? new AbortController().signal;
    const batches = readEventBatches({
      async connect(lastEventId, connection) {
        const headers = { Accept: 'text/event-stream', ...(lastEventId && { 'Last-Event-ID': lastEventId }) };
        const { response, error } = await worker.GET('/api/runs/{run_id}/events', {
          params: { ...buildRunPath(runId), query: { logs } },
          parseAs: 'stream',
          headers,
          signal: connection,
        });
        if (!response.ok) throw toApiError(response, error);
        if (response.status === 200 && !response.headers.get('Content-Type')?.includes('text/event-stream')) {
          throw toNotJsonError(response, 'the server responded with something other than run events');
        }
        return response;
      },
      isLast: ({ event }) => event === 'done',
      onInterrupted: options.onInterrupted ?? (() => {}),
      lastEventId: options.lastEventId ?? null,
      retriesMax: STREAM_RETRIES_MAX,
      signal,
    });
    for await (const events of batches) {
      for (const event of events) yield { id: event.id, type: event.event, data: parseEventData(event) };
    }
    signal.throwIfAborted();
  }

  const runs: Runs = {
    start: (workerId, inputs = {}, { priority, idempotencyKey = createIdempotencyKey(), signal } = {}) =>
      unwrap(
        worker.POST('/api/workers/{worker_id}/runs', {
          params: { path: { worker_id: workerId }, header: { 'Idempotency-Key': idempotencyKey } },
          body: { inputs, ...(priority !== undefined && { priority }) },
          ...(signal && { signal }),
        }),
      ),
    get: (runId, { signal } = {}) =>
      unwrap(worker.GET('/api/runs/{run_id}', { params: buildRunPath(runId), ...(signal && { signal }) })),
    list: (filters = {}, options = {}) => paginate(worker, '/api/runs', { params: { query: filters }, ...options }),
    cancel: (runId) => unwrap(worker.POST('/api/runs/{run_id}/cancel', { params: buildRunPath(runId) })),
    replay: (runId, options = {}) =>
      unwrap(
        worker.POST('/api/runs/{run_id}/replay', {
          params: { ...buildRunPath(runId), header: { 'Idempotency-Key': createIdempotencyKey() } },
          body: { version: 'current', ...options },
        }),
      ),
    events: (runId, options = {}) => followRun(runId, true, options),
    async wait(runId, options = {}) {
      for await (const _ of followRun(runId, false, options)) {
        // The last event is the end of the run.
      }
      return runs.get(runId, options);
    },
  };
  return runs;
}
