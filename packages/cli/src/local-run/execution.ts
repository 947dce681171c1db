/**
 * One execution of the code, from its start to the end of its process: the executor's side of the harness's protocol.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createTemporaryDir, removeTemporaryDir } from '../temporary-dir';
import { readFrames, toFrame } from './frames';
import { type Interpreter, type Mount, toBwrapArgs } from './interpreter';

export interface RecordedStep {
  ordinal: number;
  kind: string;
  name: string;
  result: unknown;
}

export interface Suspension extends Record<string, unknown> {
  kind: 'sleep' | 'approve' | 'call';
  step: { ordinal: number; kind: string; name: string };
}

export type Outcome =
  | { kind: 'returned'; output: unknown }
  | { kind: 'suspended'; suspension: Suspension }
  /** `step`: the one that failed last, which the code did not go on from. */
  | { kind: 'raised'; type: string; message: string; trace: string; step: string | null }
  | { kind: 'timed_out' }
  | { kind: 'stopped' }
  | { kind: 'died'; message: string };

export type ToolReply = { result: unknown } | { failed: { code: string; message: string } };

export interface ToolCall {
  ordinal: number;
  connection: string;
  tool: string;
}

export interface ExecutionHooks {
  onEvent(type: 'log' | 'progress' | 'cost' | 'step' | 'artifact', data: Record<string, unknown>): void;
  onTool(call: ToolCall): ToolReply;
}

export interface ExecutionRequest {
  python: Interpreter;
  /** Null: without a sandbox. */
  sandbox: { hasNetwork: boolean } | null;
  /** Where driver and harness are. */
  harnessDir: string;
  codeDir: string;
  /** A folder with packages; null: none. */
  packages: string | null;
  /** Files and folders that lie in the working directory. */
  mounts: Mount[];
  artifactsDir: string;
  /** Null: none. */
  timeoutMs: number | null;
  memoryBytes: number;
  /** As the harness reads it. */
  job: Record<string, unknown>;
  recorded: RecordedStep[];
  signal: AbortSignal;
}

const LOGS_GRACE_MS = 1_000;
const OUTPUT_BYTES_MAX = 8 * 1024 * 1024;
const STEP_BYTES_MAX = 64 * 1024;
export const STEP_FAILED = 'gantry:failed';

/** Inside of the sandbox. */
const SANDBOX_PATHS = { harness: '/host/python', code: '/code', workDir: '/tmp' };
/** Clients find proxies and certificates by these. */
const INHERITED_VARIABLES = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'],
];

/** Records steps in `recorded` as they come. @throws Error for a message that the harness does not send */
export async function execute(request: ExecutionRequest, hooks: ExecutionHooks): Promise<Outcome> {
  const { timeoutMs, signal } = request;
  if (signal.aborted) return { kind: 'stopped' };
  const workDir = request.sandbox ? null : createWorkDir(request.mounts);
  const child = startProcess(request, workDir);
  const stop = (): void => killGroup(child);
  let isLate = false;
  const onTimeout = (): void => {
    isLate = true;
    stop();
  };
  const timer = timeoutMs === null ? undefined : setTimeout(onTimeout, timeoutMs);
  signal.addEventListener('abort', stop);
  // Before its folders are removed.
  process.prependOnceListener('exit', stop);
  try {
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, killedBy) => resolve(killedBy ? `signal ${killedBy}` : `exit code ${code}`));
    });
    const logs = [child.stdout, child.stderr].map((stream, index) => {
      const level = index ? 'warning' : 'info';
      const lines = createInterface({ input: stream as NodeJS.ReadableStream });
      lines.on('line', (text) => hooks.onEvent('log', { level, text }));
      return new Promise((resolve) => lines.once('close', resolve));
    });
    const outcome = await runProtocol(child.stdio[3] as Duplex, request, workDir, hooks);
    const how = await ended;
    // A process that the code left behind may hold them open.
    await Promise.race([Promise.all(logs), delay(LOGS_GRACE_MS)]);
    if (signal.aborted) return { kind: 'stopped' };
    if (isLate) return { kind: 'timed_out' };
    return outcome ?? { kind: 'died', message: `the process ended with ${how} before returning a result` };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    process.removeListener('exit', stop);
    stop();
    if (workDir) removeTemporaryDir(workDir);
  }
}

