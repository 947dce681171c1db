import type { Pool } from 'pg';
import type { Operations } from './surface';

export interface Health {
  operations: Operations;
  /** From now on /health says 503, so that load balancers stop sending. */
  drain(): void;
}

const CHECK_MS = 1_500;

/**
 * `/healthz`: the process lives. `/health`: it can do its work; 503 names the dependency that is down, or draining.
 * @param checks reject, or take longer than 1.5 s, while their dependency is down
 */
export function health(checks: Record<string, () => Promise<unknown>>): Health {
  let draining = false;
  return {
    drain: () => {
      draining = true;
    },
    operations: {
      live: (_req, res) => {
        res.json({ status: 'ok' });
      },
      ready: async (_req, res) => {
        const states = await Promise.all(
          Object.entries(checks).map(async ([name, check]) => [name, await settles(check)]),
        );
        const down = states.filter(([, up]) => !up).map(([name]) => name);
        const status = draining ? 'draining' : down.length ? 'unavailable' : 'ok';
        if (status !== 'ok') res.status(503).set('Retry-After', '2');
        res.json({ status, ...(down.length && { down }) });
      },
    },
  };
}

async function settles(check: () => Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, CHECK_MS, false);
  });
  const up = check().then(
    () => true,
    () => false,
  );
  return Promise.race([up, late]).finally(() => clearTimeout(timer));
}

export const postgresCheck = (pool: Pool) => () => pool.query('SELECT 1');
