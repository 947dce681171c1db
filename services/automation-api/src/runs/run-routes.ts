import { notFound } from '@gantry/errors';
import { buildNextLink, type Call, type Operations, ok, paginate } from '@gantry/http';
import { getTokenScope, isInTokenScope } from '@gantry/limits';
import { EXPIRES_SECONDS_MAX } from '@gantry/object-store';
import { type ListedRun, listRunPage, type Run } from '@gantry/run-engine';
import type { Response } from 'express';
import { type Change, createAudit } from '../audit/audit';
import type { Deps } from '../deps';
import { runAutomation } from './run-automation';
import { toRunFilter } from './run-filter';
import {
  buildTraceUrl,
  createEventMapper,
  normalizeOutputs,
  toRunArtifact,
  toRunDetail,
  toRunItem,
  toRunResult,
  toTestRun,
  toTestStartResponse,
} from './run-result';
import { runTest } from './run-test';
import { getWaitMs } from './start-run';

/** Limit of `outputs` per run of a list, in characters of JSON; larger ones are omitted. */
const LISTED_OUTPUT_CHARS_MAX = 16 * 1024;

type RunCall = Pick<Call<{ runId: string }>, 'caller' | 'path'>;

export function createRunOperations(deps: Deps): Operations<'automation'> {
  const { engine } = deps;

  /** @throws AppError 404, also for a run of the other kind */
  async function getRunByKind(kind: Run['kind'], { caller }: Pick<Call, 'caller'>, id: string): Promise<Run> {
    const run = await engine.get(caller.workspaceId, id);
    if (run.kind !== kind || !isInTokenScope(caller, 'automations', run.subjectId))
      throw notFound(kind === 'test' ? 'test run' : 'run', id);
    return run;
  }
  const getRun = (call: RunCall) => getRunByKind('run', call, call.path.runId);

  return {
    runAutomation: {
      create: async ({ req, path }) => ok(await toRunResult(engine, await runAutomation(deps, path.automationId, req))),
      assertVisible: (call, runId) => getRunByKind('run', call, runId),
      answer: async (call, runId) => {
        const run = await engine.waitForEnd(await getRunByKind('run', call, runId), getWaitMs(call.req));
        return ok(await toRunResult(engine, run));
      },
    },

    testArtifact: {
      create: async ({ req }) => ok(await runTest(deps, req)),
      assertVisible: (call, testRunId) => getRunByKind('test', call, testRunId),
      answer: async (call, testRunId) => {
        const run = await engine.waitForEnd(await getRunByKind('test', call, testRunId), getWaitMs(call.req));
        return ok(await toTestStartResponse(engine, run));
      },
    },

    getTestRun: async (call) => ok(await toTestRun(engine, await getRunByKind('test', call, call.path.testRunId))),

    listRuns: async ({ caller, query, req }) => {
      const { workspaceId } = caller;
      const { limit, offset, before, outputs } = query;
      const filter = await toRunFilter(deps, workspaceId, query, getTokenScope(caller, 'automations'));
      const page = {
        limit,
        offset,
        withJson: outputs,
        before: before === undefined ? undefined : await engine.get(workspaceId, before),
      };
      const { runs, next } = await listRunPage(deps.pool, workspaceId, filter, page);
      const body = {
        runs: runs.map((run) => ({ ...toRunItem(run), ...(outputs && toOutputPreview(run)) })),
        nextBefore: next?.id ?? null,
      };
      return ok(body, next ? buildNextLink(req, { offset: null, before: next.id }) : undefined);
    },

    getRun: async (call) => {
      const run = await getRun(call);
      return ok({ ...(await toRunDetail(engine, run)), ...buildTraceUrl(deps.traceUrlTemplate, run) });
    },

    cancelRun: async (call) => {
      const { workspaceId, id } = await getRun(call);
      const run = await engine.cancel(workspaceId, id, (tx) => createAudit(call.req)(tx, toCancelChange(id)));
      return ok(await toRunDetail(engine, run));
    },

    streamRunEvents: async (call) => {
      const { req, res, query } = call;
      const run = await getRun(call);
      await engine.stream(req, res, run, query.logs ? 'all' : 'no-logs', createEventMapper(run));
    },

    listRunArtifacts: async (call) => {
      const { rows, headers } = paginate(call, await engine.artifacts(await getRun(call)));
      return ok({ artifacts: rows.map(toRunArtifact) }, headers);
    },

    downloadRunArtifact: async (call) => {
      await redirectToArtifact(deps, call.res, await getRun(call), call.path.artifactId);
    },
  };
}

export const toCancelChange = (runId: string): Change => ({
  action: 'run.cancelled',
  id: runId,
});

function toOutputPreview(run: ListedRun): { outputs?: Record<string, unknown> } {
  if (run.status !== 'completed' || !run.hasOutput) return {};
  const outputs = normalizeOutputs(run.declaredOutputs ?? [], run.output);
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
