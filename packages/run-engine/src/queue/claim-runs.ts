/**
 * Hands queued runs out, fairly between workspaces.
 *
 * Within a workspace: higher priority first, then oldest. Between workspaces: the one with the fewest active runs goes
 * first, so that a workspace with thousands of queued runs delays another's next run by no more than its share.
 * The recursive part steps from workspace to workspace through the partial index, so the cost grows with the number of
 * workspaces with queued runs, not with the number of queued runs.
 *
 * Runs with a slot (a limited number with the same key at once) have a separate index, so that blocked ones hide no
 * other run. Where some are queued, the usual statement takes nothing, and one that holds an advisory lock until its
 * commit takes both kinds: counting running runs and taking another must not happen concurrently. Its cost grows with
 * the number of keys with queued runs, not with the number of blocked runs.
 *
 * Only runs of the requested runners are considered: both indexes begin with the runner, and the steps stay in its part
 * of them. So runs of an unavailable runner stay queued, hide no other run and cost the others nothing.
 *
 * Runs that are queued in a closed workspace stay queued. The steps skip them a workspace or a key at a time, so that
 * they cost the others one lookup in a small table, however many there are.
 */

import { buildWorkspaceClosedSql } from '@gantry/events';
import { type Sql, transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Run } from '../run';
import { RUN_COLUMNS, toRun } from '../run-row';

/** Key of the advisory lock: each service has a database of its own. */
const SLOTS_LOCK = 5_419;

/**
 * PostgreSQL ignores the parameters' values in its estimates only if they are in a separate subquery. It then keeps one
 * plan for all claims; otherwise it would plan each anew, which takes five times as long as to run it.
 */
const COUNT = '(SELECT $1::int)';
const RUNNERS = 'unnest((SELECT $4::text[])) AS asked(runner)';

/** Ends for each runner with the first key that may be taken from; all runs with one key belong to one workspace. */
const LIMITED_HEADS_CTE = `
  limited_heads(runner, slot_key, closed) AS (
    SELECT asked.runner, f.slot_key, f.closed FROM ${RUNNERS} CROSS JOIN LATERAL (
      SELECT r.slot_key, ${buildWorkspaceClosedSql('r.workspace_id')} AS closed FROM runs r
      WHERE r.status = 'queued' AND r.runner = asked.runner AND r.slot_key IS NOT NULL ORDER BY r.slot_key LIMIT 1
    ) f
    UNION ALL
    SELECT l.runner, n.slot_key, n.closed FROM limited_heads l CROSS JOIN LATERAL (
      SELECT r.slot_key, ${buildWorkspaceClosedSql('r.workspace_id')} AS closed FROM runs r
      WHERE r.status = 'queued' AND r.runner = l.runner AND r.slot_key > l.slot_key ORDER BY r.slot_key LIMIT 1
    ) n WHERE l.closed
  )`;
const LIMITED_QUEUED = 'EXISTS (SELECT FROM limited_heads WHERE NOT closed)';

const FREE_HEADS_CTE = `
  waiting(runner, workspace_id) AS (
    SELECT asked.runner, (SELECT r.workspace_id FROM runs r WHERE r.status = 'queued' AND r.slot_key IS NULL
                            AND r.runner = asked.runner ORDER BY r.workspace_id LIMIT 1)
    FROM ${RUNNERS}
    UNION ALL
    SELECT w.runner, (SELECT r.workspace_id FROM runs r WHERE r.status = 'queued' AND r.slot_key IS NULL
                        AND r.runner = w.runner AND r.workspace_id > w.workspace_id ORDER BY r.workspace_id LIMIT 1)
    FROM waiting w WHERE w.workspace_id IS NOT NULL
  ), free AS (
    SELECT h.* FROM (SELECT runner, workspace_id FROM waiting WHERE NOT ${buildWorkspaceClosedSql('waiting.workspace_id')}) w CROSS JOIN LATERAL (
      SELECT id, workspace_id, priority, available_at FROM runs
      WHERE status = 'queued' AND slot_key IS NULL AND runner = w.runner AND workspace_id = w.workspace_id AND available_at <= now()
      ORDER BY priority DESC, available_at, id LIMIT ${COUNT} * 2
    ) h
  )`;

