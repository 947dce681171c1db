import { callerOf, creating, notFound, type Operations } from '@gantry/http';
import { EXPIRES_SECONDS_MAX } from '@gantry/object-store';
import type { Run } from '@gantry/run-engine';
import type { Request, Response } from 'express';
import { auditOf, type Change } from '../audit/audit';
import type { Deps } from '../deps';
import { pathParam } from '../path-param';
import { engineStatuses } from '../run-status';
import { runAutomation } from './run-automation';
import { outputsOf, toRunArtifact, toRunDetail, toRunItem, toRunResult, toTestRun } from './run-result';
import { runTest } from './run-test';
import { waitMsOf } from './start-run';

/** `result.outputs` of a list may take this much of JSON per run; what is larger is left out. */
const LISTED_OUTPUT_CHARS_MAX = 16 * 1024;

export function runOperations(deps: Deps): Operations {
  const { engine } = deps;

  /** @throws AppError 404, also for a test run */
  async function getRun(req: Request, runId = pathParam(req, 'runId')): Promise<Run> {
    const run = await engine.get(callerOf(req).workspaceId, runId);
    if (run.kind !== 'run') throw notFound('run', runId);
    return run;
  }

  /** @throws AppError 404, also for a run that is none of a test */
  async function getTestRun(req: Request, testRunId = pathParam(req, 'testRunId')): Promise<Run> {
    const run = await engine.get(callerOf(req).workspaceId, testRunId);
    if (run.kind !== 'test') throw notFound('test run', testRunId);
    return run;
  }

  return {
    runAutomation: creating(
      async (req, res) => {
        const run = await runAutomation(deps, pathParam(req, 'automationId'), req);
        res.json(await toRunResult(engine, run));
      },
      {
        see: getRun,
        answer: async (req, res, runId) => {
          const run = await engine.waitForEnd(await getRun(req, runId), waitMsOf(req));
          res.json(await toRunResult(engine, run));
        },
      },
    ),

    testArtifact: creating(
      async (req, res) => {
        res.json(await runTest(deps, req));
      },
      {
        see: getTestRun,
        answer: async (req, res, testRunId) => {
          const run = await engine.waitForEnd(await getTestRun(req, testRunId), waitMsOf(req));
          res.json(await toTestRun(engine, run));
        },
      },
    ),

    getTestRun: async (req, res) => {
      res.json(await toTestRun(engine, await getTestRun(req)));
    },

    listRuns: async (req, res) => {
      const { workspaceId } = callerOf(req);
      const { automationId, status, limit, before, outputs } = req.query as unknown as RunQuery;
      const runs = await engine.list(workspaceId, {
        kind: 'run',
        limit,
        ...(automationId && { subjectId: automationId }),
        ...(status && { status: engineStatuses(status) }),
        ...(before && { before: await engine.get(workspaceId, before) }),
      });
      res.json({
        runs: runs.map((run) => ({ ...toRunItem(run), ...(outputs && listedOutputs(run)) })),
        nextBefore: runs.length === limit ? (runs.at(-1)?.id ?? null) : null,
      });
    },

    getRun: async (req, res) => {
      res.json(await toRunDetail(engine, await getRun(req)));
    },

    cancelRun: async (req, res) => {
      const { workspaceId, id } = await getRun(req);
      const run = await engine.cancel(workspaceId, id, (tx) => auditOf(req)(tx, cancelled(id)));
      res.json(await toRunDetail(engine, run));
    },

    streamRunEvents: async (req, res) => {
      await engine.stream(req, res, await getRun(req), wantsLogs(req) ? 'all' : 'no-logs');
    },

    listRunArtifacts: async (req, res) => {
      const artifacts = await engine.artifacts(await getRun(req));
      res.json({ artifacts: artifacts.map(toRunArtifact) });
    },

    downloadRunArtifact: async (req, res) => {
      await redirectToArtifact(deps, res, await getRun(req), pathParam(req, 'artifactId'));
    },
  };
}

export const cancelled = (runId: string): Change => ({
  action: 'run.cancelled',
  resource: { type: 'run', id: runId },
});

interface RunQuery {
  automationId?: string;
  status?: Parameters<typeof engineStatuses>[0];
  limit: number;
  before?: string;
  outputs: boolean;
}

function listedOutputs(run: Run): { outputs?: Record<string, unknown> } {
  if (run.status !== 'completed' || run.outputKey) return {};
  const outputs = outputsOf(run, run.output);
  return JSON.stringify(outputs).length <= LISTED_OUTPUT_CHARS_MAX ? { outputs } : {};
}

export const wantsLogs = (req: Request): boolean => (req.query as { logs?: unknown }).logs === true;

/** @throws AppError 404 */
export async function redirectToArtifact(deps: Deps, res: Response, run: Run, artifactId: string): Promise<void> {
  const artifact = (await deps.engine.artifacts(run)).find(({ id }) => id === artifactId);
  if (!artifact) throw notFound('artifact', artifactId);
  const url = await deps.objects.presignGet(artifact.key, {
    expiresSeconds: EXPIRES_SECONDS_MAX,
    audience: 'public',
    filename: artifact.name,
    contentType: artifact.contentType,
  });
  res.redirect(302, url);
}