/** With what it has started: bwrap that is killed early leaves a process behind, and code may, too. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    // It is gone; macOS says EPERM where only its record is left.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Below /tmp, as in the sandbox: code may return paths of files there. */
function createWorkDir(mounts: Mount[]): string {
  const workDir = createTemporaryDir('gantry-run-', '/tmp');
  for (const { from, to } of mounts) fs.cpSync(from, path.join(workDir, to), { recursive: true });
  return workDir;
}

function startProcess(request: ExecutionRequest, workDir: string | null): ChildProcess {
  const { python, sandbox, harnessDir, codeDir, packages, mounts } = request;
  const inherited = INHERITED_VARIABLES.flatMap((name) =>
    process.env[name] ? [[name, process.env[name]] as const] : [],
  );
  const home = workDir ?? SANDBOX_PATHS.workDir;
  const environment: Record<string, string> = {
    PATH: '/usr/bin:/bin',
    HOME: home,
    TMPDIR: home,
    LANG: 'C.UTF-8',
    ...Object.fromEntries(inherited),
  };
  const toArgs = (harness: string) => ['-I', '-S', '-B', path.join(harness, 'local_run.py')];
  // breakpoint() talks to the terminal; see local_run.py.
  const stdin = process.stdin.isTTY ? 'inherit' : 'ignore';
  const stdio: [typeof stdin, 'pipe', 'pipe', 'pipe'] = [stdin, 'pipe', 'pipe', 'pipe'];
  const options = { stdio, detached: true };
  if (!sandbox) return spawn(python.executable, toArgs(harnessDir), { env: environment, ...options });
  const certificates = ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'].flatMap((name) => environment[name] ?? []);
  const args = toBwrapArgs({
    python,
    hasNetwork: sandbox.hasNetwork,
    environment,
    mounts: [
      { from: harnessDir, to: SANDBOX_PATHS.harness },
      { from: codeDir, to: SANDBOX_PATHS.code },
      // Where the harness looks for them.
      ...(packages === null ? [] : [{ from: packages, to: '/deps' }]),
      ...certificates.filter((file) => fs.existsSync(file)).map((file) => ({ from: file, to: file })),
      ...mounts.map(({ from, to }) => ({ from, to: path.posix.join(SANDBOX_PATHS.workDir, to) })),
    ],
  });
  return spawn('bwrap', [...args, python.executable, ...toArgs(SANDBOX_PATHS.harness)], options);
}

function buildInstruction(
  { sandbox, codeDir, packages, memoryBytes, job, recorded }: ExecutionRequest,
  workDir: string,
) {
  return {
    root: sandbox ? SANDBOX_PATHS.code : codeDir,
    workDir,
    packages: sandbox || packages === null ? [] : [packages],
    memoryBytes,
    job: { ...job, op: 'run', outputBytes: OUTPUT_BYTES_MAX, ...(recorded.length && { steps: recorded }) },
  };
}

interface OpenArtifact {
  name: string;
  contentType: string;
  size: number;
  left: number;
  fd: number;
}

