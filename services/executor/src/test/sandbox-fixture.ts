/** Builds a sandbox with its own store, as in the executor, for tests of the sandbox alone. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { waitUntil } from '@gantry/testing';
import { findInterpreter } from '../runners/python/interpreter';
import { type ChildResult, runInChild, type SandboxJob } from '../runners/python/run-in-child';
import type { RunHooks } from '../runners/runner';
import { openCgroups, prepareCgroups } from '../sandbox/cgroup';
import type { Child } from '../sandbox/child';
import { prepareLayout } from '../sandbox/layout';
import { type Isolation, startSandbox } from '../sandbox/sandbox';
import { type SandboxSettings, type SandboxSpec, TMP_BYTES_DEFAULT } from '../sandbox/settings';
import type { WarmRequest } from '../sandbox/warm-pool';

/** Sandboxes never run as root: if the tests do, their sandboxes use this uid. */
export const testOwner = process.getuid?.() === 0 ? { uid: 61_234, gid: 61_234 } : null;

export function createTemporaryLayout() {
  const base = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? os.tmpdir(), 'executor-'));
  fs.chmodSync(base, 0o755);
  return prepareLayout(path.join(base, 'x'), testOwner);
}

export function buildTestSettings(overrides: Partial<SandboxSettings> = {}): SandboxSettings {
  if (testOwner) prepareCgroups(testOwner.uid, testOwner.gid);
  const layout = createTemporaryLayout();
  const interpreter = findInterpreter();
  return {
    ...layout,
    bwrap: 'bwrap',
    python: interpreter.executable,
    readOnlyPaths: ['/usr', ...interpreter.prefixes],
    slots: 4,
    warmBytes: 256 << 20,
    cgroups: openCgroups(testOwner?.uid),
    runAs: testOwner,
    recycleForks: 5_000,
    recycleMs: 1_800_000,
    ...overrides,
  };
}

export interface RunOptions {
  spec?: Partial<SandboxSpec>;
  job?: Partial<SandboxJob>;
  inputs?: Record<string, unknown>;
  wallMs?: number;
  memoryBytes?: number;
  hooks?: Partial<RunHooks>;
  isolation?: TestIsolation;
  onChild?: (child: Child) => void;
}

export interface SandboxRun extends ChildResult {
  isWarm: boolean;
  stdout: string;
  stderr: string;
  logs: { level: string; text: string; fields: Record<string, unknown> | undefined }[];
  /** The output of a run that returned; otherwise a text that describes its end. */
  value: unknown;
  child: Child;
}

/** @property secretNames those of all runs */
export interface WarmOptions extends RunOptions {
  secretNames?: string[];
  workspaceId?: string;
  subjectId?: string;
}

export type TestSandbox = Awaited<ReturnType<typeof startTestSandbox>>;
export type WarmRuns = ReturnType<TestSandbox['createWarmRuns']>;

/** `warm`: each run uses a process that has already imported the code. */
export type TestIsolation = Isolation | 'warm';
export const ISOLATIONS = ['zygote', 'warm', 'process'] as const;

export async function startTestSandbox(overrides: Partial<SandboxSettings> = {}, isolation: TestIsolation = 'zygote') {
  const settings = buildTestSettings(overrides);
  const sandbox = await startSandbox(settings, isolation === 'process' ? 'process' : 'zygote');

  function storeFiles(files: Record<string, string | Buffer>): string {
    const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex');
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(settings.storeDir, digest, name);
      if (fs.existsSync(file)) continue;
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, content);
    }
    return digest;
  }

  function buildSpec(
    code: string | Record<string, string>,
    { memoryBytes = 512 << 20, spec }: RunOptions,
  ): SandboxSpec {
    return {
      code: storeFiles(typeof code === 'string' ? { 'main.py': code } : code),
      deps: null,
      egress: false,
      tmpBytes: TMP_BYTES_DEFAULT,
      cpuSeconds: 20,
      limits: { DATA: memoryBytes, NPROC: 32, FSIZE: 64 << 20 },
      ...spec,
    };
  }

  async function run(code: string | Record<string, string>, options: RunOptions = {}): Promise<SandboxRun> {
    const requestedIsolation = options.isolation ?? isolation;
    if (requestedIsolation === 'warm')
      return createWarmRuns(code, { ...options, secretNames: Object.keys(options.job?.env ?? {}) }).run();
    const spec = buildSpec(code, options);
    const child = await sandbox.acquire(requestedIsolation, spec);
    return runInSandboxChild(child, spec, options);
  }

  function createWarmRuns(
    code: string | Record<string, string>,
    { secretNames = [], workspaceId = 'ws_1', subjectId = 'wkr_1', ...sharedOptions }: WarmOptions = {},
  ) {
    const spec = buildSpec(code, sharedOptions);
    const entrypoint = sharedOptions.job?.entrypoint ?? 'main.py';
    const request: WarmRequest = {
      workspaceId,
      subjectId,
      spec,
      entrypoint,
      secretNames,
      memoryBytes: sharedOptions.memoryBytes ?? 512 << 20,
      processes: 32,
      pin: async () => () => {},
    };
    return {
      request,
      /** Runs in a process that has imported the code, as soon as one waits; in a fresh one if the code can't be warm. */
      async run(options: RunOptions = {}): Promise<SandboxRun> {
        const found = await waitUntil(async () => {
          const { child, reason } = sandbox.acquireWarm(request);
          return (await child) ?? reason;
        });
        const child = typeof found === 'string' ? await sandbox.acquire('zygote', spec) : found;
        return runInSandboxChild(child, spec, { ...sharedOptions, ...options });
      },
      /** Runs once, in a warm or a fresh process. */
      async runNext(options: RunOptions = {}) {
        const child = (await sandbox.acquireWarm(request).child) ?? (await sandbox.acquire('zygote', spec));
        return runInSandboxChild(child, spec, { ...sharedOptions, ...options });
      },
      /** Waits for the reason why it can't be warm. */
      waitForReason: () => waitUntil(() => sandbox.acquireWarm(request).reason),
    };
  }

  async function runInSandboxChild(child: Child, spec: SandboxSpec, options: RunOptions): Promise<SandboxRun> {
    const memoryBytes = options.memoryBytes ?? 512 << 20;
    const out = { stdout: '', stderr: '' };
    const logs: SandboxRun['logs'] = [];
    options.onChild?.(child);
    const finished = await runInChild(
      child,
      {
        spec,
        job: { op: 'run', entrypoint: 'main.py', inputs: options.inputs ?? {}, outputBytes: 8 << 20, ...options.job },
        limits: { wallMs: options.wallMs ?? 120_000, memoryBytes, processes: 32 },
      },
      {
        onStream: (stream, chunk) => {
          out[stream] += chunk;
        },
        onLog: (level, text, fields) => logs.push({ level, text, fields }),
        onProgress: () => {},
        onCost: () => {},
        openArtifact: async () => ({ refused: 'not here' }),
        ...options.hooks,
      },
    );
    return { ...finished, ...out, logs, value: toValue(finished), child, isWarm: child.id.includes('.') };
  }
  return { sandbox, settings, storeFiles, run, createWarmRuns };
}

function toValue({ outcome }: ChildResult): unknown {
  switch (outcome.kind) {
    case 'returned':
      return JSON.parse(outcome.json.toString());
    case 'raised':
      return `${outcome.type}: ${outcome.message}`;
    case 'killed':
      return `killed: ${outcome.reason}`;
    case 'broken':
      return `broken: ${outcome.message}`;
    default:
      return outcome.kind;
  }
}
