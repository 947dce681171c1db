/**
 * Tracks closed workspaces in each service.
 *
 * A deleted workspace is closed until it is restored. Every service records that in its own table: worker-api in the
 * transaction of the deletion, the others on the event. The table decides in every statement that starts something.
 * Each replica also keeps it in memory, for things that must end at once and for checks without a database: it receives
 * the event itself, and reads the table: every second while NATS is down, as soon as it is back, and every five seconds
 * otherwise.
 *
 * Deletion and undo may arrive in any order and more than once. `purgeAt` identifies a deletion: the latest one wins,
 * along with its undo.
 */
import { execute, runAndLogError, startRepeatingTask, type Tx } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Bus, listen } from './bus';
import { buildEventSubjectPattern, type Service, workspaceDeleted, workspaceRestored } from './catalogue';
import { watchConnection } from './connection-watch';
import { type Consumer, consumeWithSingleHandler } from './consumer';
import { enqueue } from './outbox';

export interface WorkspaceClosure {
  workspaceId: string;
  /** Epoch milliseconds. */
  purgeAt: number;
  /** The deletion was undone. */
  restored: boolean;
}

export type WorkspaceClosures = Awaited<ReturnType<typeof watchWorkspaceClosures>>;

/**
 * Returns an SQL condition: the workspace in this column or parameter is closed. One row per deletion of the last week.
 */
export const buildWorkspaceClosedSql = (workspaceId: string): string =>
  `EXISTS (SELECT FROM workspace_closures closed WHERE closed.workspace_id = ${workspaceId} AND NOT closed.restored)`;

/** Writes inside the caller's transaction. */
export async function upsertClosure(tx: Tx, { workspaceId, purgeAt, restored }: WorkspaceClosure): Promise<void> {
  await execute(
    tx,
    `INSERT INTO workspace_closures (workspace_id, purge_at, restored) VALUES ($1, $2::timestamptz, $3)
     ON CONFLICT (workspace_id) DO UPDATE SET purge_at = EXCLUDED.purge_at,
       restored = EXCLUDED.restored OR (workspace_closures.restored AND workspace_closures.purge_at = EXCLUDED.purge_at)
     WHERE workspace_closures.purge_at <= EXCLUDED.purge_at`,
    [workspaceId, new Date(purgeAt).toISOString(), restored],
  );
}

/** Maintains the table of a service other than worker-api. */
export const consumeClosures = (options: { bus: Bus; pool: Pool; service: Service; log: Logger }): Consumer[] =>
  [workspaceDeleted, workspaceRestored].map((event) =>
    consumeWithSingleHandler({
      ...options,
      event,
      handle: (tx, { data }) => upsertClosure(tx, { ...data, restored: event === workspaceRestored }),
    }),
  );

/** Merges two closures by the same rule as the table. */
function mergeClosures(current: WorkspaceClosure | undefined, incoming: WorkspaceClosure): WorkspaceClosure {
  if (!current || incoming.purgeAt > current.purgeAt) return incoming;
  if (incoming.purgeAt < current.purgeAt) return current;
  return { ...incoming, restored: incoming.restored || current.restored };
}

const POLL_MS = 1_000;
/** While connected, a replica learns of closures from events; one may be lost. */
const POLL_CONNECTED_MS = 5_000;

/** @param options.bus absent: only the table is read */
export async function watchWorkspaceClosures(options: { pool: Pool; bus?: Bus; log: Logger }) {
  const { pool, bus, log } = options;
  const closures = new Map<string, WorkspaceClosure>();
  const reactions: ((workspaceId: string) => void)[] = [];

  const has = (workspaceId: string) => closures.get(workspaceId)?.restored === false;

  function applyClosure(closure: WorkspaceClosure) {
    const { workspaceId } = closure;
    const wasClosed = has(workspaceId);
    closures.set(workspaceId, mergeClosures(closures.get(workspaceId), closure));
    if (wasClosed || !has(workspaceId)) return;
    for (const react of reactions) react(workspaceId);
  }

  async function loadClosures() {
    const { rows } = await pool.query<{ workspace_id: string; purge_at: Date; restored: boolean }>({
      name: 'read-workspace-closures',
      text: 'SELECT workspace_id, purge_at, restored FROM workspace_closures',
    });
    for (const { workspace_id: workspaceId, purge_at: at, restored } of rows) {
      applyClosure({ workspaceId, purgeAt: at.getTime(), restored });
    }
  }

  const task = { work: loadClosures, what: 'closed workspaces', log };

  const subscribe = (event: typeof workspaceDeleted, restored: boolean) =>
    bus &&
    listen(
      bus,
      buildEventSubjectPattern(event),
      z.object({ data: event.data }),
      ({ data }) => applyClosure({ ...data, restored }),
      {
        log,
      },
    );
  const subscriptions = [subscribe(workspaceDeleted, false), subscribe(workspaceRestored, true)];
  await runAndLogError(task);
  const connection = bus && watchConnection(bus.nc, () => polling.wake());
  const polling = startRepeatingTask({
    ...task,
    everyMs: () => (connection?.isUp() ? POLL_CONNECTED_MS : POLL_MS),
  });

  return {
    /** Returns whether this replica knows the workspace as closed. */
    has,
    /** Lists closed workspaces. */
    list: (): string[] => [...closures.keys()].filter(has),
    /** Calls back when this replica learns that a workspace is closed. */
    onClosed: (react: (workspaceId: string) => void) => void reactions.push(react),
    /** Applies a closure committed by this process without waiting for the event. */
    note: applyClosure,
    stop: async () => {
      connection?.stop();
      for (const subscription of subscriptions) subscription?.unsubscribe();
      await polling.stop();
    },
  };
}

/**
 * Republishes worker-api's table. Its consumers have received these events unless JetStream lost them; nothing else
 * would ever inform them in that case. Deletions that are due for purging are left out: one that arrives after the
 * purge would leave a row behind for good.
 */
export async function republishClosures(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ workspace_id: string; purge_at: Date; restored: boolean }>(
    'SELECT workspace_id, purge_at, restored FROM workspace_closures WHERE restored OR purge_at > now()',
  );
  for (const { workspace_id: workspaceId, purge_at: at, restored } of rows) {
    const event = restored ? workspaceRestored : workspaceDeleted;
    await enqueue(pool, event, workspaceId, { workspaceId, purgeAt: at.getTime() });
  }
}

/** Deletes undone deletions to which no late message can refer any more. */
export async function sweepClosures(pool: Pool): Promise<void> {
  await pool.query("DELETE FROM workspace_closures WHERE restored AND purge_at < now() - interval '7 days'");
}
