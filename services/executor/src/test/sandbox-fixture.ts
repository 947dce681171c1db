/** A sandbox with a store of its own, built as in the executor, for tests of the sandbox alone. */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findInterpreter } from '../runners/python/interpreter';
import { type Finished, runInChild, type SandboxJob } from '../runners/python/run-in-child';
import type { RunHooks } from '../runners/runner';
import { openCgroups, prepareCgroups } from '../sandbox/cgroup';
import type { Child } from '../sandbox/child';
import { prepareLayout } from '../sandbox/layout';
import { type Isolation, type Sandbox, startSandbox } from '../sandbox/sandbox';
import { type SandboxSettings, type SandboxSpec, TMP_BYTES_DEFAULT } from '../sandbox/settings';

/** Sandboxes never run as root: if the tests do, their sandboxes use this uid. */
export const testOwner = process.getuid?.() === 0 ? { uid: 61_234, gid: 61_234 } : null;

export function temporaryLayout() {
  const base = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? os.tmpdir(), 'executor-'));
  fs.chmodSync(base, 0o755);
  return prepareLayout(path.join(base, 'x'), testOwner);
}

export function testSettings(overrides: Partial<SandboxSettings> = {}): SandboxSettings {
  if (testOwner) prepareCgroups(testOwner.uid, testOwner.gid);
  const layout = temporaryLayout();
  const interpreter = findInterpreter();
  return {
    ...layout,
    bwrap: 'bwrap',
    python: interpreter.executable,
    readOnlyPaths: ['/usr', ...interpreter.prefixes],
    slots: 4,
    cgroups: openCgroups(),
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
  isolation?: Isolation;
  onChild?: (child: Child) => void;
}

export interface SandboxRun extends Finished {
  stdout: string;
  stderr: string;
  logs: { level: string; text: string; fields: Record<string, unknown> | undefined }[];
  /** The output of a run that returned; otherwise a text that describes its end. */
  value: unknown;
  child: Child;
}

export interface TestSandbox {
  sandbox: Sandbox;
  settings: SandboxSettings;
  put(files: Record<string, string | Buffer>): string;
  run(code: string | Record<string, string>, options?: RunOptions): Promise<SandboxRun>;
}

export async function testSandbox(
  overrides: Partial<SandboxSettings> = {},
  isolation: Isolation = 'zygote',
): Promise<TestSandbox> {
  const settings = testSettings(overrides);
  const sandbox = await startSandbox(settings, isolation);

  function put(files: Record<string, string | Buffer>): string {
    const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex');
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(settings.storeDir, digest, name);
      if (fs.existsSync(file)) continue;
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, content);
    }
    return digest;
  }

  async function run(code: string | Record<string, string>, options: RunOptions = {}): Promise<SandboxRun> {
    const memoryBytes = options.memoryBytes ?? 512 << 20;
    const spec: SandboxSpec = {
      code: put(typeof code === 'string' ? { 'main.py': code } : code),
      deps: null,
      egress: false,
      tmpBytes: TMP_BYTES_DEFAULT,
      cpuSeconds: 20,
      limits: { DATA: memoryBytes, NPROC: 32, FSIZE: 64 << 20 },
      ...options.spec,
    };
    const out = { stdout: '', stderr: '' };
    const logs: SandboxRun['logs'] = [];
    const child = await sandbox.acquire(options.isolation ?? isolation, spec);
    options.onChild?.(child);
    const finished = await runInChild(
      child,
      {
        spec,
        job: { op: 'run', entrypoint: 'main.py', inputs: options.inputs ?? {}, outputBytes: 8 << 20, ...options.job },
        limits: { wallMs: options.wallMs ?? 20_000, memoryBytes, processes: 32 },
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
    return { ...finished, ...out, logs, value: shownValue(finished), child };
  }
  return { sandbox, settings, put, run };
}

function shownValue({ outcome }: Finished): unknown {
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
