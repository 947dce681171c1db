/** Runs Python programs, each in a sealed child of the sandbox. */
import type { Job, PrepareRequest, UsedSandbox } from '@gantry/events';
import type { Dependencies } from '../../dependencies/dependencies';
import { DependencyError } from '../../dependencies/requirement';
import type { EgressProxy, EgressRules } from '../../egress/proxy';
import type { Child } from '../../sandbox/child';
import type { Isolation, Sandbox } from '../../sandbox/sandbox';
import type { SandboxSpec } from '../../sandbox/settings';
import type { WarmRequest } from '../../sandbox/warm-pool';
import type { CodeStore } from '../../store/code-store';
import type { ContextStore } from '../../store/context-store';
import { NotPrepared, type PreparedRun, type PrepareHooks, type Runner, type RunProcess } from '../runner';
import { outcomeOf } from './explain-outcome';
import { inspect } from './inspect';
import { runInChild } from './run-in-child';
import { sandboxJobOf, specOf } from './run-request';

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
  async prepareAhead(announced, isStandby) {
    const warm = announcedRequest(deps, announced);
    const unpin = warm ? await warm.pin() : (await deps.dependencies.pin(announced.dependencies, () => {})).unpin;
    if (warm) await deps.sandbox.importAhead(warm, isStandby);
    unpin();
  },
  endOutdated(announced) {
    if (announced.subject) deps.sandbox.endOthers(announced.subject, announcedRequest(deps, announced));
  },
  inspect: (request) => inspect(deps, request),
});

async function prepare(deps: PythonRunnerDeps, job: Job, hooks: PrepareHooks): Promise<PreparedRun> {
  const network = (job.kind === 'run' || job.rehearsal !== undefined) && job.network === 'egress';
  const pass = network ? deps.egress.admit(egressRulesOf(job, hooks)) : undefined;
  const pins: (() => void)[] = [];
  const unpin = () => {
    for (const each of pins.splice(0)) each();
  };
  try {
    const depsDigest = await pinFiles(deps, job, hooks, pins);
    const spec = specOf(job, depsDigest, network);
    const isolation = deps.isolation === 'process' ? 'process' : job.isolation;
    const warm =
      isolation === 'zygote' && mayBeWarm(job) ? warmRequestOf(deps, job, spec, secretNamesOf(job)) : undefined;
    let child: Child | undefined;
    let hasRun = false;

    const processOf = (taken: Child, used: UsedSandbox): RunProcess => {
      child = taken;
      return {
        isDead: () => taken.state === 'dead',
        kill: (reason) => taken.kill(reason),
        async run(given, runHooks, onAnswer) {
          const request = {
            ...{ spec, limits: job.limits, mayBegin: given.mayBegin },
            job: sandboxJobOf(job, given, pass?.nonce),
          };
          const { outcome, usage, gone } = await runInChild(taken, request, runHooks, onAnswer);
          // Revoked now, because nothing can be reported once the run has ended.
          pass?.revoke();
          hasRun = true;
          return {
            outcome: outcomeOf(outcome, job),
            usage: { ...usage, sandbox: used },
            gone: gone.then(unpin),
          };
        },
      };
    };

    return {
      start() {
        const { child: imported, reason } = warm ? deps.sandbox.acquireWarm(warm) : {};
        const fresh = () => {
          const taken = deps.sandbox.acquire(isolation, spec);
          const used: UsedSandbox = { mode: isolation === 'process' ? 'process' : 'fresh', ...(reason && { reason }) };
          return taken instanceof Promise ? taken.then((one) => processOf(one, used)) : processOf(taken, used);
        };
        const orFresh = (taken: Child | undefined) => (taken ? processOf(taken, { mode: 'warm' }) : fresh());
        return imported instanceof Promise ? imported.then(orFresh) : orFresh(imported);
      },
      close() {
        pass?.revoke();
        if (hasRun) return;
        child?.kill('not carried out');
        unpin();
      },
    };
  } catch (err) {
    pass?.revoke();
    unpin();
    throw err instanceof DependencyError ? new NotPrepared('dependency_install', err.message) : err;
  }
}

/** Returns whether a run can be warm: contexts are mounted for each run, and an agent has no module to import. */
const mayBeWarm = ({
  kind,
  fresh,
  agent,
  contexts = [],
  rehearsal,
}: Pick<Job, 'kind' | 'fresh' | 'agent' | 'contexts' | 'rehearsal'>): boolean =>
  kind === 'run' && !fresh && !agent && !contexts.length && !rehearsal;

/** Lists the names of secrets in its environment. */
const secretNamesOf = ({ secrets = {}, credentials = [] }: Job): string[] => [
  ...Object.keys(secrets),
  ...credentials.flatMap(({ kind, name }) => (kind === 'secret' ? [name] : [])),
];

/** Converts an announcement to the request of its runs. Undefined: they will not be warm. */
function announcedRequest(deps: PythonRunnerDeps, { dependencies, subject }: PrepareRequest): WarmRequest | undefined {
  const { program } = subject ?? {};
  if (!subject || !program || deps.isolation === 'process') return undefined;
  if (program.isolation === 'process' || !mayBeWarm({ kind: 'run', ...program })) return undefined;
  let set: string | null = null;
  try {
    if (dependencies.length) set = deps.dependencies.identify(dependencies).digest;
  } catch {
    return undefined;
  }
  const code = { ...subject, ...program, dependencies };
  return warmRequestOf(deps, code, specOf(program, set, program.network === 'egress'), program.secretNames);
}

function warmRequestOf(
  deps: PythonRunnerDeps,
  job: JobFiles & Pick<Job, 'workspaceId' | 'subjectId' | 'entrypoint' | 'limits'>,
  spec: SandboxSpec,
  secretNames: string[],
): WarmRequest {
  const { workspaceId, subjectId, entrypoint, limits } = job;
  return {
    ...{ workspaceId, subjectId, entrypoint, memoryBytes: limits.memoryBytes, processes: limits.processes },
    // Plus one process, which forks the runs.
    spec: { ...spec, limits: { ...spec.limits, NPROC: spec.limits.NPROC + 1 } },
    secretNames: [...secretNames].sort(),
    async pin() {
      const pins: (() => void)[] = [];
      const unpin = () => {
        for (const each of pins.splice(0)) each();
      };
      await pinFiles(deps, job, { say: () => {} }, pins).catch((err) => {
        unpin();
        throw err;
      });
      return unpin;
    },
  };
}

const egressRulesOf = (
  { allowedHosts, credentials, rehearsal }: Job,
  { onRequest, answerTo = () => null }: PrepareHooks,
): EgressRules => ({
  ...{ bytesMax: EGRESS_BYTES_MAX, allowedHosts, onRequest },
  // Code with an exposed value needs its own TLS: it pins certificates, or signs.
  credentials: credentials?.filter(({ exposed }) => !exposed),
  ...(rehearsal ? { answerTo } : { keepsAnswers: true }),
});

type JobFiles = Pick<Job, 'code' | 'contexts' | 'dependencies'>;

/** Pins the files of a job. @returns the digest of its dependencies; null if it has none */
async function pinFiles(
  { code, contexts, dependencies }: PythonRunnerDeps,
  job: JobFiles,
  { say }: Pick<PrepareHooks, 'say'>,
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
  const set = await dependencies.pin(job.dependencies, say);
  pins.push(set.unpin);
  return set.digest;
}
