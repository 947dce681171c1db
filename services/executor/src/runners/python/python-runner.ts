/** Runs Python programs, each in a sealed child of the sandbox. */
import type { Job, PrepareRequest, SandboxInfo } from '@gantry/events';
import type { Dependencies, LockAccess } from '../../dependencies/dependencies';
import { DependencyError } from '../../dependencies/requirement';
import type { EgressProxy, EgressRules } from '../../egress/proxy';
import type { Child } from '../../sandbox/child';
import type { Isolation, Sandbox } from '../../sandbox/sandbox';
import type { SandboxSpec } from '../../sandbox/settings';
import type { WarmRequest } from '../../sandbox/warm-pool';
import type { CodeStore } from '../../store/code-store';
import type { ContextStore } from '../../store/context-store';
import {
  type InstallHooks,
  NotPreparedError,
  type PreparedRun,
  type PrepareHooks,
  type Runner,
  type RunProcess,
} from '../runner';
import { toRunOutcome } from './explain-outcome';
import { inspect } from './inspect';
import { runInChild } from './run-in-child';
import { buildSandboxJob, buildSandboxSpec } from './run-request';

export interface PythonRunnerDeps {
  sandbox: Sandbox;
  code: CodeStore;
  contexts: ContextStore;
  dependencies: Dependencies;
  egress: EgressProxy;
  isolation: Isolation;
}

/** Limit of the egress proxy, for both directions together. */
const EGRESS_BYTES_MAX = 1 << 30;

export const createPythonRunner = (deps: PythonRunnerDeps): Runner => ({
  prepare: (job, hooks) => prepare(deps, job, hooks),
  async prepareAhead(announcement, isStandby, hooks) {
    const set = announcement.dependencies.length ? await installAnnounced(deps, announcement, hooks) : undefined;
    try {
      const warm = toWarmRequest(deps, announcement);
      if (!warm) return;
      const unpin = await warm.pin();
      await deps.sandbox.importAhead(warm, isStandby);
      unpin();
    } finally {
      set?.unpin();
    }
  },
  endOutdated(announcement) {
    if (announcement.subject) deps.sandbox.endOthers(announcement.subject, toWarmRequest(deps, announcement));
  },
  inspect: (request) => inspect(deps, request),
});

async function installAnnounced(
  { dependencies: sets }: PythonRunnerDeps,
  { dependencies, locks }: PrepareRequest,
  { onProgress, onInstalled }: InstallHooks,
) {
  try {
    const set = await sets.pin(dependencies, () => {}, sets.toLockAccess(locks), onProgress);
    onInstalled({ platform: sets.platform, packages: locks?.[sets.platform] ?? sets.readPackages(set.digest) });
    return set;
  } catch (err) {
    throw toNotPrepared(err);
  }
}

const toNotPrepared = (err: unknown): unknown =>
  err instanceof DependencyError ? new NotPreparedError('dependency_install', err.message) : err;

async function prepare(deps: PythonRunnerDeps, job: Job, hooks: PrepareHooks): Promise<PreparedRun> {
  const network = (job.kind === 'run' || job.rehearsal !== undefined) && job.network === 'egress';
  const pass = network ? deps.egress.admit(buildEgressRules(job, hooks)) : undefined;
  const pins: (() => void)[] = [];
  const unpin = () => {
    for (const each of pins.splice(0)) each();
  };
  try {
    const { agreeOnLock: agree } = hooks;
    const lock = agree && { digests: job.locks ?? {}, agree };
    const depsDigest = await pinFiles(deps, { ...job, lock }, hooks.logProgress, pins);
    const spec = buildSandboxSpec(job, depsDigest, network);
    const isolation = deps.isolation === 'process' ? 'process' : job.isolation;
    const warm =
      isolation === 'zygote' && canUseWarmPool(job)
        ? buildWarmRequest(deps, { ...job, lock }, spec, listSecretNames(job))
        : undefined;
    let child: Child | undefined;
    let hasRun = false;

    const toRunProcess = (acquired: Child, sandboxUsage: SandboxInfo): RunProcess => {
      child = acquired;
      return {
        isDead: () => acquired.state === 'dead',
        kill: (reason) => acquired.kill(reason),
        async run(input, runHooks, onAnswer) {
          const request = {
            spec,
            limits: job.limits,
            mayBegin: input.canBegin,
            job: buildSandboxJob(job, input, pass?.nonce),
          };
          const { outcome, usage, gone } = await runInChild(acquired, request, runHooks, onAnswer);
          // Revoked now, because nothing can be reported once the run has ended.
          pass?.revoke();
          hasRun = true;
          return {
            outcome: toRunOutcome(outcome, job),
            usage: { ...usage, sandbox: sandboxUsage },
            gone: gone.then(unpin),
          };
        },
      };
    };

    return {
      start() {
        const { child: imported, reason } = warm ? deps.sandbox.acquireWarm(warm) : {};
        const acquireFreshChild = () => {
          const acquired = deps.sandbox.acquire(isolation, spec);
          const sandboxUsage: SandboxInfo = {
            mode: isolation === 'process' ? 'process' : 'fresh',
            ...(reason && { reason }),
          };
          return acquired instanceof Promise
            ? acquired.then((one) => toRunProcess(one, sandboxUsage))
            : toRunProcess(acquired, sandboxUsage);
        };
        const acquireUnlessWarm = (acquired: Child | undefined) =>
          acquired ? toRunProcess(acquired, { mode: 'warm' }) : acquireFreshChild();
        return imported instanceof Promise ? imported.then(acquireUnlessWarm) : acquireUnlessWarm(imported);
      },
      close() {
        pass?.revoke();
        if (hasRun) return;
        child?.kill('not executed');
        unpin();
      },
    };
  } catch (err) {
    pass?.revoke();
    unpin();
    throw toNotPrepared(err);
  }
}

