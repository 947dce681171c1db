/**
 * Workspaces in which an alert or an event trigger waits for anything.
 *
 * The end of every run of both surfaces asks, and most workspaces wait for nothing: to look into the tables each time
 * cost a tenth of what the run itself did (bench/run.mjs). So the workspaces are read all together, at most every
 * REFRESH_DELAY_MS while a caller asks about one that is not among them. Such a question waits for a reading that began
 * after it was asked: what was set up before the run ended is never missed. For a workspace among them the answer comes
 * at once.
 */
import type { Pool } from 'pg';

const REFRESH_DELAY_MS = 250;

export type ListeningWorkspaces = ReturnType<typeof createListeningWorkspaces>;

/** @param queries queries, each of `workspace_id` */
export function createListeningWorkspaces(pool: Pool, queries: string[]) {
  const text = queries.join(' UNION ');
  let known = new Set<string>();
  /** The reading that has not begun yet. */
  let next: Promise<void> | undefined;

  async function loadWorkspaces(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, REFRESH_DELAY_MS));
    next = undefined;
    const { rows } = await pool.query<{ workspace_id: string }>({ name: 'listening-workspaces', text });
    known = new Set(rows.map((row) => row.workspace_id));
  }

  return {
    async includes(workspaceId: string): Promise<boolean> {
      if (known.has(workspaceId)) return true;
      next ??= loadWorkspaces();
      await next;
      return known.has(workspaceId);
    },
  };
}
