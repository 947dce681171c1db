/** Everything that a service needs to run code. See docs/adr for why the parts are as they are. */
import {
  type Bus,
  encode,
  LEASE_MS,
  type Relay,
  type RunCancel,
  type RunError,
  type RunSource,
  runSubjects,
  type WorkspaceClosures,
} from '@gantry/events';
import { conflict } from '@gantry/http';
import type { ObjectStore } from '@gantry/object-store';
import { afterCommit } from '@gantry/postgres';
import type { Request, Response } from 'express';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { endInClosedWorkspaces } from './closed-workspaces';
import { startDispatcher } from './dispatcher';
import { type Alongside, CANCELLED, cancelRun, type EndedTree, endRunIn, type IdleEnding } from './end-run';
import { startIngest, type Usage } from './ingest';
import { buildJob, type SecretsOf } from './job';
import { keepLeases } from './leases';
import { type Include, type ShowEvent, streamRun } from './live-stream';
import { type ResumeOptions, resumeRunIn } from './resume-runs';
import { isIdle, isTerminal, type NewRun, type Run, type RunStatus } from './run';
import {
  appendServiceEvents,
  type ContextChange,
  readContextChanges,
  readLogsText,
  type ServiceEvent,
  serviceClosing,
  serviceFloor,
} from './run-events';
import { createRunHubs } from './run-hub';
import {
  countRecentRuns,
  countRuns,
  getRun,
  lastRuns,
  listArtifacts,
  listCancellable,
  listRuns,
  type RunArtifact,
  type RunCounts,
  type RunFilter,
} from './run-queries';
import { type IsCurrent, insertRun } from './run-row';
import { listSteps, recordedSteps, type StepRow } from './run-steps';
import { createRunTokens, type TokenKeys } from './run-tokens';
import { settleRuns } from './settle-runs';
import { answerStepRecords } from './step-records';
import type { OnSuspended } from './suspend-run';
import { startSweeper } from './sweeper';
import { createWaiters } from './waiters';
import { startWaker } from './waker';

