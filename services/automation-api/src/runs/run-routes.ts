import { type Call, linkTo, notFound, type Operations, ok, pageOf, reaches, reachOf } from '@gantry/http';
import { EXPIRES_SECONDS_MAX } from '@gantry/object-store';
import { type ListedRun, listRunPage, type Run } from '@gantry/run-engine';
import type { Response } from 'express';
import { auditOf, type Change } from '../audit/audit';
import type { Deps } from '../deps';
import { runAutomation } from './run-automation';
import { runFilterOf } from './run-filter';
import {
  asOutputs,
  toRunArtifact,
  toRunDetail,
  toRunItem,
  toRunResult,
  toStartedTest,
  toTestRun,
  traceOf,
  wordingOf,
} from './run-result';
import { runTest } from './run-test';
import { waitMsOf } from './start-run';

/** Limit of `outputs` per run of a list, in characters of JSON; larger ones are omitted. */
const LISTED_OUTPUT_CHARS_MAX = 16 * 1024;

type InRun = Pick<Call<{ runId: string }>, 'caller' | 'path'>;

export function runOperations(deps: Deps): Operations<'automation'> {
  const { engine } = deps;

  /** @throws AppError 404, also for a run of the other kind */
  async function getOfKind(kind: Run['kind'], { caller }: Pick<Call, 'caller'>, id: string): Promise<Run> {
    const run = await engine.get(caller.workspaceId, id);
    if (run.kind !== kind || !reaches(caller, 'automations', run.subjectId))
      throw notFound(kind === 'test' ? 'test run' : 'run', id);
    return run;
  }
  const getRun = (call: InRun) => getOfKind('run', call, call.path.runId);

  return {
    runAutomation: {
      make: async ({ req, path }) => ok(await toRunResult(engine, await runAutomation(deps, path.automationId, req))),
      see: (call, runId) => getOfKind('run', call, runId),
      answer: async (call, runId) => {
        const run = await engine.waitForEnd(await getOfKind('run', call, runId), waitMsOf(call.req));
        return ok(await toRunResult(engine, run));
      },
    },

    testArtifact: {
      make: async ({ req }) => ok(await runTest(deps, req)),
      see: (call, testRunId) => getOfKind('test', call, testRunId),
      answer: async (call, testRunId) => {
        const run = await engine.waitForEnd(await getOfKind('test', call, testRunId), waitMsOf(call.req));
        return ok(await toStartedTest(engine, run));
      },
    },

    getTestRun: async (call) => ok(await toTestRun(engine, await getOfKind('test', call, call.path.testRunId))),

    listRuns: async ({ caller, query, req }) => {
      const { workspaceId } = caller;
      const { limit, offset, before, outputs } = query;
      const filter = await runFilterOf(deps, workspaceId, query, reachOf(caller, 'automations'));
      const page = {
        ...{ limit, offset, withJson: outputs },
        before: before === undefined ? undefined : await engine.get(workspaceId, before),
      };
      const { runs, next } = await listRunPage(deps.pool, workspaceId, filter, page);
      const body = {
        runs: runs.map((run) => ({ ...toRunItem(run), ...(outputs && listedOutputs(run)) })),
        nextBefore: next?.id ?? null,
      };
      return ok(body, next ? linkTo(req, { offset: null, before: next.id }) : undefined);
    },

    getRun: async (call) => {
      const run = await getRun(call);
      return ok({ ...(await toRunDetail(engine, run)), ...traceOf(deps.traceUrlTemplate, run) });
    },

    cancelRun: async (call) => {
      const { workspaceId, id } = await getRun(call);
      const run = await engine.cancel(workspaceId, id, (tx) => auditOf(call.req)(tx, cancelled(id)));
      return ok(await toRunDetail(engine, run));
    },

    streamRunEvents: async (call) => {
      const { req, res, query } = call;
      const run = await getRun(call);
      await engine.stream(req, res, run, query.logs ? 'all' : 'no-logs', wordingOf(run));
    },

    listRunArtifacts: async (call) => {
      const { rows, headers } = pageOf(call, await engine.artifacts(await getRun(call)));
      return ok({ artifacts: rows.map(toRunArtifact) }, headers);
    },

    downloadRunArtifact: async (call) => {
      await redirectToArtifact(deps, call.res, await getRun(call), call.path.artifactId);
    },
  };
}

export const cancelled = (runId: string): Change => ({
  action: 'run.cancelled',
  id: runId,
});

function listedOutputs(run: ListedRun): { outputs?: Record<string, unknown> } {
  if (run.status !== 'completed' || !run.hasOutput) return {};
  const outputs = asOutputs(run.declaredOutputs ?? [], run.output);
  return JSON.stringify(outputs).length <= LISTED_OUTPUT_CHARS_MAX ? { outputs } : {};
}

/** @throws AppError 404 */
export async function redirectToArtifact(deps: Deps, res: Response, run: Run, artifactId: string): Promise<void> {
  const artifact = await deps.engine.findArtifact(run, artifactId);
  if (!artifact) throw notFound('artifact', artifactId, 'of this run');
  const url = await deps.objects.presignGet(artifact.key, {
    expiresSeconds: EXPIRES_SECONDS_MAX,
    audience: 'public',
    filename: artifact.name,
    contentType: artifact.contentType,
  });
  res.redirect(302, url);
}
