/**
 * Ends runs that no executor holds, and requests cancellation of those that one holds.
 *
 * Ending a run also ends the called run that it waits for. Rows are locked from the called run up to its caller, which
 * is also the order in which an ending wakes a caller: so the two never deadlock.
 */

import type { RunError, RunSource } from '@gantry/events';
import { hasRow, type Sql, type Tx, transaction } from '@gantry/postgres';
import type { Pool, PoolClient } from 'pg';
import { isIdle, isTerminal, type Run, type TerminalStatus } from '../run';
import { buildServiceClosingEvents, getLastServiceSeq, getServiceSeqBase } from '../run-events';
import { RUN_COLUMNS, toRun } from '../run-row';
import { type AttemptResult, settleRuns } from './settle-runs';

/** Writes that commit with the first cancel request of a run, such as an audit log entry. */
export type RunInTransaction = (tx: Tx) => Promise<void>;

export interface IdleRunResult {
  status: Exclude<TerminalStatus, 'completed' | 'timed_out'>;
  error: RunError;
}

export interface EndedTree {
  run: Run;
  /** Runs that ended with it. */
  ended: Run[];
  /** Runs that an executor holds and must be asked to stop. */
  running: Run[];
}

/** More than the maximum depth of calls. */
const CHAIN_DEPTH_MAX = 32;

export const CANCELLED: RunError = { code: 'cancelled', message: 'cancelled on request' };
const CALLER_ENDED: RunError = { code: 'cancelled', message: 'the run that called this one has ended' };

/** Ends a run inside the caller's transaction. @returns null if its status or attempt has changed meanwhile */
export async function endIdleRun(
  tx: PoolClient,
  source: RunSource,
  run: Run,
  ending: IdleRunResult,
): Promise<EndedTree | null> {
  const [root, ...called] = await lockChain(tx, run.id);
  if (root?.status !== run.status || root.attempt !== run.attempt || !isIdle(root.status)) return null;
  return endLockedChain(tx, source, root, called, ending);
}

/** @returns null if it has ended */
export async function cancelRun(
  pool: Pool,
  source: RunSource,
  runId: string,
  runInTransaction: RunInTransaction | undefined,
): Promise<EndedTree | null> {
  return transaction(pool, async (tx) => {
    const [root, ...called] = await lockChain(tx, runId);
    if (!root || isTerminal(root.status)) return null;
    if (!root.cancelRequestedAt) {
      await tx.query('UPDATE runs SET cancel_requested_at = now() WHERE id = $1', [runId]);
      await runInTransaction?.(tx);
    }
    if (!isIdle(root.status)) return { run: root, ended: [], running: [root] };
    return endLockedChain(tx, source, root, called, { status: 'cancelled', error: CANCELLED });
  });
}

async function endLockedChain(
  tx: PoolClient,
  source: RunSource,
  root: Run,
  calledRuns: Run[],
  ending: IdleRunResult,
): Promise<EndedTree | null> {
  const run = await endRunIfIdle(tx, source, root, ending);
  if (!run) return null;
  const tree: EndedTree = { run, ended: [], running: [] };
  for (const child of calledRuns) {
    if (child.status === 'running') {
      await tx.query('UPDATE runs SET cancel_requested_at = coalesce(cancel_requested_at, now()) WHERE id = $1', [
        child.id,
      ]);
      tree.running.push(child);
    } else if (isIdle(child.status)) {
      const ended = await endRunIfIdle(tx, source, child, { status: 'cancelled', error: CALLER_ENDED });
      if (ended) tree.ended.push(ended);
    }
  }
  return tree;
}

async function endRunIfIdle(
  tx: PoolClient,
  source: RunSource,
  run: Run,
  ending: IdleRunResult,
): Promise<Run | undefined> {
  if (!isIdle(run.status)) return undefined;
  return settleRun(tx, source, run, run.status, await getLastServiceSeq(tx, run.id, run.attempt), ending);
}

export type EndRun = (run: Run, status: 'failed' | 'cancelled', error: RunError) => Promise<void>;

/**
 * Ends a run that no executor has received.
 * @returns undefined if it has ended, or been handed out again, meanwhile
 */
export const endHeldRun = (sql: Sql, source: RunSource, run: Run, ending: IdleRunResult): Promise<Run | undefined> =>
  settleRun(sql, source, run, 'running', getServiceSeqBase(run.attempt), ending);

/**
 * Ends a run whose lease has expired.
 * @returns undefined also if its executor has renewed the lease meanwhile
 */
export const endExpiredRun = (
  pool: Pool,
  source: RunSource,
  run: Run,
  ending: IdleRunResult,
): Promise<Run | undefined> =>
  transaction(pool, async (tx) => {
    const isExpired = await hasRow(
      tx,
      'SELECT FROM runs WHERE id = $1 AND attempt = $2 AND lease_expires_at < now() FOR UPDATE',
      [run.id, run.attempt],
    );
    return isExpired ? endHeldRun(tx, source, run, ending) : undefined;
  });

/** @param lastSeq the last number that the service has used in this attempt */
async function settleRun(
  sql: Sql,
  source: RunSource,
  { id: runId, attempt }: Run,
  from: AttemptResult['from'],
  lastSeq: number,
  ending: IdleRunResult,
): Promise<Run | undefined> {
  const at = new Date();
  const events = buildServiceClosingEvents(lastSeq, at, ending);
  const noUsage = { executorId: null, costUsd: 0, cpuMs: null, maxRssBytes: null };
  const [ended] = await settleRuns(
    sql,
    source,
    [{ runId, attempt, events }],
    [{ runId, attempt, from, ...ending, ...noUsage, at, seq: lastSeq + 1 }],
    [],
  );
  return ended;
}

/**
 * Locks the run and the chain of called runs that it waits for, the deepest first. A call that is made between the
 * query and the lock requires another query.
 */
async function lockChain(tx: PoolClient, runId: string): Promise<Run[]> {
  for (;;) {
    const { rows: chain } = await tx.query(
      `WITH RECURSIVE chain(id, place) AS (
         SELECT $1::text, 1
         UNION ALL
         SELECT s.ref, c.place + 1 FROM chain c JOIN run_steps s ON s.run_id = c.id
         WHERE s.status = 'pending' AND s.kind = 'call' AND s.ref IS NOT NULL AND c.place < $2
       ) SELECT id FROM chain ORDER BY place DESC`,
      [runId, CHAIN_DEPTH_MAX],
    );
    const { rows } = await tx.query(
      `SELECT ${RUN_COLUMNS} FROM runs r WHERE r.id = ANY($1) ORDER BY array_position($1, r.id) FOR UPDATE`,
      [chain.map(({ id }) => id)],
    );
    const runs = rows.map(toRun).reverse();
    const suspension = runs.at(-1)?.suspension;
    const called = suspension?.kind === 'call' ? suspension.runId : '';
    if (!called || chain.some(({ id }) => id === called) || chain.length === CHAIN_DEPTH_MAX) return runs;
  }
}