export interface RunEngine {
  /**
   * Writes the run, and hands it to a waiting executor at once if there is one. Returns with status queued or running.
   * @throws SubjectChanged; AppError 409 in a closed workspace, and where another request has the run's Idempotency-Key by now
   */
  submit(run: NewRun): Promise<Run>;
  /** Like submit, and then like waitForEnd, without missing an end that comes at once. */
  submitAndWait(run: NewRun, waitMs: number): Promise<Run>;
  /**
   * Inside the caller's transaction, after whose commit executors hear of it. Null if there is a run for scheduledFor already,
   * or that time came in a closed workspace. @throws as submit
   */
  submitIn(tx: PoolClient, run: NewRun): Promise<Run | null>;
  /**
   * Inside the caller's transaction. A run that waits for a decision goes on, and the step that it waits for gets its result.
   * A run that is held before its first start has no step.
   * @returns null, and nothing is changed, when it is elsewhere meanwhile or waits for another step
   */
  resumeIn(tx: PoolClient, runId: string, options: ResumeOptions): Promise<Run | null>;
  /**
   * Inside the caller's transaction. Ends a run that no executor holds, as the caller has read it; a run that it has called is
   * cancelled with it.
   * @returns null when it is elsewhere meanwhile
   */
  endIn(tx: PoolClient, run: Run, ending: IdleEnding): Promise<Run | null>;
  /**
   * Inside the caller's transaction: adds to what those who watch a run see.
   * @returns false, and nothing is added, when an executor holds the run or it has ended
   */
  appendEventIn(tx: PoolClient, runId: string, event: Pick<ServiceEvent, 'type' | 'data'>): Promise<boolean>;
  /** Resolves when the run is terminal, or with its state after `waitMs`. */
  waitForEnd(run: Run, waitMs: number): Promise<Run>;
  /** @throws AppError 404 */
  get(workspaceId: string, runId: string): Promise<Run>;
  list(workspaceId: string, filter: RunFilter): Promise<Run[]>;
  /** What has not ended, by status. */
  counts(workspaceId: string): Promise<RunCounts>;
  /** What was made since, by status; at most COUNTED_MAX + 1 runs are looked at. */
  recentCounts(workspaceId: string, since: Date): Promise<Map<RunStatus, number>>;
  lastBySubject(workspaceId: string, subjectIds: string[]): Promise<Map<string, Run>>;
  /**
   * Ends a queued, suspended or pending_approval run at once, and what it has called with it; a running one is told to stop.
   * @param alongside commits with the first request; later ones leave it out
   * @throws AppError 404, 409 when it has ended
   */
  cancel(workspaceId: string, runId: string, alongside?: Alongside): Promise<Run>;
  /** Cancels all runs of a subject that have not ended. */
  cancelAllOf(workspaceId: string, subjectId: string): Promise<void>;
  /** stdout, stderr and context.log() as one text. */
  logsText(run: Run): Promise<string>;
  artifacts(run: Run): Promise<RunArtifact[]>;
  /** What it has recorded, and what it waits for; in the order of the code. */
  steps(run: Run): Promise<StepRow[]>;
  /** Writeable contexts that a completed run has changed. */
  contextChanges(run: Run): Promise<ContextChange[]>;
  /** The return value, fetched where it was too large for the row. */
  output(run: Run): Promise<unknown>;
  /**
   * Server-sent events or NDJSON, by Accept. Resumes after Last-Event-ID, ends after `done`, or when the workspace is closed.
   * @param show what a reader who is not to see everything is told of an event
   */
  stream(req: Request, res: Response, run: Run, include: Include, show?: ShowEvent): Promise<void>;
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
  closures: WorkspaceClosures;
  secretsOf: SecretsOf;
  /** For the tokens that jobs carry; the same on every replica. */
  tokenKeys: TokenKeys;
  log: Logger;
  /** How long a silent executor keeps its runs. Executors renew every LEASE_RENEW_MS: not less than three times that. */
  leaseMs?: number;
  /** For runs that are to be made only if their subject is current. */
  isCurrent?: IsCurrent;
  /** Absent: a run that asks for approval, or calls another, fails. */
  onSuspended?: OnSuspended;
  /** After the commit of an ending that this replica wrote. The outbox tells everybody else. */
  onSettled?: (run: Run) => void;
  /** Price of what one attempt used, in USD; added to what its code reported. Default: nothing. */
  computeCostUsd?: (usage: Usage) => number;
}): Promise<RunEngine> {
  const { source, pool, bus, objects, relay, log, leaseMs = LEASE_MS } = deps;
  const tokens = createRunTokens(source, deps.tokenKeys);
  const hubs = createRunHubs({ bus, pool, source, tokens, log });
  const waiters = createWaiters(bus, source, (runId) => hubs.changed(runId));
  /** Logs of runs that have just ended, for whoever waited; gone with the run object. */
  const knownLogs = new WeakMap<Run, string>();

  /** Those who watch a run look at it again. */
  function changed(runId: string): void {
    if (!bus.nc.isClosed()) bus.nc.publish(runSubjects.settled(source, runId), encode({ runId }));
  }

  /** It has ended, or is suspended: its place is free. */
  function left(run: Run): void {
    if (isTerminal(run.status)) {
      waiters.settled(run);
      relay.kick();
      deps.onSettled?.(run);
      if (run.parentRunId) waker.kick();
    }
    // Whoever waits here is answered first: each message costs this process, and wakes another one.
    setImmediate(() => changed(run.id));
    if (run.slotKey) dispatcher.hint();
  }

  function announce({ run, ended, running }: EndedTree): void {
    left(run);
    ended.forEach(left);
    running.forEach(askToStop);
  }

  /** The executor that holds it; a run that nobody holds meanwhile is not told. */
  function askToStop({ id: runId, attempt, executorId }: Pick<Run, 'id' | 'attempt' | 'executorId'>): void {
    if (!executorId || bus.nc.isClosed()) return;
    const cancel: RunCancel = { token: tokens.give({ runId, attempt, executorId }) };
    bus.nc.publish(runSubjects.cancel(executorId, runId), encode(cancel));
  }

  /** Ends a run whose executor is gone, or never got it. Does nothing if it has ended, or been handed out again, meanwhile. */
  async function endRunning(run: Run, status: 'failed' | 'cancelled', error: RunError): Promise<void> {
    const at = new Date();
    const { id: runId, attempt } = run;
    const after = serviceFloor(attempt);
    const events = serviceClosing(after, at, { status, error });
    const none = { costUsd: 0, cpuMs: null, maxRssBytes: null };
    const ending = {
      runId,
      attempt,
      executorId: null,
      from: 'running' as const,
      status,
      error,
      ...none,
      at,
      seq: after + 1,
    };
    const [ended] = await settleRuns(pool, source, [{ runId, attempt, events }], [ending], []);
    if (ended) left(ended);
  }

  const dispatcher = startDispatcher({
    bus,
    pool,
    source,
    leaseMs,
    ...(deps.isCurrent && { isCurrent: deps.isCurrent }),
    log,
    build: (run, executorId, written) =>
      buildJob(run, executorId, {
        written,
        source,
        tokens,
        objects,
        secretsOf: deps.secretsOf,
        stepsOf: ({ id }) => recordedSteps(pool, id),
      }),
    refuse: (run, error) => endRunning(run, 'failed', error),
    cancel: (run) => endRunning(run, 'cancelled', CANCELLED),
  });
  const ingest = startIngest({
    bus,
    pool,
    source,
    tokens,
    log,
    onSettled: ({ run, logs }) => {
      if (logs !== undefined) knownLogs.set(run, logs);
      left(run);
    },
    onReturned: () => dispatcher.hint(),
    onRepeated: changed,
    onSuspended: deps.onSuspended,
    onWaiting: (run) => {
      left(run);
      if (run.suspension?.kind === 'call') dispatcher.hint();
      if (run.wakeAt && run.wakeAt.getTime() <= Date.now()) waker.kick();
    },
    computeCostUsd: deps.computeCostUsd ?? (() => 0),
  });
  const waker = startWaker({
    pool,
    log,
    onQueued: (runs) => {
      for (const { id } of runs) changed(id);
      dispatcher.hint();
    },
  });
  const stepRecords = answerStepRecords({ bus, pool, source, tokens, log });
  const leases = keepLeases({ bus, pool, source, tokens, objects, leaseMs, log });
  const sweeper = startSweeper({
    bus,
    pool,
    leaseMs,
    log,
    caughtUp: ingest.caughtUp,
    end: endRunning,
    onQueued: () => dispatcher.hint(),
  });

  const closed = endInClosedWorkspaces({ closures: deps.closures, pool, askToStop, log });

  const get = (workspaceId: string, runId: string) => getRun(pool, workspaceId, runId);

  /** Null for one that has ended. */
  async function cancelOne(run: Run, alongside?: Alongside): Promise<Run | null> {
    const tree = isTerminal(run.status) ? null : await cancelRun(pool, source, run.id, alongside);
    if (tree) announce(tree);
    return tree?.run ?? null;
  }

  /** A run that is suspended wakes its watchers without having ended. */
  async function endOf(run: Run, watch: ReturnType<typeof waiters.watch> | undefined, waitMs: number): Promise<Run> {
    const deadline = Date.now() + waitMs;
    for (;;) {
      const news = await watch?.next(deadline - Date.now());
      const now = news?.run ?? (await get(run.workspaceId, run.id));
      if (!news || isTerminal(now.status)) return now;
    }
  }

  return {
    submit: (run) => dispatcher.submit(run, () => {}),

    async submitAndWait(newRun, waitMs) {
      let watch: ReturnType<typeof waiters.watch> | undefined;
      try {
        const run = await dispatcher.submit(newRun, (runId) => {
          watch = waiters.watch(runId);
        });
        return await endOf(run, watch, waitMs);
      } finally {
        watch?.close();
      }
    },

    submitIn: (tx, run) => {
      afterCommit(tx, dispatcher.hint);
      return insertRun(tx, run, null);
    },

    async resumeIn(tx, runId, options) {
      const resumed = await resumeRunIn(tx, runId, options);
      if (resumed) {
        afterCommit(tx, () => changed(runId));
        afterCommit(tx, dispatcher.hint);
      }
      return resumed;
    },

    async endIn(tx, run, ending) {
      const tree = await endRunIn(tx, source, run, ending);
      if (tree) afterCommit(tx, () => announce(tree));
      return tree?.run ?? null;
    },

    async appendEventIn(tx, runId, event) {
      const { rows } = await tx.query('SELECT status, attempt FROM runs WHERE id = $1 FOR UPDATE', [runId]);
      if (!rows[0] || !isIdle(rows[0].status)) return false;
      await appendServiceEvents(tx, [{ ...event, runId, attempt: rows[0].attempt }]);
      afterCommit(tx, () => changed(runId));
      return true;
    },

    async waitForEnd(run, waitMs) {
      if (isTerminal(run.status)) return run;
      const watch = waiters.watch(run.id);
      try {
        const now = await get(run.workspaceId, run.id);
        return isTerminal(now.status) ? now : await endOf(now, watch, waitMs);
      } finally {
        watch.close();
      }
    },

    get,
    list: (workspaceId, filter) => listRuns(pool, workspaceId, filter),
    lastBySubject: (workspaceId, subjectIds) => lastRuns(pool, workspaceId, subjectIds),

    counts: (workspaceId) => countRuns(pool, workspaceId),
    recentCounts: (workspaceId, since) => countRecentRuns(pool, workspaceId, since),

    async cancel(workspaceId, runId, alongside) {
      const run = await cancelOne(await get(workspaceId, runId), alongside);
      if (run) return isTerminal(run.status) ? run : get(workspaceId, runId);
      const { status } = await get(workspaceId, runId);
      throw conflict('already_ended', `this run has already ended: ${status}`);
    },

    async cancelAllOf(workspaceId, subjectId) {
      for (;;) {
        const runs = await listCancellable(pool, workspaceId, subjectId);
        if (!runs.length) return;
        for (const run of runs) await cancelOne(run);
      }
    },

    logsText: async (run) => knownLogs.get(run) ?? (await readLogsText(pool, run)),
    artifacts: (run) => listArtifacts(pool, run.id),
    steps: (run) => listSteps(pool, run.id),
    contextChanges: (run) => readContextChanges(pool, run),

    async output(run) {
      if (!run.outputKey) return run.output;
      return JSON.parse((await objects.getBuffer(run.outputKey, run.spec.limits.outputBytes)).toString());
    },

    stream: (req, res, run, include, show) => {
      closed.watch(run.workspaceId, res);
      return streamRun(hubs, req, res, run, include, show);
    },
    drain: () => dispatcher.close(),

    async stop() {
      await closed.stop();
      await waker.stop();
      await sweeper.stop();
      leases.close();
      stepRecords.close();
      await ingest.stop();
      waiters.close();
      hubs.close();
    },
  };
}
