/**
 * Polls tables for work. The loops of a process share one statement per pool, which evaluates the conditions of all of
 * them: an idle process would otherwise spend most of its time on statements that find nothing.
 */
import type { Pool } from 'pg';
import { type RepeatingTask, runAndLogError, type TaskOptions } from './repeating-task';

const POLL_MS = 500;

interface WorkCondition {
  /** Condition in SQL, true while there is work. */
  condition: string;
  start: () => void;
}

type WorkPoll = ReturnType<typeof createWorkPoll>;

const polls = new WeakMap<Pool, WorkPoll>();

/**
 * Calls `work` twice a second while `condition` is true, without overlap.
 * An error is logged, and the work retried at the next poll.
 * @param options.condition without parameters: `EXISTS (SELECT FROM …)`
 */
export function pollForWork(options: TaskOptions & { pool: Pool; condition: string }): RepeatingTask {
  const { pool, condition, ...work } = options;
  let running: Promise<void> | undefined;
  const poll = polls.get(pool) ?? createWorkPoll(pool);
  polls.set(pool, poll);

  const watch: WorkCondition = {
    condition,
    start: () => {
      running ??= runAndLogError(work).finally(() => {
        running = undefined;
      });
    },
  };
  poll.add(watch);
  return {
    /** Starts no further work, and waits for the current one. */
    stop: async () => {
      poll.delete(watch);
      await running;
    },
  };
}

let statements = 0;

function createWorkPoll(pool: Pool) {
  let watches: WorkCondition[] = [];
  let statement = { name: '', text: '', rowMode: 'array' as const };
  let timer: NodeJS.Timeout | undefined;

  function setWatches(next: WorkCondition[]) {
    watches = next;
    // Prepared once per connection.
    const text = `SELECT ${watches.map(({ condition }) => condition).join(', ')}`;
    statement = { ...statement, name: `poll-for-work-${++statements}`, text };
    schedule();
  }

  async function poll() {
    const polled = watches;
    try {
      const { rows } = await pool.query<boolean[]>(statement);
      // Bounded: the loops of a process.
      for (const [index, watch] of polled.entries()) if (rows[0]?.[index] && watches.includes(watch)) watch.start();
    } catch {
      // While PostgreSQL is away there is nothing to do; the service's health says so.
    }
    schedule();
  }

  function schedule() {
    clearTimeout(timer);
    if (watches.length) timer = setTimeout(poll, POLL_MS);
  }

  return {
    add: (watch: WorkCondition) => setWatches([...watches, watch]),
    delete: (watch: WorkCondition) => setWatches(watches.filter((one) => one !== watch)),
  };
}
