/** Starts all that a service needs to run code. docs/adr gives the reasons for its parts. */
import { type Bus, LEASE_MS, type Relay, type RunSource, type WorkspaceClosures } from '@gantry/events';
import { StoredJson } from '@gantry/http';
import type { ObjectStore } from '@gantry/object-store';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { handleInstallationReports, type Reannounce, startInstallationSweeper } from './dependency-installations';
import { handleLockRequests, loadLockDigests } from './dependency-locks';
import { createRunCanceller } from './ending/cancel-runs';
import { stopRunsOfClosedWorkspaces } from './ending/closed-workspaces';
import { type EndRun, endExpiredRun, endHeldRun } from './ending/end-run';
import { createRunExitHandler } from './ending/run-exit-handler';
import type { ComputeCostUsd } from './ingest/attempt-reports';
import { startIngest } from './ingest/ingest';
import type { OnRefused } from './ingest/refused-requests';
import { handleStepRecords } from './ingest/step-records';
import { buildJob, type LoadRunSecrets, type LoadTools } from './job';
import { createRunStream } from './live/live-stream';
import { createRunHubs } from './live/run-hub';
import { startDispatcher } from './queue/dispatcher';
import { startLeaseService } from './queue/leases';
import { createRunSubmitter } from './queue/submit-run';
import { startSweeper } from './queue/sweeper';
import type { Run } from './run';
import { loadContextChanges, loadLogsText } from './run-events';
import { observeQueue, recordEndedRun } from './run-metrics';
import {
  countRecentRuns,
  countRuns,
  findArtifact,
  getRun,
  listArtifacts,
  listRuns,
  loadLastRuns,
  type RunFilter,
} from './run-queries';
import type { IsCurrentSql } from './run-row';
import { createRunSignals } from './run-signals';
import { listSteps, loadRecordedSteps } from './run-steps';
import { createRunTokens, type TokenKeys } from './run-tokens';
import { createRunTransactions } from './run-transactions';
import type { PrepareTool } from './tools/prepared-tool';
import { loadReplayableResponses } from './tools/replayable-responses';
import { handleToolCalls } from './tools/tool-calls';
import { createRunWatchers } from './waiting/run-watchers';
import type { OnSuspended } from './waiting/suspend-run';
import { startWaker } from './waiting/waker';

/** An output as it is stored: JSON, or the value itself. */
export type StoredOutput = { json: Uint8Array } | { value: unknown };

export type RunEngine = Awaited<ReturnType<typeof startRunEngine>>;