/** Runs of several runners may share a key and its slots: a worker may change its runner while it has queued runs. */
const SLOT_HEADS_CTE = `
  keys(runner, slot_key) AS (
    SELECT asked.runner, (SELECT r.slot_key FROM runs r WHERE r.status = 'queued' AND r.slot_key IS NOT NULL
                            AND r.runner = asked.runner ORDER BY r.slot_key LIMIT 1)
    FROM ${RUNNERS}
    UNION ALL
    SELECT k.runner, (SELECT r.slot_key FROM runs r WHERE r.status = 'queued' AND r.runner = k.runner
                        AND r.slot_key > k.slot_key ORDER BY r.slot_key LIMIT 1)
    FROM keys k WHERE k.slot_key IS NOT NULL
  ), limited AS (
    SELECT h.id, h.workspace_id, h.priority, h.available_at FROM (
      SELECT q.*, b.running,
        row_number() OVER (PARTITION BY k.slot_key ORDER BY q.priority DESC, q.available_at, q.id) AS place
      FROM keys k
      CROSS JOIN LATERAL (SELECT count(*) AS running FROM runs WHERE status = 'running' AND slot_key = k.slot_key) b
      CROSS JOIN LATERAL (
        SELECT id, workspace_id, priority, available_at, slot_limit FROM runs
        WHERE status = 'queued' AND runner = k.runner AND slot_key = k.slot_key AND available_at <= now()
        ORDER BY priority DESC, available_at, id LIMIT ${COUNT} * 2
      ) q
    ) h
    WHERE h.running + h.place <= h.slot_limit AND NOT ${buildWorkspaceClosedSql('h.workspace_id')}
  )`;

/** `source`: the candidates, each with id, workspace_id, priority and available_at. */
const buildClaimSql = (source: string) => `
  busy AS (
    SELECT workspace_id, count(*) AS running FROM runs WHERE status = 'running' GROUP BY workspace_id
  ), heads AS (
    SELECT c.id, c.available_at, coalesce(u.running, 0)
      + row_number() OVER (PARTITION BY c.workspace_id ORDER BY c.priority DESC, c.available_at, c.id) AS turn
    FROM (${source}) c LEFT JOIN busy u USING (workspace_id)
  ), picked AS (
    SELECT r.id FROM runs r JOIN (SELECT id, turn, available_at FROM heads ORDER BY turn, available_at LIMIT ${COUNT} * 4) h USING (id)
    WHERE r.status = 'queued' ORDER BY h.turn, h.available_at LIMIT ${COUNT} FOR UPDATE OF r SKIP LOCKED
  ), numbered AS (
    SELECT id, (row_number() OVER ())::int AS place FROM picked
  ), claimed AS (
    UPDATE runs r SET status = 'running', attempt = r.attempt + 1, confirmed = false, started_at = coalesce(r.started_at, now()),
      executor_id = ($2::text[])[n.place], lease_expires_at = now() + make_interval(secs => $3)
    FROM numbered n WHERE r.id = n.id
    RETURNING ${RUN_COLUMNS}, n.place
  )
  SELECT c.*, l.limited_queued FROM (SELECT ${LIMITED_QUEUED} AS limited_queued) l LEFT JOIN claimed c ON true`;

const CLAIM_FREE = `WITH RECURSIVE ${LIMITED_HEADS_CTE}, ${FREE_HEADS_CTE}, ${buildClaimSql(`SELECT * FROM free WHERE NOT ${LIMITED_QUEUED}`)}`;
const CLAIM_ANY = `WITH RECURSIVE ${LIMITED_HEADS_CTE}, ${FREE_HEADS_CTE}, ${SLOT_HEADS_CTE}, ${buildClaimSql('SELECT * FROM free UNION ALL SELECT * FROM limited')}`;

/**
 * @param executorIds the executor of each requested run
 * @param runners the runners that all of these executors have
 * @returns runs with the index into executorIds; fewer than requested if less is queued
 */
export async function claimRuns(
  pool: Pool,
  executorIds: string[],
  runners: string[],
  leaseMs: number,
): Promise<ClaimedRun[]> {
  const values = [executorIds.length, executorIds, leaseMs / 1000, runners];
  const { claimed, limitedQueued } = await runClaimQuery(pool, 'claim-runs', CLAIM_FREE, values);
  if (!limitedQueued) return claimed;
  return transaction(pool, async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [SLOTS_LOCK]);
    return (await runClaimQuery(tx, 'claim-any-runs', CLAIM_ANY, values)).claimed;
  });
}

export interface ClaimedRun {
  run: Run;
  /** Index of its executor in executorIds. */
  index: number;
}

async function runClaimQuery(
  sql: Sql,
  name: string,
  text: string,
  values: unknown[],
): Promise<{ claimed: ClaimedRun[]; limitedQueued: boolean }> {
  const { rows } = await sql.query({ name, text, values });
  return {
    claimed: rows.flatMap((row) => (row.id ? [{ run: toRun(row), index: row.place - 1 }] : [])),
    limitedQueued: rows[0].limited_queued,
  };
}
