/** `views`, written behind the requests: gathered, one statement for all. A crash loses a second of them. */
import type { Pool } from 'pg';
import type { Logger } from 'pino';

export interface ViewCounts {
  note(skillId: string): void;
  /** Writes what is gathered. */
  flush(): Promise<void>;
}

const FLUSH_MS = 1_000;

export function countViews({ pool, log }: { pool: Pool; log: Logger }): ViewCounts {
  let views = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;

  async function flush() {
    clearTimeout(timer);
    timer = undefined;
    const batch = views;
    views = new Map();
    if (!batch.size) return;
    await pool
      .query(
        'UPDATE skills SET views = views + v.count FROM unnest($1::text[], $2::int[]) AS v(id, count) WHERE skills.id = v.id',
        [[...batch.keys()], [...batch.values()]],
      )
      .catch((err) => log.warn({ err }, 'views of skills not written'));
  }

  return {
    note: (skillId) => {
      views.set(skillId, (views.get(skillId) ?? 0) + 1);
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
    flush,
  };
}
