import { describeClockProblem } from '@gantry/env';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { ok, respondWith } from './handler';

export interface DependencyState {
  name: string;
  up: boolean;
  /** Response time; null: no response in time. */
  latencyMs: number | null;
  /** A problem although it is up. */
  problem?: string | undefined;
}

export type Health = ReturnType<typeof createHealth>;

const CHECK_MS = 1_500;

/**
 * Serves liveness and readiness. `/healthz`: the process is alive. `/health`: it can work; 503 names the dependency
 * that is down, or draining. While only `degrading` ones are down it responds 200: a load balancer that removed all
 * replicas would also disable everything that works without them.
 * @param checks reject, or take longer than 1.5 s, while their dependency is down; a sentence is a problem that is
 *   reported but does not end readiness, since no load balancer could fix it
 */
export function createHealth(
  checks: Record<string, () => Promise<unknown>>,
  { optionalDependencies = [], log }: { optionalDependencies?: string[]; log?: Logger } = {},
) {
  let draining = false;
  let hadProblems = false;

  function summarizeStatus(states: DependencyState[]): 'ok' | 'degraded' | 'unavailable' | 'draining' {
    if (draining) return 'draining';
    const down = listFailedDependencies(states);
    if (!down.length) return 'ok';
    // Bounded: the dependencies of a service.
    return down.every((name) => optionalDependencies.includes(name)) ? 'degraded' : 'unavailable';
  }

  const checkDependencies = () =>
    Promise.all(Object.entries(checks).map(([name, check]) => measureDependency(name, check)));
  return {
    /** Checks every dependency now. */
    dependencies: checkDependencies,
    statusOf: summarizeStatus,
    /** Makes /health return 503 from now on, so that load balancers stop sending requests. */
    drain: () => {
      draining = true;
    },
    operations: {
      live: () => ok({ status: 'ok' }),
      ready: async () => {
        const states = await checkDependencies();
        const problems = states.flatMap(({ problem = [] }) => problem);
        if (problems.length && !hadProblems) log?.error({ problems }, 'ready, but with problems');
        hadProblems = problems.length > 0;
        const down = listFailedDependencies(states);
        const status = summarizeStatus(states);
        const body = { status, ...(down.length && { down }), ...(problems.length && { problems }) };
        return ['ok', 'degraded'].includes(status) ? ok(body) : respondWith(503, body, { 'Retry-After': '2' });
      },
    },
  };
}

const listFailedDependencies = (states: DependencyState[]): string[] =>
  states.filter(({ up }) => !up).map(({ name }) => name);

async function measureDependency(name: string, check: () => Promise<unknown>): Promise<DependencyState> {
  const before = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<DependencyState>((resolve) => {
    timer = setTimeout(() => resolve({ name, up: false, latencyMs: null }), CHECK_MS);
  });
  const toState = (up: boolean, checkResult?: unknown) => ({
    name,
    up,
    latencyMs: Math.round((performance.now() - before) * 10) / 10,
    ...(typeof checkResult === 'string' && { problem: checkResult }),
  });
  const state = check().then(
    (checkResult) => toState(true, checkResult),
    () => toState(false),
  );
  return Promise.race([state, timeout]).finally(() => clearTimeout(timer));
}

export const createPostgresCheck = (pool: Pool) => async () => {
  const askedAt = Date.now();
  const { rows } = await pool.query('SELECT clock_timestamp() AS now');
  return describeClockProblem('PostgreSQL', rows[0].now, askedAt);
};
