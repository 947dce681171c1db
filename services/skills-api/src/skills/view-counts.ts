/** `views`, written asynchronously: batched, in one statement a second. */
import { createWriteBehind } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

export type ViewCounts = ReturnType<typeof createViewCounter>;

export function createViewCounter({ pool, log }: { pool: Pool; log: Logger }) {
  const views = createWriteBehind<number>({
    write: (ids, counts) =>
      pool.query(
        'UPDATE skills SET views = views + v.count FROM unnest($1::text[], $2::int[]) AS v(id, count) WHERE skills.id = v.id',
        [ids, counts],
      ),
    what: 'skill views',
    log,
  });
  return {
    note: (skillId: string) => views.note(skillId, (count = 0) => count + 1),
    /** Writes everything noted so far. */
    flush: views.flush,
  };
}
