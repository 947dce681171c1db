/** Everything that a service needs to run code. See docs/adr for why the parts are as they are. */
import { type Bus, encode, LEASE_MS, type Relay, type RunError, type RunSource, runSubjects } from '@gantry/events';
import { conflict } from '@gantry/http';
import type { ObjectStore } from '@gantry/object-store';
import type { Request, Response } from 'express';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { startDispatcher } from './dispatcher';
import { startIngest } from './ingest';
import { buildJob, type SecretsOf } from './job';
import { keepLeases } from './leases';
import { type Include, streamRun } from './live-stream';
import { type Alongside, requestCancel } from './request-cancel';
import { isTerminal, type NewRun, type Run } from './run';
import { readLogsText, serviceClosing } from './run-events';
import { getRun, lastRuns, listArtifacts, listRuns, type RunArtifact, type RunFilter } from './run-queries';
import { insertRun } from './run-row';
import { settleRuns } from './settle-runs';
import { startSweeper } from './sweeper';
import { createWaiters } from './waiters';

export interface RunEngine {
  /** Writes the run, and hands it to a waiting executor at once if there is one. Returns with status queued or running. */
  submit(run: NewRun): Promise<Run>;
  /** Like submit, and then like waitForEnd, without missing an end that comes at once. */
  submitAndWait(run: NewRun, waitMs: number): Promise<Run>;
  /** Inside the caller's transaction; call hint() after the commit. Null if there is a run for scheduledFor already. */
  submitIn(tx: PoolClient, run: NewRun): Promise<Run | null>;
  hint(): void;
  /** Resolves when the run is terminal, or with its state after `waitMs`. */
  waitForEnd(run: Run, waitMs: number): Promise<Run>;
  /** @throws AppError 404 */
  get(workspaceId: string, runId: string): Promise<Run>;
  list(workspaceId: string, filter: RunFilter): Promise<Run[]>;
  lastBySubject(workspaceId: string, subjectIds: string[]): Promise<Map<string, Run>>;
  /**
   * Ends a queued run at once; a running one is told to stop.
   * @param alongside commits with the first request; later ones leave it out
   * @throws AppError 404, 409 when it has ended
   */
  cancel(workspaceId: string, runId: string, alongside?: Alongside): Promise<Run>;
  /** stdout, stderr and context.log() as one text. */
  logsText(run: Run): Promise<string>;
  artifacts(run: Run): Promise<RunArtifact[]>;
  /** The return value, fetched where it was too large for the row. */
  output(run: Run): Promise<unknown>;
  /** Server-sent events or NDJSON, by Accept. Resumes after Last-Event-ID, ends after `done`. */
  stream(req: Request, res: Response, run: Run, include: Include): Promise<void>;
  /** Hands standing claims back; requests are still answered. */
  drain(): Promise<void>;
  stop(): Promise<void>;
}

