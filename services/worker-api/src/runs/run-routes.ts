import {
  buildNextHeaders,
  type Call,
  created,
  type HandlerResponse,
  type OperationCall,
  type Operations,
  ok,
  parsePageCursor,
} from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { countRunPage, type ListedRun, listRunPage, type PagedRunFilter, type Run } from '@gantry/run-engine';
import type { Request } from 'express';
import { recordChange } from '../audit/audit-entry';
import { toApiStatus } from '../workers/run-status';
import { createStartableWorkers } from '../workers/startable-worker';
import { getVisibleRun, requireToolsetAccess } from '../workers/visible-worker';
import { getVisibleWorker } from '../workers/worker-repository';
import { toRunOutput } from './output-object';
import { replayRun } from './replay-run';
import { getRequestedRun, getRunAndWorker, toOrigin } from './requested-run';
import { runSummaryToApi } from './run';
import type { RunDeps } from './run-deps';
import { loadRunDetail } from './run-detail';
import { toRunFilter } from './run-filter';
import { startRun } from './start-run';
import { testDraft } from './test-draft';

/** A run that is held until a person approves it waits like any other that has not begun. */
function toStartResponse({ id, status, startedAt }: Run): HandlerResponse {
  const isHeld = status === 'pending_approval' && startedAt === null;
  return created({ status: isHeld ? 'queued' : toApiStatus(status), run_id: id });
}

export function createRunOperations(deps: RunDeps): Operations<'worker'> {
  const { engine, pool, prisma } = deps;
  const getStartableWorker = createStartableWorkers(pool);

  /** Fields of a run that come from the request that starts it. */
  const toStartRequest = (req: Request, waitSeconds = 0) => ({
    ...toOrigin(req),
    idempotencyKey: req.idempotencyKey,
    waitMs: waitSeconds * 1_000,
  });

  /** A request that is repeated waits for the run that it has made. */
  const waitForRetriedRun = async (caller: Principal, runId: string, waitSeconds = 0): Promise<HandlerResponse> =>
    toStartResponse(await engine.waitForEnd(await getVisibleRun(deps, caller, runId), waitSeconds * 1_000));

  return {
    startRun: {
      create: async (call) => {
        const worker = await getStartableWorker(call.caller, call.path.worker_id);
        await requireToolsetAccess(prisma, call.caller, worker.uid, ['workers']);
        const { inputs = {}, priority, wait } = call.body ?? {};
        const start = { ...toStartRequest(call.req, wait), worker, inputs, priority, trigger: 'api' } as const;
        return toStartResponse(await startRun(deps, start));
      },
      assertVisible: async ({ caller, path }, runId) => {
        const { uid } = await getVisibleWorker(prisma, caller, path.worker_id);
        await requireToolsetAccess(prisma, caller, uid, ['workers']);
        await getVisibleRun(deps, caller, runId);
      },
      answer: ({ caller, body }, runId) => waitForRetriedRun(caller, runId, body?.wait),
    },

    testWorker: {
      create: async (call) => {
        const { draft, inputs = {}, wait = 0 } = call.body;
        const worker = await getVisibleWorker(prisma, call.caller, call.path.worker_id);
        const { waitMs, ...origin } = toStartRequest(call.req, wait);
        return toStartResponse(await testDraft(deps, call, worker, { draft: { ...draft }, inputs, waitMs, origin }));
      },
      assertVisible: async ({ caller, path }, runId) => {
        await getVisibleWorker(prisma, caller, path.worker_id);
        await getVisibleRun(deps, caller, runId);
      },
      answer: ({ caller, body }, runId) => waitForRetriedRun(caller, runId, body.wait),
    },

    listRuns: async (call) => respondWithPage(call, await toRunFilter(deps, call.caller, call.query)),

    listWorkerRuns: async (call) => {
      const asked = { ...call.query, worker_id: call.path.worker_id };
      return respondWithPage(call, await toRunFilter(deps, call.caller, asked));
    },

    getRun: async (call) => {
      const run = await getRequestedRun(deps, call);
      await requireToolsetAccess(prisma, call.caller, run.subjectId, ['workers', 'runs']);
      return ok(await loadRunDetail(deps, run));
    },

    cancelRun: async (call) => {
      const { workspaceId, id } = await getRequestedRun(deps, call);
      const run = await engine.cancel(workspaceId, id, async (tx) => {
        await recordChange(tx, call.actor, 'run.cancelled', { workspaceId, id });
      });
      return ok(await loadRunDetail(deps, run));
    },

    replayRun: {
      create: async (call) => {
        const { run, worker } = await getRunAndWorker(deps, call.caller, call.path.run_id);
        const { version, inputs } = call.body ?? {};
        const replay = { version, inputs, origin: toStartRequest(call.req) };
        return toStartResponse(await replayRun(deps, worker, run, replay));
      },
      assertVisible: async ({ caller, path }, runId) => {
        await getRunAndWorker(deps, caller, path.run_id);
        await getVisibleRun(deps, caller, runId);
      },
      answer: ({ caller }, runId) => waitForRetriedRun(caller, runId),
    },
  };

  async function respondWithPage(
    { caller: { workspaceId }, query, req }: Call<unknown, OperationCall<'worker', 'listWorkerRuns'>['query']>,
    filter: PagedRunFilter,
  ): Promise<HandlerResponse> {
    const { limit, offset, count } = query;
    const [{ runs, next }, total] = await Promise.all([
      listRunPage(pool, workspaceId, filter, { limit, offset, before: parsePageCursor(query), withJson: true }),
      count ? countRunPage(pool, workspaceId, filter) : null,
    ]);
    return ok(runs.map(runToItem), {
      ...buildNextHeaders(req, next),
      ...(next && { 'X-Next-Before-Created-At': next.createdAt.toISOString(), 'X-Next-Before-Id': next.id }),
      ...(total !== null && { 'X-Total-Count': String(total) }),
    });
  }
}

/** Without a spread: see `conversationSummaryToApi`. */
const runToItem = (run: ListedRun) =>
  Object.assign(runSummaryToApi(run), {
    input: run.inputs ?? null,
    output: run.hasOutput ? toRunOutput(run, run.output) : null,
  });