/** Returns whether a run can be warm: contexts are mounted for each run, and an agent has no module to import. */
const canUseWarmPool = ({
  kind,
  fresh,
  agent,
  contexts = [],
  rehearsal,
}: Pick<Job, 'kind' | 'fresh' | 'agent' | 'contexts' | 'rehearsal'>): boolean =>
  kind === 'run' && !fresh && !agent && !contexts.length && !rehearsal;

/** Lists the names of secrets in its environment. */
const listSecretNames = ({ secrets = {}, credentials = [] }: Job): string[] => [
  ...Object.keys(secrets),
  ...credentials.flatMap(({ kind, name }) => (kind === 'secret' ? [name] : [])),
];

/** Converts an announcement to the request of its runs. Undefined: they will not be warm. */
function toWarmRequest(
  deps: PythonRunnerDeps,
  { dependencies, locks, subject }: PrepareRequest,
): WarmRequest | undefined {
  const { program } = subject ?? {};
  if (!subject || !program || deps.isolation === 'process') return undefined;
  if (program.isolation === 'process' || !canUseWarmPool({ kind: 'run', ...program })) return undefined;
  const lock = deps.dependencies.toLockAccess(locks);
  let set: string | null = null;
  try {
    if (dependencies.length) set = deps.dependencies.getSetKey(dependencies, lock.digests);
  } catch {
    return undefined;
  }
  const files = { ...subject, ...program, dependencies, lock };
  return buildWarmRequest(
    deps,
    files,
    buildSandboxSpec(program, set, program.network === 'egress'),
    program.secretNames,
  );
}

function buildWarmRequest(
  deps: PythonRunnerDeps,
  job: JobFiles & Pick<Job, 'workspaceId' | 'subjectId' | 'entrypoint' | 'limits'>,
  spec: SandboxSpec,
  secretNames: string[],
): WarmRequest {
  const { workspaceId, subjectId, entrypoint, limits } = job;
  return {
    workspaceId,
    subjectId,
    entrypoint,
    memoryBytes: limits.memoryBytes,
    processes: limits.processes,
    // Plus one process, which forks the runs.
    spec: { ...spec, limits: { ...spec.limits, NPROC: spec.limits.NPROC + 1 } },
    secretNames: [...secretNames].sort(),
    async pin() {
      const pins: (() => void)[] = [];
      const unpin = () => {
        for (const each of pins.splice(0)) each();
      };
      try {
        const set = await pinFiles(deps, { ...job, expectedSet: spec.deps }, () => {}, pins);
        if (set !== spec.deps) throw new Error('the packages differ from those announced');
      } catch (err) {
        unpin();
        throw err;
      }
      return unpin;
    },
  };
}

const buildEgressRules = (
  { allowedHosts, credentials, rehearsal }: Job,
  { onRequest, answerTo = () => null }: PrepareHooks,
): EgressRules => ({
  bytesMax: EGRESS_BYTES_MAX,
  allowedHosts,
  onRequest,
  // Code with an exposed value needs its own TLS: it pins certificates, or signs.
  credentials: credentials?.filter(({ exposed }) => !exposed),
  ...(rehearsal ? { answerTo, isSealed: rehearsal.isUnread === true } : { keepsAnswers: true }),
});

type JobFiles = Pick<Job, 'code' | 'contexts' | 'dependencies'> & {
  lock?: LockAccess | undefined;
  /** Digest of the set that an earlier run, or an announcement, has installed. */
  expectedSet?: string | null;
};

/** Pins the files of a job. @returns the digest of its dependencies; null if it has none */
async function pinFiles(
  { code, contexts, dependencies }: PythonRunnerDeps,
  job: JobFiles,
  log: (text: string) => void,
  pins: (() => void)[],
): Promise<string | null> {
  const pinned = code.pin(job.code);
  if (pinned) await pinned;
  pins.push(() => code.unpin(job.code));
  for (const context of job.contexts ?? []) {
    await contexts.pin(context);
    pins.push(() => contexts.unpin(context));
  }
  if (!job.dependencies.length) return null;
  const stored = job.expectedSet && dependencies.pinStored(job.expectedSet);
  const set = stored || (await dependencies.pin(job.dependencies, log, job.lock));
  pins.push(set.unpin);
  return set.digest;
}
