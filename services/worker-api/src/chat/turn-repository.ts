/**
 * Stores turns: a message and everything that is done until it is answered. One replica works on a turn under a lease,
 * and every write checks it, so a replica that lost its lease writes nothing any more.
 */
import { createUnnamedStatement, findRow, hasRow, listRows, type Sql, writeRow } from '@gantry/postgres';
import type { ChatTurn } from '../generated/prisma/client';
import type { ResponsePart } from '../models/read-model-response';

export type TurnStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'stopped' | 'interrupted';
export type CallStatus = 'ready' | 'pending' | 'running' | 'done' | 'failed' | 'declined' | 'stopped' | 'unknown';

export interface Turn extends Omit<ChatTurn, 'stopRequested' | 'leasedBy' | 'leasedUntil'> {
  status: TurnStatus;
  /** Its replica has let the lease expire. */
  isLost: boolean;
}

/** A tool call as the model requested it. */
export interface CallContent {
  /** The model's own name for the call. */
  modelCallId: string;
  name: string;
  title: string;
  /** Exactly these arguments are shown to the person and passed to the tool. */
  arguments: Record<string, unknown>;
  /** For a published tool, its worker at the time of the approval. */
  workerId: string | null;
  providerOptions?: Extract<ResponsePart, { type: 'tool-call' }>['providerOptions'];
}

export interface ModelPart {
  kind: 'model';
  turnId: string;
  number: number;
  content: { text: string; isPartial: boolean };
}

export interface CallPart {
  kind: 'call';
  turnId: string;
  number: number;
  callId: string;
  content: CallContent;
  status: CallStatus;
  result: string | null;
  links: string[] | null;
}

export type Part = ModelPart | CallPart;

export const LEASE = "interval '30 seconds'";

const SELECT_TURN = `SELECT id, conversation_id AS "conversationId", number, message, model, status, error_code AS "errorCode",
    error_detail AS "errorDetail", status = 'running' AND leased_until < now() AS "isLost",
    created_at AS "createdAt", ended_at AS "endedAt"
  FROM chat_turns`;

export const findLastTurn = (sql: Sql, conversationId: string): Promise<Turn | undefined> =>
  findRow(sql, `${SELECT_TURN} WHERE conversation_id = $1 ORDER BY number DESC LIMIT 1`, [conversationId]);

export const findTurn = (sql: Sql, id: string): Promise<Turn | undefined> =>
  findRow(sql, `${SELECT_TURN} WHERE id = $1`, [id]);

/** Lists a page of turns counted from the last one, oldest first. */
export async function listTurns(
  sql: Sql,
  conversationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ turns: Turn[]; total: number }> {
  const { rows } = await sql.query<Turn & { total: number }>(
    `SELECT * FROM (${SELECT_TURN} WHERE conversation_id = $1 ORDER BY number DESC LIMIT $2 OFFSET $3) page ORDER BY number`,
    [conversationId, limit, offset],
  );
  const last = await findLastTurn(sql, conversationId);
  return { turns: rows, total: last?.number ?? 0 };
}

export const listParts = (sql: Sql, turnIds: string[]): Promise<Part[]> =>
  listRows(
    sql,
    `SELECT turn_id AS "turnId", number, kind, content, call_id AS "callId", status, result, links
     FROM chat_parts WHERE turn_id = ANY($1) ORDER BY turn_id, number`,
    [turnIds],
  );

/** Groups parts by the id of their turn, in their order. */
export function groupByTurn(parts: Part[]): Map<string, Part[]> {
  const groups = new Map<string, Part[]>();
  for (const part of parts) {
    const group = groups.get(part.turnId);
    if (group) group.push(part);
    else groups.set(part.turnId, [part]);
  }
  return groups;
}

const INSERT_TURN = createUnnamedStatement(`
  INSERT INTO chat_turns (id, conversation_id, number, message, model, status, leased_by, leased_until)
  VALUES ($id, $conversationId, $number, $message, $model, 'running', $replica, now() + ${LEASE})`);

export const insertTurn = (
  tx: Sql,
  turn: Pick<Turn, 'id' | 'conversationId' | 'number' | 'message' | 'model'> & { replica: string },
): Promise<unknown> => tx.query(INSERT_TURN(turn));

/** Renews the lease. @returns false if another replica has it or the turn has ended; `stop`: a stop was requested */
export async function renewLease(sql: Sql, id: string, replica: string): Promise<'held' | 'stop' | false> {
  const { rows } = await sql.query<{ stop: boolean }>(
    `UPDATE chat_turns SET leased_until = now() + ${LEASE}
     WHERE id = $1 AND leased_by = $2 AND status = 'running' RETURNING stop_requested AS stop`,
    [id, replica],
  );
  if (!rows[0]) return false;
  return rows[0].stop ? 'stop' : 'held';
}