export async function startRunEngine(deps: {
  source: RunSource;
  pool: Pool;
  bus: Bus;
  objects: ObjectStore;
  relay: Relay;
  closures: WorkspaceClosures;
  givenTo: LoadRunSecrets;
  /** Absent: no run may call tools. */
  tools?: { of: LoadTools; prepare: PrepareTool };
  /** For the tokens that jobs carry; the same on every replica. */
  tokenKeys: TokenKeys;
  log: Logger;
  /**
   * The time for which a silent executor keeps its runs. Executors renew every LEASE_RENEW_MS: not less than three
   * times that.
   */
  leaseMs?: number;
  /** For runs that are created only if their subject is current. */
  isCurrent?: IsCurrentSql;
  /** Absent: a run that requests an approval, or calls another, fails. */
  onSuspended?: OnSuspended;
  /** Called for requests that a rule refused. */
  onRefused?: OnRefused;
  /** Called after the commit of an ending that this replica wrote. The outbox notifies other processes. */
  onSettled?: (run: Run) => void;
  /** Price of what one attempt used, in USD; added to what its code reported. Default: nothing. */
  computeCostUsd?: ComputeCostUsd;
  /** Announces code whose installation was interrupted. */
  reannounce: Reannounce;
}) {
  const { source, pool, bus, objects, relay, log, leaseMs = LEASE_MS } = deps;
  const tokens = createRunTokens(source, deps.tokenKeys);
  const signals = createRunSignals(bus, source, tokens);
  const onQueued = () => signals.hint();
  const hubs = createRunHubs({ bus, pool, source, tokens, log });
  const waiters = createRunWatchers(bus, source, hubs.onRunChanged);
  const waker = startWaker({ pool, signals, log });
  const onSettled = (run: Run) => {
    recordEndedRun(source, run);
    deps.onSettled?.(run);
  };
  const departures = createRunExitHandler({ pool, signals, waiters, waker, relay, onSettled });
  const unobserve = observeQueue(source, pool);
  const { left: handleExit } = departures;
  /** Logs of runs that have just ended, for waiting requests; garbage-collected with the run object. */
  const cachedLogs = new WeakMap<Run, string>();

  const createEndRun =
    (endRun: typeof endExpiredRun): EndRun =>
    async (run, status, error) => {
      const ended = await endRun(pool, source, run, { status, error });
      if (ended) handleExit(ended);
    };
  const dispatcher = startDispatcher({
    bus,
    pool,
    source,
    leaseMs,
    log,
    end: createEndRun(endHeldRun),
    build: (run, executorId, insertion) =>
      buildJob(run, executorId, {
        insertion,
        source,
        tokens,
        objects,
        givenTo: deps.givenTo,
        toolsOf: deps.tools?.of,
        loadSteps: ({ id }) => loadRecordedSteps(pool, id),
        loadLocks: (run) => loadLockDigests(pool, run),
        loadResponses: (run) => loadReplayableResponses(pool, run),
      }),
  });
  const ingest = startIngest({
    bus,
    pool,
    source,
    tokens,
    log,
    onSettled: ({ run, logs }) => {
      if (logs !== undefined) cachedLogs.set(run, logs);
      handleExit(run);
    },
    onReturned: onQueued,
    onRepeated: signals.changed,
    onSuspended: deps.onSuspended,
    onRefused: deps.onRefused,
    onWaiting: (run) => {
      handleExit(run);
      if (run.suspension?.kind === 'call') signals.hint();
      if (run.wakeAt && run.wakeAt.getTime() <= Date.now()) waker.kick();
    },
    computeCostUsd: deps.computeCostUsd ?? (() => 0),
  });
  const stepRecords = handleStepRecords({ bus, pool, source, tokens, log });
  const lockRequests = handleLockRequests({ bus, pool, source, tokens, log });
  const installationReports = handleInstallationReports({ bus, pool, source, log });
  const installationSweeper = startInstallationSweeper({ pool, source, reannounce: deps.reannounce, log });
  const toolCalls =
    deps.tools && handleToolCalls({ bus, pool, source, tokens, waiters, prepare: deps.tools.prepare, log });
  const leases = startLeaseService({ bus, pool, source, tokens, objects, leaseMs, log });
  const sweeper = startSweeper({
    bus,
    pool,
    leaseMs,
    log,
    end: createEndRun(endExpiredRun),
    hasCaughtUp: ingest.caughtUp,
    onQueued,
  });
  const closedRuns = stopRunsOfClosedWorkspaces({ closures: deps.closures, pool, askToStop: signals.askToStop, log });

  const loadOutput = (key: string, { spec }: Run) => objects.getBuffer(key, spec.limits.outputBytes);

  return {
    ...createRunSubmitter({ pool, dispatcher, signals, waiters, leaseMs, isCurrent: deps.isCurrent }),
    ...createRunTransactions(source, signals, departures),
    ...createRunCanceller(pool, source, departures),

    /** @throws AppError 404 */
    get: (workspaceId: string, runId: string) => getRun(pool, workspaceId, runId),
    list: (workspaceId: string, filter: RunFilter) => listRuns(pool, workspaceId, filter),
    lastBySubject: (workspaceId: string, subjectIds: string[]) => loadLastRuns(pool, workspaceId, subjectIds),
    /** Counts active runs by status. */
    counts: (workspaceId: string) => countRuns(pool, workspaceId),
    /** Counts runs created since then by status; reads at most COUNTED_MAX + 1 runs. */
    recentCounts: (workspaceId: string, since: Date) => countRecentRuns(pool, workspaceId, since),
    /** stdout, stderr and context.log() as one text. */
    getLogsText: async (run: Run) => cachedLogs.get(run) ?? (await loadLogsText(pool, run)),
    artifacts: (run: Run) => listArtifacts(pool, run.id),
    /** Also finds an artifact that a later attempt replaced. */
    findArtifact: (run: Run, id: string) => findArtifact(pool, run.id, id),
    /** Lists recorded and pending steps in the order of the code. */
    steps: (run: Run) => listSteps(pool, run.id),
    /** Writeable contexts that a completed run has changed. */
    contextChanges: (run: Run) => loadContextChanges(pool, run),

    /**
     * Loads the output for a response or for `encodeJson`. @param name the field for a stored output that is not an
     * object
     */
    loadOutputForResponse: async (run: Run, name: string): Promise<unknown> =>
      run.outputKey ? new StoredJson(await loadOutput(run.outputKey, run)).asObject(name) : run.output,
    /** Loads the output, unparsed if it is in the object store: parsing 8 MB takes a tenth of a second. */
    loadStoredOutput: async (run: Run): Promise<StoredOutput> =>
      run.outputKey ? { json: await loadOutput(run.outputKey, run) } : { value: run.output },

    stream: createRunStream(hubs, deps.closures),
    /** Releases standing claims; requests are still answered. */
    drain: () => dispatcher.close(),

    async stop() {
      unobserve();
      await closedRuns.stop();
      await waker.stop();
      await sweeper.stop();
      leases.close();
      stepRecords.close();
      lockRequests.close();
      installationReports.unsubscribe();
      await installationSweeper.stop();
      await toolCalls?.stop();
      await ingest.stop();
      waiters.close();
      hubs.close();
    },
  };
}