/** @returns null where the process ended without an answer */
async function runProtocol(
  channel: Duplex,
  request: ExecutionRequest,
  ownWorkDir: string | null,
  hooks: ExecutionHooks,
): Promise<Outcome | null> {
  // A process that was killed does not read its channel.
  channel.on('error', () => {});
  const reply = (value: object): void => void channel.write(toFrame(value));
  const workDir = ownWorkDir ?? SANDBOX_PATHS.workDir;
  reply(buildInstruction(request, workDir));
  let suspension: Suspension | null = null;
  let artifact: OpenArtifact | null = null;
  let skipped = 0;
  let hasOutput = false;

  function finishArtifact({ name, contentType, size, fd }: OpenArtifact): void {
    fs.closeSync(fd);
    hooks.onEvent('artifact', { name, content_type: contentType, size });
    reply({ artifactId: `local_${name}` });
    artifact = null;
  }

  function recordStep(step: RecordedStep): void {
    request.recorded.push(step);
    hooks.onEvent('step', { kind: step.kind, name: step.name });
  }

  function callTool(call: ToolCall): ToolReply {
    const answer = hooks.onTool(call);
    const name = `${call.connection === MODELS_CONNECTION ? 'model' : call.connection}.${call.tool}`;
    const result = 'failed' in answer ? { [STEP_FAILED]: answer.failed } : answer.result;
    recordStep({ ordinal: call.ordinal, kind: 'tool', name, result });
    return answer;
  }

  try {
    for await (const body of readFrames(channel)) {
      if (hasOutput) return { kind: 'returned', output: JSON.parse(body.toString()) };
      if (artifact) {
        fs.writeSync(artifact.fd, body, 1);
        artifact.left -= body.length - 1;
        if (artifact.left <= 0) finishArtifact(artifact);
        continue;
      }
      if (skipped > 0) {
        skipped -= body.length - 1;
        if (skipped <= 0) reply({ kept: true });
        continue;
      }
      // biome-ignore lint/suspicious/noExplicitAny: messages of our own harness
      const message: any = JSON.parse(body.toString());
      switch (message.t) {
        case 'log':
          hooks.onEvent('log', {
            level: message.level,
            text: message.text,
            ...(message.fields && { fields: JSON.parse(message.fields) }),
          });
          break;
        case 'progress':
          hooks.onEvent('progress', { fraction: message.fraction, message: message.message });
          break;
        case 'cost':
          hooks.onEvent('cost', { usd: message.usd, label: message.label });
          break;
        case 'artifact': {
          const name = path.basename(message.name);
          fs.mkdirSync(request.artifactsDir, { recursive: true });
          const fd = fs.openSync(path.join(request.artifactsDir, name), 'w');
          artifact = { name, contentType: message.contentType, size: message.size, left: message.size, fd };
          reply({ go: true });
          if (message.size === 0) finishArtifact(artifact);
          break;
        }
        case 'context':
          hooks.onEvent('log', {
            level: 'warning',
            text: `context ${message.name} was changed; local changes are not saved`,
          });
          skipped = message.size;
          reply({ go: true });
          break;
        case 'attachment':
          reply({ known: true });
          break;
        case 'step': {
          const result = message.failed ? { [STEP_FAILED]: message.failed } : (message.result ?? null);
          const bytes = Buffer.byteLength(JSON.stringify(result));
          if (bytes > STEP_BYTES_MAX) {
            const what = `${message.kind} ${JSON.stringify(message.name)}`;
            const problem = `the result of ${what} is ${bytes} bytes of JSON; the limit is ${STEP_BYTES_MAX}`;
            reply({ refused: `${problem}: save it as an artifact, or return less` });
            break;
          }
          recordStep({ ordinal: message.ordinal, kind: message.kind, name: message.name, result });
          reply({ result });
          break;
        }
        case 'tool':
          reply(callTool(message));
          break;
        case 'tools':
          reply({ answers: message.calls.map(callTool) });
          break;
        case 'suspend':
          suspension = message.suspension;
          reply({ go: true });
          break;
        case 'result':
          if (suspension && (message.ok || !['cpu', 'memory'].includes(message.kind))) {
            return { kind: 'suspended', suspension };
          }
          if (!message.ok) {
            const { type, error, trace, step } = message;
            return { kind: 'raised', type, message: error, trace, step: step?.name ?? null };
          }
          hasOutput = true;
          break;
        default:
          throw new Error(`unknown message type from the harness: ${String(message.t)}`);
      }
    }
  } catch (error) {
    // The process was killed while it was writing.
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  }
  return null;
}

/** The connection under which code asks models. */
export const MODELS_CONNECTION = 'gantry:models';
