/** Lists the recorded steps of runs, for clients that run the code again elsewhere. */
import { STEP_FAILED } from '@gantry/events';
import { type Operations, ok } from '@gantry/http';
import { loadRecordedStepPage, type RecordedStepPage } from '@gantry/run-engine';
import { buildAfterHeaders } from './event-page';
import { getRequestedRun } from './requested-run';
import type { RunDeps } from './run-deps';
import { loadRunApprovals, toVisibleResult } from './run-detail';

export function createStepOperations(deps: RunDeps): Operations<'worker'> {
  return {
    listRecordedSteps: async (call) => {
      const run = await getRequestedRun(deps, call);
      const { steps, hasMore } = await loadRecordedStepPage(deps.pool, run.id, call.query);
      const approvals = steps.some(({ kind }) => kind === 'approve') ? await loadRunApprovals(deps, run) : [];
      const after = hasMore ? steps.at(-1)?.ordinal : undefined;
      return ok(
        steps.map((step) => stepToApi({ ...step, result: toVisibleResult(step, approvals) })),
        buildAfterHeaders(call.req, after),
      );
    },
  };
}

interface Failure {
  module: string;
  type: string;
  /** The error code of a tool or a model. */
  code?: string;
  message: string;
}

function stepToApi({ ordinal, kind, name, result }: RecordedStepPage['steps'][number]) {
  const failure = parseFailure(result);
  return { ordinal, kind, name, result: failure ? null : (result ?? null), failure };
}

function parseFailure(result: unknown) {
  if (typeof result !== 'object' || result === null || !Object.hasOwn(result, STEP_FAILED)) return null;
  const { module, type, code = null, message } = (result as { [STEP_FAILED]: Failure })[STEP_FAILED];
  return { module, type, code, message };
}
