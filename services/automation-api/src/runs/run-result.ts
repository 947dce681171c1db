/** Maps runs of the engine to the API of the automation surface, as api-spec.md defines it. */
import type { RunError } from '@gantry/events';
import { ObjectMissing } from '@gantry/object-store';
import {
  isTerminal,
  type ListedRun,
  type Run,
  type RunArtifact,
  type RunEngine,
  type RunStatus,
  type Wording,
} from '@gantry/run-engine';
import { traceUrl } from '@gantry/tracing';
import { type ApiRunStatus, apiStatus } from '../run-status';

/** Returns the outputs of a completed run. */
export function outputsOf(run: Run, output: unknown): Record<string, unknown> {
  return run.status === 'completed' ? asOutputs(run.spec.outputs, output) : {};
}

/** Maps a return value to named outputs: one that is not an object is the only declared output, or `result`. */
export function asOutputs(declared: Run['spec']['outputs'], output: unknown): Record<string, unknown> {
  if (typeof output === 'object' && output !== null && !Array.isArray(output)) return output as Record<string, unknown>;
  return { [nameIn(declared)]: output };
}

function nameIn([only, ...others]: Run['spec']['outputs']): string {
  return only && !others.length ? only.name : 'result';
}

/** Maps a run's live events to those of this surface. */
export function wordingOf(run: Run) {
  const status = (data: Record<string, unknown>) => ({ ...data, status: apiStatus(data.status as RunStatus) });
  const output = (data: Record<string, unknown>) =>
    'output' in data ? { ...data, output: asOutputs(run.spec.outputs, data.output) } : data;
  // Automations have no network rules, and the specification has no such event.
  const request = () => null;
  return {
    name: 'automation',
    of: { status, output, done: status, request },
    others: 'told',
  } as const satisfies Wording;
}

export interface RunResult {
  runId: string;
  status: ApiRunStatus;
  result?: { status: ApiRunStatus; outputs: Record<string, unknown>; outputsMissing?: boolean; logs: string };
  error?: RunError;
}

/** The response to a start, and to waiting for the run. */
export async function toRunResult(engine: RunEngine, run: Run): Promise<RunResult> {
  const status = apiStatus(run.status);
  if (!isTerminal(run.status)) return { runId: run.id, status };
  const [outputs, logs] = await Promise.all([readOutputs(engine, run), engine.logsText(run)]);
  return { runId: run.id, status, result: { status, ...outputs, logs }, ...errorOf(run) };
}

/** Large outputs that are missing in the object store do not hide the rest of the run. */
async function readOutputs(engine: RunEngine, run: Run) {
  try {
    return { outputs: outputsOf(run, await engine.outputToSend(run, nameIn(run.spec.outputs))) };
  } catch (err) {
    if (err instanceof ObjectMissing) return { outputs: {}, outputsMissing: true };
    throw err;
  }
}

export const errorOf = (run: Run | ListedRun): { error?: RunError } => (run.error ? { error: run.error } : {});

export function timesOf(run: Run | ListedRun) {
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
  status: apiStatus(run.status),
  trigger: run.trigger,
  ...timesOf(run),
  ...errorOf(run),
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
export const traceOf = (template: string | undefined, run: Run): { traceUrl?: string } => {
  const url = traceUrl(template, run.traceparent);
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
export async function toStartedTest(engine: RunEngine, run: Run) {
  if (isTerminal(run.status)) return toTestRun(engine, run);
  return { testRunId: run.id, status: TEST_GOES_ON };
}

const TEST_GOES_ON = 'pending';

/** Maps a test run, which has no status `running`. */
export async function toTestRun(engine: RunEngine, run: Run) {
  const { runId: testRunId, status, ...ended } = await toRunResult(engine, run);
  const isOfAutomation = run.subjectId.startsWith('aut_');
  return {
    testRunId,
    status: status === 'running' ? TEST_GOES_ON : status,
    ...ended,
    ...(ended.error && ended.result && { logs: ended.result.logs }),
    ...(!isOfAutomation && { artifactId: run.subjectId }),
    automationId: isOfAutomation ? run.subjectId : null,
    ...timesOf(run),
  };
}