/** Resumes a turn whose calls were decided on this replica. */
export const resumeTurn = (tx: Sql, id: string, replica: string): Promise<unknown> =>
  tx.query(
    `UPDATE chat_turns SET status = 'running', leased_by = $2, leased_until = now() + ${LEASE}
     WHERE id = $1 AND status = 'waiting'`,
    [id, replica],
  );

/** @returns false if a stop was requested meanwhile */
export const suspendTurn = (tx: Sql, id: string): Promise<boolean> =>
  writeRow(
    tx,
    `UPDATE chat_turns SET status = 'waiting', leased_by = NULL, leased_until = NULL
     WHERE id = $1 AND status = 'running' AND NOT stop_requested`,
    [id],
  );

export const requestStop = (tx: Sql, id: string): Promise<unknown> =>
  tx.query("UPDATE chat_turns SET stop_requested = true WHERE id = $1 AND status = 'running'", [id]);

/** Ends it by compare-and-set; the outcome of calls in progress becomes unknown, and other open calls are stopped. */
export async function endTurn(
  tx: Sql,
  id: string,
  { status, error }: { status: TurnStatus; error?: { code: string; detail: string } },
): Promise<boolean> {
  const hasEnded = await writeRow(
    tx,
    `UPDATE chat_turns SET status = $2, error_code = $3, error_detail = $4, ended_at = now(), leased_by = NULL,
       leased_until = NULL
     WHERE id = $1 AND status IN ('running', 'waiting')`,
    [id, status, error?.code ?? null, error?.detail ?? null],
  );
  if (!hasEnded) return false;
  await tx.query(
    `UPDATE chat_parts SET status = CASE status WHEN 'running' THEN 'unknown' ELSE 'stopped' END,
       was = CASE WHEN status <> 'running' AND $2 = 'interrupted' THEN status END
     WHERE turn_id = $1 AND status IN ('ready', 'pending', 'running')`,
    [id, status],
  );
  return true;
}

/** Revives it by compare-and-set; calls that had not begun return to their status before the interruption. */
export async function reclaimInterruptedTurn(tx: Sql, id: string, replica: string): Promise<boolean> {
  const isReclaimed = await writeRow(
    tx,
    `UPDATE chat_turns SET status = 'running', error_code = NULL, error_detail = NULL, ended_at = NULL, stop_requested = false,
       leased_by = $2, leased_until = now() + ${LEASE}
     WHERE id = $1 AND status = 'interrupted'`,
    [id, replica],
  );
  if (!isReclaimed) return false;
  await tx.query(
    "UPDATE chat_parts SET status = was, was = NULL WHERE turn_id = $1 AND status = 'stopped' AND was IS NOT NULL",
    [id],
  );
  return true;
}

export const listLostTurns = (sql: Sql, conversationId: string | null): Promise<Turn[]> =>
  listRows(
    sql,
    `${SELECT_TURN} WHERE status = 'running' AND leased_until < now() AND ($1::text IS NULL OR conversation_id = $1) LIMIT 100`,
    [conversationId],
  );

/**
 * Locks a conversation; call it before locking anything else of it, to avoid deadlocks.
 * @returns false if it was deleted
 */
export const lockConversation = (tx: Sql, { conversationId }: Pick<Turn, 'conversationId'>): Promise<boolean> =>
  hasRow(tx, 'SELECT 1 FROM conversations WHERE id = $1 FOR UPDATE', [conversationId]);

const INSERT_PART = createUnnamedStatement(`
  INSERT INTO chat_parts (turn_id, number, kind, content, call_id, status, result)
  VALUES ($turnId, (SELECT coalesce(max(number), 0) + 1 FROM chat_parts WHERE turn_id = $turnId), $kind, $content, $callId,
    $status, $result)`);

export const insertModelPart = (
  tx: Sql,
  { turnId, content }: Pick<ModelPart, 'turnId' | 'content'>,
): Promise<unknown> =>
  tx.query(
    INSERT_PART({
      turnId,
      kind: 'model',
      content: JSON.stringify(content),
      callId: null,
      status: null,
      result: null,
    }),
  );

export const insertCallPart = (
  tx: Sql,
  { content, ...part }: Pick<CallPart, 'turnId' | 'callId' | 'content' | 'status' | 'result'>,
): Promise<unknown> => tx.query(INSERT_PART({ ...part, kind: 'call', content: JSON.stringify(content) }));

/** Moves a call by compare-and-set. @returns false if its status was not `from` */
export const transitionCall = (
  tx: Sql,
  callId: string,
  from: CallStatus,
  to: { status: CallStatus; result?: string; links?: string[] },
): Promise<boolean> =>
  writeRow(
    tx,
    `UPDATE chat_parts SET status = $3, result = coalesce($4, result), links = $5
     WHERE call_id = $1 AND status = $2`,
    [callId, from, to.status, to.result ?? null, to.links ? JSON.stringify(to.links) : null],
  );
