import { actorOf, callerOf, creating, type Operations, type Revisit } from '@gantry/http';
import { countRunPage, type ListedRun, listRunPage, type PagedRunFilter, type Run } from '@gantry/run-engine';
import type { Request, Response } from 'express';
import { recordChange } from '../audit/audit-entry';
import type { Deps } from '../deps';
import { cursorOf, linkFrom } from '../page-cursor';
import { apiStatus } from '../run-status';
import { getRunFor } from '../workers/visible-worker';
import { getVisibleWorker } from '../workers/worker-repository';
import { replayRun } from './replay-run';
import { headToApi } from './run';
import { toRunDetail } from './run-detail';
import { type AskedFilter, runFilterOf } from './run-filter';
import { originOf, runAndWorkerOf, runOf } from './run-of-request';
import { startRun } from './start-run';

export function runOperations(deps: Deps): Operations {
  const { engine, pool, prisma } = deps;

  const waitMsOf = (req: Request): number => (req.body?.wait ?? 0) * 1_000;

  /** What the one run that a request asks for has from it. */
  const askedBy = (req: Request) => ({
    ...originOf(req),
    idempotencyKey: req.idempotencyKey,
    waitMs: waitMsOf(req),
  });

  const answerStarted = (res: Response, run: Run): void =>
    void res.status(201).json({ status: apiStatus(run.status), run_id: run.id });

  const workerOf = (req: Request) => getVisibleWorker(prisma, callerOf(req), String(req.params.worker_id));

  /** @param seeNamed the check of what the request names */
  const startedAfter = (seeNamed: (req: Request) => Promise<unknown>): Revisit => ({
    see: async (req, runId) => {
      await seeNamed(req);
      await getRunFor(deps, callerOf(req), runId);
    },
    answer: async (req, res, runId) => {
      const run = await getRunFor(deps, callerOf(req), runId);
      answerStarted(res, await engine.waitForEnd(run, waitMsOf(req)));
    },
  });

  return {
    startRun: creating(async (req, res) => {
      const worker = await workerOf(req);
      const { inputs = {}, priority } = req.body ?? {};
      answerStarted(res, await startRun(deps, { ...askedBy(req), worker, inputs, priority, trigger: 'api' }));
    }, startedAfter(workerOf)),

    listRuns: async (req, res) => {
      await sendPage(req, res, await runFilterOf(deps, req, req.query as AskedFilter));
    },

    listWorkerRuns: async (req, res) => {
      const worker_id = String(req.params.worker_id);
      await sendPage(req, res, await runFilterOf(deps, req, { ...(req.query as AskedFilter), worker_id }));
    },

    getRun: async (req, res) => {
      res.json(await toRunDetail(deps, await runOf(deps, req)));
    },

    cancelRun: async (req, res) => {
      const { workspaceId, id } = await runOf(deps, req);
      const run = await engine.cancel(workspaceId, id, async (tx) => {
        await recordChange(tx, actorOf(req), {
          workspaceId,
          action: 'run.cancelled',
          resource: { type: 'run', id },
        });
      });
      res.json(await toRunDetail(deps, run));
    },

    replayRun: creating(
      async (req, res) => {
        const { run, worker } = await runAndWorkerOf(deps, req);
        const replay = { version: req.body?.version, origin: askedBy(req) };
        answerStarted(res, await replayRun(deps, worker, run, replay));
      },
      startedAfter((req) => runAndWorkerOf(deps, req)),
    ),
  };

  async function sendPage(req: Request, res: Response, filter: PagedRunFilter): Promise<void> {
    const { workspaceId } = callerOf(req);
    const { limit, offset, count } = req.query as unknown as { limit: number; offset: number; count: boolean };
    const [{ runs, next }, total] = await Promise.all([
      listRunPage(pool, workspaceId, filter, { limit, offset, before: cursorOf(req), withJson: true }),
      count ? countRunPage(pool, workspaceId, filter) : null,
    ]);
    linkFrom(req, res, next);
    if (next) res.set({ 'X-Next-Before-Created-At': next.createdAt.toISOString(), 'X-Next-Before-Id': next.id });
    if (total !== null) res.set('X-Total-Count', String(total));
    res.json(runs.map(toItem));
  }
}

const toItem = (run: ListedRun) => ({ ...headToApi(run), input: run.inputs ?? null, output: run.output ?? null });