export async function startRunEngine(deps: {
  source: RunSource;
  pool: Pool;
  bus: Bus;
  objects: ObjectStore;
  relay: Relay;
  secretsOf: SecretsOf;
  log: Logger;
  /** How long a silent executor keeps its runs. Executors renew every LEASE_RENEW_MS: not less than three times that. */
  leaseMs?: number;
}): Promise<RunEngine> {
  const { source, pool, bus, objects, relay, log, leaseMs = LEASE_MS } = deps;
  const waiters = createWaiters(bus, source);
  /** Logs of runs that have just ended, for whoever waited; gone with the run object. */
  const knownLogs = new WeakMap<Run, string>();

  function announce(run: Run): void {
    waiters.settled(run);
    bus.nc.publish(runSubjects.settled(source, run.id), encode({ runId: run.id }));
    relay.kick();
  }

  /** Ends a run without an executor. Does nothing if it has ended, or been handed out again, meanwhile. */
  async function end(
    run: Run,
    from: 'queued' | 'running',
    status: 'failed' | 'cancelled',
    error: RunError,
  ): Promise<Run | undefined> {
    const at = new Date();
    const { id: runId, attempt } = run;
    const events = serviceClosing(attempt, at, { status, error });
    const ending = { runId, attempt, from, status, error, costUsd: 0, cpuMs: null, maxRssBytes: null, at };
    const [ended] = await settleRuns(pool, source, [{ runId, attempt, events }], [ending], []);
    if (ended) announce(ended);
    return ended;
  }

  const dispatcher = startDispatcher({
    bus,
    pool,
    source,
    leaseMs,
    log,
    build: (run, publicKey) => buildJob(run, publicKey, { source, objects, secretsOf: deps.secretsOf }),
    refuse: async (run, error) => void (await end(run, 'running', 'failed', error)),
  });
  const ingest = await startIngest({
    bus,
    pool,
    source,
    log,
    onSettled: ({ run, logs }) => {
      if (logs !== undefined) knownLogs.set(run, logs);
      announce(run);
    },
    onReturned: () => dispatcher.hint(),
  });
  const leases = keepLeases({ bus, pool, source, objects, leaseMs, log });
  const sweeper = startSweeper({
    bus,
    pool,
    leaseMs,
    log,
    caughtUp: ingest.caughtUp,
    end: async (run, status, error) => void (await end(run, 'running', status, error)),
    onQueued: () => dispatcher.hint(),
  });

  const get = (workspaceId: string, runId: string) => getRun(pool, workspaceId, runId);

  return {
    submit: (run) => dispatcher.submit(run, () => {}),

    async submitAndWait(newRun, waitMs) {
      let watch: ReturnType<typeof waiters.watch> | undefined;
      try {
        const run = await dispatcher.submit(newRun, (runId) => {
          watch = waiters.watch(runId);
        });
        const ended = await watch?.ended(waitMs);
        return ended?.run ?? (await get(run.workspaceId, run.id));
      } finally {
        watch?.close();
      }
    },

    submitIn: (tx, run) => insertRun(tx, run, null),
    hint: () => dispatcher.hint(),

    async waitForEnd(run, waitMs) {
      if (isTerminal(run.status)) return run;
      const watch = waiters.watch(run.id);
      try {
        const now = await get(run.workspaceId, run.id);
        if (isTerminal(now.status)) return now;
        const ended = await watch.ended(waitMs);
        return ended?.run ?? (await get(run.workspaceId, run.id));
      } finally {
        watch.close();
      }
    },

    get,
    list: (workspaceId, filter) => listRuns(pool, workspaceId, filter),
    lastBySubject: (workspaceId, subjectIds) => lastRuns(pool, workspaceId, subjectIds),

    async cancel(workspaceId, runId, alongside) {
      const error: RunError = { code: 'cancelled', message: 'cancelled on request' };
      // A queued run may be handed out, and a running one handed back, between the look and the write.
      for (;;) {
        const run = await get(workspaceId, runId);
        if (isTerminal(run.status)) throw conflict('already_ended', `this run has already ended: ${run.status}`);
        const status = await requestCancel(pool, run.id, alongside);
        if (status === 'queued') {
          const ended = await end(run, 'queued', 'cancelled', error);
          if (ended) return ended;
        }
        if (status !== 'running') continue;
        bus.nc.publish(runSubjects.cancel(run.id));
        return get(workspaceId, runId);
      }
    },

    logsText: async (run) => knownLogs.get(run) ?? (await readLogsText(pool, run)),
    artifacts: (run) => listArtifacts(pool, run.id),

    async output(run) {
      if (!run.outputKey) return run.output;
      return JSON.parse((await objects.getBuffer(run.outputKey, run.spec.limits.outputBytes)).toString());
    },

    stream: (req, res, run, include) => streamRun({ bus, pool, source, log }, req, res, run, include),
    drain: () => dispatcher.close(),

    async stop() {
      await sweeper.stop();
      leases.close();
      await ingest.stop();
      waiters.close();
    },
  };
}
