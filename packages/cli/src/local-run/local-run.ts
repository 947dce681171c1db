/**
 * A run on this machine. As on the platform, a run that waits has no process: the code starts again from the top, and
 * what is recorded is not done again. Records are kept in memory, and end with the run.
 */

import fs from 'node:fs';
import path from 'node:path';
import { removeTemporaryDir } from '../temporary-dir';
import {
  type ExecutionHooks,
  execute,
  MODELS_CONNECTION,
  type RecordedStep,
  type Suspension,
  type ToolCall,
  type ToolReply,
} from './execution';
import { writeTemporaryFiles } from './harness';
import type { Interpreter, Mount } from './interpreter';
import { InputFile } from './local-inputs';
import { type LocalProgram, loadProgram } from './local-program';

export interface LocalRun {
  status: 'completed' | 'failed' | 'timed_out' | 'rejected' | 'cancelled';
  /** As a run of the platform shows it: a value that is no object is under `result`. */
  output: Record<string, unknown> | null;
  error: string | null;
  /** The class of the exception. */
  error_type: string | null;
  error_trace: string | null;
  steps: { kind: string; name: string }[];
  artifacts: { name: string; path: string }[];
  cost_usd: number;
}

export interface Decision {
  approved: boolean;
  by: string;
  data: Record<string, unknown>;
}

/** Answers the code in place of approvers and of the platform. */
export interface LocalResponder {
  /** @throws CommandError where there is no decision */
  decide(request: ApprovalRequest): Promise<Decision>;
  /** @returns null where there is no answer: the code gets an error */
  answerTool?(name: string): unknown;
  answerCall?(workerId: string): unknown;
}

export interface ApprovalRequest {
  title: string;
  message: string | null;
  data: unknown;
  form: unknown[] | null;
}

export interface RunEnvironment {
  python: Interpreter;
  hasSandbox: boolean;
  harnessDir: string;
  /** Installs the dependencies of a program. */
  loadPackages(program: LocalProgram): Promise<string | null>;
  artifactsDir: string;
  answers: LocalResponder;
  onEvent: ExecutionHooks['onEvent'];
  signal: AbortSignal;
  /** Answers the first steps of the code. */
  recorded?: RecordedStep[];
  /** False: a person may stop the code at a breakpoint. */
  hasTimeout?: boolean;
}

const CALL_DEPTH_MAX = 10;

/** @param inputs as local-inputs.ts makes them */
export async function runLocally(
  program: LocalProgram,
  inputs: Record<string, unknown>,
  environment: RunEnvironment,
  depth = 0,
): Promise<LocalRun> {
  const { python, hasSandbox, harnessDir, artifactsDir, onEvent, signal, hasTimeout = true } = environment;
  const codeDir = writeTemporaryFiles('gantry-code-', program.files);
  const placedFiles = prepareFiles(program, inputs, hasSandbox);
  const recorded = [...(environment.recorded ?? [])];
  const artifacts = new Map<string, LocalRun['artifacts'][number]>();
  let cost = 0;
  const hooks: ExecutionHooks = {
    onEvent(type, data) {
      if (type === 'artifact') {
        const name = String(data.name);
        artifacts.set(name, { name, path: path.join(artifactsDir, name) });
      }
      if (type === 'cost') cost += Number(data.usd);
      onEvent(type, data);
    },
    onTool: (call) => getToolResult(call, environment.answers),
  };
  const end = (status: LocalRun['status'], fields: Partial<LocalRun> = {}): LocalRun => ({
    status,
    output: null,
    error: null,
    error_type: null,
    error_trace: null,
    steps: recorded.map(({ kind, name }) => ({ kind, name })),
    artifacts: [...artifacts.values()],
    cost_usd: cost,
    ...fields,
  });
  try {
    const packages = await environment.loadPackages(program);
    for (;;) {
      const outcome = await execute(
        {
          python,
          harnessDir,
          codeDir,
          packages,
          artifactsDir,
          recorded,
          signal,
          sandbox: hasSandbox ? { hasNetwork: program.hasNetwork } : null,
          mounts: placedFiles.mounts,
          timeoutMs: hasTimeout ? program.timeoutSeconds * 1_000 : null,
          memoryBytes: program.memoryMb * 1024 * 1024,
          job: toJob(program, placedFiles.inputs),
        },
        hooks,
      );
      switch (outcome.kind) {
        case 'returned':
          return end('completed', { output: toOutput(outcome.output) });
        case 'raised': {
          const { type, message, trace, step } = outcome;
          const failed = end('failed', { error: message, error_type: type, error_trace: trace || null });
          return step === null ? failed : { ...failed, steps: [...failed.steps, { kind: 'step', name: step }] };
        }
        case 'died':
          return end('failed', { error: outcome.message });
        case 'timed_out':
          return end('timed_out', { error: `the code took longer than ${program.timeoutSeconds} s` });
        case 'stopped':
          return end('cancelled');
        case 'suspended': {
          const result = await resolveWait(outcome.suspension);
          if (signal.aborted) return end('cancelled');
          if ('rejected' in result) return end('rejected', { error: result.rejected });
          recorded.push({ ...outcome.suspension.step, result: result.value });
        }
      }
    }
  } finally {
    removeTemporaryDir(codeDir);
    placedFiles.remove();
  }

  async function resolveWait(wait: Suspension): Promise<{ value: unknown } | { rejected: string }> {
    if (wait.kind === 'sleep') {
      const until = new Date(Number(wait.wakeAt)).toISOString();
      onEvent('log', { level: 'debug', text: `sleeps until ${until} on the platform; continues immediately here` });
      return { value: null };
    }
    if (wait.kind === 'approve') {
      const request = wait as Suspension & ApprovalRequest;
      const { approved, by, data } = await environment.answers.decide(request);
      if (!approved) return { rejected: `rejected by ${by}` };
      return { value: { approved_by: by, data: request.form ? data : null } };
    }
    return { value: await callWorker(String(wait.workerId), wait.inputs as Record<string, unknown>) };
  }

  /** Runs the folder beside this one that has the worker's name. */
  async function callWorker(workerId: string, callInputs: Record<string, unknown>): Promise<unknown> {
    const answer = environment.answers.answerCall?.(workerId);
    if (answer !== undefined) return { status: 'completed', output: answer };
    const fail = (message: string) => ({ status: 'failed', error: { code: 'not_local', message } });
    const dir = path.join(path.resolve(program.dir), '..', workerId);
    if (!fs.existsSync(path.join(dir, 'worker.yaml'))) {
      return fail(`worker ${workerId} cannot be called locally: ${dir} is not a worker folder`);
    }
    if (depth >= CALL_DEPTH_MAX) return fail(`more than ${CALL_DEPTH_MAX} nested calls`);
    try {
      const called = await runLocally(await loadProgram(dir), callInputs, { ...environment, recorded: [] }, depth + 1);
      const error = called.error === null ? {} : { error: { code: 'exception', message: called.error } };
      return { status: called.status, output: called.output, ...error };
    } catch (error) {
      return fail((error as Error).message);
    }
  }
}

