import type { Pool } from 'pg';
import { answer, ok } from './handler';

export interface DependencyState {
  name: string;
  up: boolean;
  /** How long it took to say so; null: no answer in time. */
  latencyMs: number | null;
}

export type Health = ReturnType<typeof health>;

const CHECK_MS = 1_500;

/**
 * `/healthz`: the process lives. `/health`: it can do its work; 503 names the dependency that is down, or draining.
 * @param checks reject, or take longer than 1.5 s, while their dependency is down
 */
export function health(checks: Record<string, () => Promise<unknown>>) {
  let draining = false;
  const dependencies = () => Promise.all(Object.entries(checks).map(([name, check]) => measure(name, check)));
  return {
    /** Asks every dependency now. */
    dependencies,
    isDraining: (): boolean => draining,
    /** From now on /health says 503, so that load balancers stop sending. */
    drain: () => {
      draining = true;
    },
    operations: {
      live: () => ok({ status: 'ok' }),
      ready: async () => {
        const down = (await dependencies()).filter(({ up }) => !up).map(({ name }) => name);
        const status = draining ? 'draining' : down.length ? 'unavailable' : 'ok';
        const body = { status, ...(down.length && { down }) };
        return status === 'ok' ? ok(body) : answer(503, body, { 'Retry-After': '2' });
      },
    },
  };
}

async function measure(name: string, check: () => Promise<unknown>): Promise<DependencyState> {
  const before = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<DependencyState>((resolve) => {
    timer = setTimeout(resolve, CHECK_MS, { name, up: false, latencyMs: null });
  });
  const settled = (up: boolean) => ({ name, up, latencyMs: Math.round((performance.now() - before) * 10) / 10 });
  const state = check().then(
    () => settled(true),
    () => settled(false),
  );
  return Promise.race([state, late]).finally(() => clearTimeout(timer));
}

export const postgresCheck = (pool: Pool) => () => pool.query('SELECT 1');
