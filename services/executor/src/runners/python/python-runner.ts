/** Runs Python programs, each in a sealed child of the sandbox. */
import type { Job } from '@gantry/events';
import { type Dependencies, DependencyError } from '../../dependencies/dependencies';
import type { EgressProxy, EgressRules } from '../../egress/proxy';
import type { Child } from '../../sandbox/child';
import type { Isolation, Sandbox } from '../../sandbox/sandbox';
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
    let child: Child | undefined;
    let hasRun = false;

    const processOf = (taken: Child): RunProcess => {
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
          // Now, because nothing can be reported once the run has ended.
          pass?.revoke();
          hasRun = true;
          return { outcome: outcomeOf(outcome, job), usage, gone: gone.then(unpin) };
        },
      };
    };

    return {
      start() {
        const taken = deps.sandbox.acquire(isolation, spec);
        return taken instanceof Promise ? taken.then(processOf) : processOf(taken);
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

const egressRulesOf = (
  { allowedHosts, credentials, rehearsal }: Job,
  { onRequest, answerTo = () => null }: PrepareHooks,
): EgressRules => ({
  ...{ bytesMax: EGRESS_BYTES_MAX, allowedHosts, onRequest },
  // Code that has the value needs its own TLS: it pins certificates, or signs.
  credentials: credentials?.filter(({ exposed }) => !exposed),
  ...(rehearsal ? { answerTo } : { keepsAnswers: true }),
});

/** @returns the digest of its dependencies; null if it has none */
async function pinFiles(
  { code, contexts, dependencies }: PythonRunnerDeps,
  job: Job,
  { say }: PrepareHooks,
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
