/** Starts this machine's facilities for running code: sandboxes, a file store, the egress proxy, and their runners. */
import { computeLockDigest, PYTHON } from '@gantry/events';
import { createAddressPolicy } from '@gantry/safe-fetch';
import type { Logger } from 'pino';
import { createDependencies } from './dependencies/dependencies';
import type { PackageIndex } from './dependencies/package-index';
import { createUvLoader } from './dependencies/uv';
import { createCertificateAuthority } from './egress/certificate-authority';
import { startEgressProxy } from './egress/proxy';
import { createByteCompiler } from './runners/python/byte-compile';
import type { Interpreter } from './runners/python/interpreter';
import { createPythonRunner } from './runners/python/python-runner';
import { openCgroups } from './sandbox/cgroup';
import { addTrustedCertificate, type Layout, removeOwnDirectory } from './sandbox/layout';
import { type Isolation, startSandbox } from './sandbox/sandbox';
import type { SandboxSettings } from './sandbox/settings';
import { createToolRunner } from './sandbox/tool-run';
import { createCodeStore } from './store/code-store';
import { createContextStore } from './store/context-store';
import { openDirectoryStore } from './store/directory-store';

export interface MachineOptions {
  layout: Layout;
  interpreter: Interpreter;
  bwrap: string;
  runAs: SandboxSettings['runAs'];
  slots: number;
  isolation: Isolation;
  storeBytesMax: number;
  warmBytes: number;
  egressAllowPrivate: string[];
  packageIndex: PackageIndex;
  /** The program; null: pip installs packages. */
  uv: string | null;
  recycle?: { forks: number; ms: number };
}

const RECYCLE = { forks: 5_000, ms: 30 * 60_000 };

/** @throws if no sandbox can be built here */
export async function startMachine(
  options: MachineOptions,
  { log, onEgressDenied }: { log: Logger; onEgressDenied(reason: string): void },
) {
  const { layout, interpreter, slots, isolation, recycle = RECYCLE } = options;
  const store = openDirectoryStore(layout.storeDir, options.storeBytesMax);
  // The location of packages on this machine must not be visible to runs.
  const settings: SandboxSettings = {
    ...layout,
    bwrap: options.bwrap,
    python: interpreter.executable,
    readOnlyPaths: ['/usr', ...interpreter.prefixes],
    storeDir: store.directory,
    slots,
    warmBytes: options.warmBytes,
    cgroups: openCgroups(options.runAs?.uid),
    runAs: options.runAs,
    recycleForks: recycle.forks,
    recycleMs: recycle.ms,
  };
  const runTool = createToolRunner(settings);
  const authority = await createCertificateAuthority();
  addTrustedCertificate(layout, authority.certificate);
  const sandbox = await startSandbox(settings, isolation);
  const egress = await startEgressProxy({
    directory: layout.egressDir,
    policy: createAddressPolicy(options.egressAllowPrivate),
    authority,
    log,
    onDenied: onEgressDenied,
  });
  const python = createPythonRunner({
    sandbox,
    egress,
    isolation,
    code: createCodeStore({ store, finish: createByteCompiler(runTool) }),
    contexts: createContextStore({ store }),
    dependencies: createDependencies({
      store,
      computeLockDigest,
      runTool,
      egress,
      index: options.packageIndex,
      pythonVersion: interpreter.version,
      pipPath: interpreter.pipPath,
      uv: createUvLoader({ executable: options.uv, directory: layout.uvDir, runTool, log }),
    }),
  });
  return {
    /** Runners by name, as in claims and jobs. */
    runners: new Map([[PYTHON, python]]),
    python,
    cgroupVersion: settings.cgroups?.version ?? null,
    /** Number of sealed processes waiting for a run. */
    ready: sandbox.ready,
    warm: sandbox.warm,
    zygoteRestarts: sandbox.restarts,
    storeBytes: store.bytes,
    async stop() {
      await egress.stop();
      await sandbox.stop();
      removeOwnDirectory(layout);
    },
  };
}