function getToolResult({ connection, tool }: ToolCall, responder: LocalResponder): ToolReply {
  const name = connection === MODELS_CONNECTION ? 'model' : `${connection}.${tool}`;
  const answer = responder.answerTool?.(name);
  if (answer !== undefined) return { result: connection === MODELS_CONNECTION ? toModelResponse(answer) : answer };
  const what = connection === MODELS_CONNECTION ? 'models are not available' : `${name} is not available`;
  const message = `${what} locally: only the platform has the credentials. gantry test takes responses from examples.yaml`;
  return { failed: { code: connection === MODELS_CONNECTION ? 'no_model' : 'unavailable', message } };
}

/** A text, or a value that fits the schema of the question. */
const toModelResponse = (answer: unknown) => ({
  text: typeof answer === 'string' ? answer : JSON.stringify(answer),
  ...(typeof answer !== 'string' && { output: answer }),
  tool_calls: [],
  cut: false,
  model: 'example',
  usage: { input_tokens: 0, output_tokens: 0, usd: 0 },
});

const toOutput = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : { result: value ?? null };

const toJob = (program: LocalProgram, inputs: Record<string, unknown>) => ({
  runId: 'run_local',
  workspaceId: 'ws_local',
  attempt: 1,
  entrypoint: program.entrypoint,
  inputs,
  outputs: program.outputs,
  env: program.secrets,
  may: ['approve', 'call'],
  tools: [MODELS_CONNECTION, ...program.connections].map((name) => ({ name, tools: null })),
  contexts: program.contexts.map(({ name, fields }) => ({ name, writeable: fields.writeable })),
});

/** Lays out contexts, and in a sandbox the files of inputs, as mounts of the working directory. */
function prepareFiles(program: LocalProgram, inputs: Record<string, unknown>, hasSandbox: boolean) {
  const temporaryDirs: string[] = [];
  const mounts: Mount[] = program.contexts.map(({ name, fields, files }) => {
    const from = writeTemporaryFiles('gantry-context-', files);
    temporaryDirs.push(from);
    return { from, to: `${fields.writeable ? '.contexts' : 'contexts'}/${name}` };
  });
  const placed = Object.entries(inputs).map(([name, value]): [string, unknown] => {
    if (!(value instanceof InputFile)) return [name, value];
    if (!hasSandbox) return [name, value.path];
    const to = `inputs/${name}/${path.basename(value.path)}`;
    mounts.push({ from: value.path, to });
    return [name, `/tmp/${to}`];
  });
  return {
    mounts,
    inputs: Object.fromEntries(placed),
    remove: () => {
      for (const dir of temporaryDirs) removeTemporaryDir(dir);
    },
  };
}
