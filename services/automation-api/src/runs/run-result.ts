/** Maps runs of the engine to the API of the automation surface, as api-spec.md defines it. */
import type { RunError } from '@gantry/events';
import { ObjectMissingError } from '@gantry/object-store';
import {
  isTerminal,
  type ListedRun,
  type Run,
  type RunArtifact,
  type RunEngine,
  type RunStatus,
  type StreamFormat,
} from '@gantry/run-engine';
import { formatTraceUrl } from '@gantry/tracing';
import { type ApiRunStatus, toApiStatus } from '../automations/run-status';

/** Maps a return value to named outputs: one that is not an object is the only declared output, or `result`. */
export function normalizeOutputs(declared: Run['spec']['outputs'], output: unknown): Record<string, unknown> {
  if (typeof output === 'object' && output !== null && !Array.isArray(output)) return output as Record<string, unknown>;
  return { [getOutputName(declared)]: output };
}

function getOutputName([only, ...others]: Run['spec']['outputs']): string {
  return only && !others.length ? only.name : 'result';
}

/** Maps a run's live events to those of this surface. */
export function createEventMapper(run: Run) {
  const status = (data: Record<string, unknown>) => ({ ...data, status: toApiStatus(data.status as RunStatus) });
  const output = (data: Record<string, unknown>) =>
    'output' in data ? { ...data, output: normalizeOutputs(run.spec.outputs, data.output) } : data;
  // Automations have no network rules, and the specification has no such event.
  const request = () => null;
  return {
    name: 'automation',
    of: { status, output, done: status, request },
    others: 'told',
  } as const satisfies StreamFormat;
}

export interface RunResult {
  runId: string;
  status: ApiRunStatus;
  result?: { status: ApiRunStatus; outputs: Record<string, unknown>; outputsMissing?: boolean; logs: string };
  error?: RunError;
}

/** The response to a start, and to waiting for the run. */
export async function toRunResult(engine: RunEngine, run: Run): Promise<RunResult> {
  const status = toApiStatus(run.status);
  if (!isTerminal(run.status)) return { runId: run.id, status };
  const [outputs, logs] = await Promise.all([readOutputs(engine, run), engine.getLogsText(run)]);
  return { runId: run.id, status, result: { status, ...outputs, logs }, ...toError(run) };
}

/** Large outputs that are missing in the object store do not hide the rest of the run. */
async function readOutputs(engine: RunEngine, run: Run) {
  try {
    const output = await engine.loadOutputForResponse(run, getOutputName(run.spec.outputs));
    return { outputs: run.status === 'completed' ? normalizeOutputs(run.spec.outputs, output) : {} };
  } catch (err) {
    if (err instanceof ObjectMissingError) return { outputs: {}, outputsMissing: true };
    throw err;
  }
}

export const toError = (run: Run | ListedRun): { error?: RunError } => (run.error ? { error: run.error } : {});

export function toTimes(run: Run | ListedRun) {
  const { createdAt, startedAt, finishedAt } = run;
  return {
    createdAt: createdAt.getTime(),
    startedAt: startedAt?.getTime() ?? null,
    completedAt: finishedAt?.getTime() ?? null,
    durationMs: startedAt && finishedAt ? finishedAt.getTime() - startedAt.getTime() : null,
  };
}

export const toRunItem = (run: Run | ListedRun) => ({
  runId: run.id,
  automationId: run.subjectId,
  version: run.version,
  status: toApiStatus(run.status),
  trigger: run.trigger,
  ...toTimes(run),
  ...toError(run),
});

/** Everything about one run. */
export async function toRunDetail(engine: RunEngine, run: Run) {
  const [result, artifacts] = await Promise.all([toRunResult(engine, run), engine.artifacts(run)]);
  return {
    ...toRunItem(run),
    ...result,
    inputs: run.inputs,
    artifacts: artifacts.map(toRunArtifact),
    costUsd: run.costUsd,
    cancelRequested: run.cancelRequestedAt !== null,
  };
}

/** Only for members: the address of the trace backend is not disclosed to visitors of a page. */
export const buildTraceUrl = (template: string | undefined, run: Run): { traceUrl?: string } => {
  const url = formatTraceUrl(template, run.traceparent);
  return url ? { traceUrl: url } : {};
};

export const toRunArtifact = ({ id, name, contentType, size, sha256 }: RunArtifact) => ({
  id,
  name,
  contentType,
  size,
  sha256,
});

/** The response to starting a test and to waiting for it: only id and status until it ends. */
export async function toTestStartResponse(engine: RunEngine, run: Run) {
  if (isTerminal(run.status)) return toTestRun(engine, run);
  return { testRunId: run.id, status: TEST_PENDING };
}

const TEST_PENDING = 'pending';

/** Maps a test run, which has no status `running`. */
export async function toTestRun(engine: RunEngine, run: Run) {
  const { runId: testRunId, status, ...ended } = await toRunResult(engine, run);
  const hasAutomation = run.subjectId.startsWith('aut_');
  return {
    testRunId,
    status: status === 'running' ? TEST_PENDING : status,
    ...ended,
    ...(ended.error && ended.result && { logs: ended.result.logs }),
    ...(!hasAutomation && { artifactId: run.subjectId }),
    automationId: hasAutomation ? run.subjectId : null,
    ...toTimes(run),
  };
}
