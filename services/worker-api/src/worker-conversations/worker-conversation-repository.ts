import { notFound } from '@gantry/errors';
import { createUnnamedStatement, findRow, loadCount, type Sql } from '@gantry/postgres';
import { findRunOutcomes } from '@gantry/run-engine';
import type { WorkerKey } from '../workers/version-repository';
import { ANSWER_BYTES_MAX, type Turn, type WorkerConversation } from './worker-conversation';

const ROW = `SELECT id, title, inputs, created_by AS "createdBy", created_at AS "createdAt", updated_at AS "updatedAt"
  FROM worker_conversations WHERE workspace_id = $1 AND worker_uid = $2`;

/** Where a message was written last first. */
export async function listConversations(
  sql: Sql,
  { workspaceId, uid }: WorkerKey,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ conversations: WorkerConversation[]; total: number }> {
  const { rows } = await sql.query<WorkerConversation>(`${ROW} ORDER BY updated_at DESC, id DESC LIMIT $3 OFFSET $4`, [
    workspaceId,
    uid,
    limit,
    offset,
  ]);
  return { conversations: rows, total: await countConversations(sql, { workspaceId, uid }) };
}

export const countConversations = (sql: Sql, { workspaceId, uid }: WorkerKey): Promise<number> =>
  loadCount(
    sql,
    'SELECT count(*)::int AS count FROM worker_conversations WHERE workspace_id = $1 AND worker_uid = $2',
    [workspaceId, uid],
  );

/** @throws AppError 404, also for a conversation of another worker */
export const getConversation = (sql: Sql, worker: WorkerKey, id: string): Promise<WorkerConversation> =>
  getConversationRow(sql, worker, id, '');

/** Locks it until the transaction ends. @throws AppError 404 */
export const lockConversation = (tx: Sql, worker: WorkerKey, id: string): Promise<WorkerConversation> =>
  getConversationRow(tx, worker, id, ' FOR UPDATE');

async function getConversationRow(sql: Sql, { workspaceId, uid }: WorkerKey, id: string, lock: '' | ' FOR UPDATE') {
  const { rows } = await sql.query<WorkerConversation>(`${ROW} AND id = $3${lock}`, [workspaceId, uid, id]);
  if (!rows[0]) throw notFound('conversation', id, 'with this worker');
  return rows[0];
}

const INSERT = createUnnamedStatement(`
  INSERT INTO worker_conversations (id, workspace_id, worker_uid, title, inputs, created_by)
  VALUES ($id, $workspaceId, $uid, '', $inputs, $createdBy)`);

export const insertConversation = (
  tx: Sql,
  { inputs, ...row }: WorkerKey & Pick<WorkerConversation, 'id' | 'inputs' | 'createdBy'>,
): Promise<unknown> => tx.query(INSERT({ ...row, inputs: JSON.stringify(inputs) }));

export const deleteConversation = (tx: Sql, { workspaceId, uid }: WorkerKey, id: string): Promise<unknown> =>
  tx.query('DELETE FROM worker_conversations WHERE workspace_id = $1 AND worker_uid = $2 AND id = $3', [
    ...[workspaceId, uid, id],
  ]);

const INSERT_TURN = createUnnamedStatement(`WITH turn AS (
     INSERT INTO worker_conversation_turns (conversation_id, number, message, run_id, left_out)
     VALUES ($id, $number, $message, $runId, $leftOut)
   ) UPDATE worker_conversations SET updated_at = now(), title = CASE title WHEN '' THEN $title ELSE title END WHERE id = $id`);

/** @param turn its `title` is the conversation's if this is the first message */
export const insertTurn = (
  tx: Sql,
  turn: { id: string; runId: string; title: string } & Pick<Turn, 'number' | 'message' | 'leftOut'>,
): Promise<unknown> => tx.query(INSERT_TURN(turn));

/** A page counted from the last one, in the order in which they were written. */
export async function listTurns(
  sql: Sql,
  workspaceId: string,
  id: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ turns: Turn[]; total: number }> {
  const { rows } = await sql.query<Omit<Turn, 'run'> & { runId: string; total: number }>(
    `SELECT * FROM (
       SELECT number, message, run_id AS "runId", left_out AS "leftOut" FROM worker_conversation_turns
       WHERE conversation_id = $1 ORDER BY number DESC LIMIT $2 OFFSET $3
     ) page ORDER BY number`,
    [id, limit, offset],
  );
  const counted = await sql.query<{ total: number }>(
    'SELECT count(*)::int AS total FROM worker_conversation_turns WHERE conversation_id = $1',
    [id],
  );
  const runIds = rows.map(({ runId }) => runId);
  const runs = await findRunOutcomes(sql, workspaceId, runIds, { outputBytesMax: ANSWER_BYTES_MAX });
  const turns = rows.flatMap(({ runId, ...turn }) => {
    const run = runs.get(runId);
    return run ? [{ ...turn, run }] : [];
  });
  return { turns, total: counted.rows[0]?.total ?? 0 };
}

/** Returns undefined unless the run answers a message. */
export async function findConversationOfRun(sql: Sql, workspaceId: string, runId: string): Promise<string | undefined> {
  const row = await findRow<{ id: string }>(
    sql,
    `SELECT c.id FROM worker_conversation_turns t JOIN worker_conversations c ON c.id = t.conversation_id
     WHERE c.workspace_id = $1 AND t.run_id = $2`,
    [workspaceId, runId],
  );
  return row?.id;
}

/** Undefined: it was deleted with its run. */
export async function findTurnOfRun(
  sql: Sql,
  { workspaceId, uid }: WorkerKey,
  runId: string,
): Promise<Turn | undefined> {
  const { rows } = await sql.query<Omit<Turn, 'run'>>(
    `SELECT t.number, t.message, t.left_out AS "leftOut" FROM worker_conversation_turns t
     JOIN worker_conversations c ON c.id = t.conversation_id
     WHERE c.workspace_id = $1 AND c.worker_uid = $2 AND t.run_id = $3`,
    [workspaceId, uid, runId],
  );
  const run = (await findRunOutcomes(sql, workspaceId, [runId], { outputBytesMax: ANSWER_BYTES_MAX })).get(runId);
  return rows[0] && run && { ...rows[0], run };
}

/**
 * Turns of runs that are deleted, and conversations that have no others. One that is written to in this moment is
 * updated under the lock that the deletion waits for, so it stays.
 */
export const deleteTurns = (tx: Sql, runIds: string[]): Promise<unknown> =>
  tx.query(
    `WITH gone AS (DELETE FROM worker_conversation_turns WHERE run_id = ANY($1) RETURNING conversation_id)
     DELETE FROM worker_conversations c WHERE id IN (SELECT conversation_id FROM gone)
       AND updated_at < now() - interval '1 minute'
       AND NOT EXISTS (SELECT FROM worker_conversation_turns t WHERE t.conversation_id = c.id AND t.run_id <> ALL($1))`,
    [runIds],
  );
