/** Stores the stream events of conversations. Ids count from 1 without a gap, so a reader can resume on any replica. */
import { listRows, type Sql, writeRow } from '@gantry/postgres';
import type { Pool } from 'pg';

export interface ChatEvent {
  type: 'meta' | 'text' | 'tool_call' | 'approval' | 'tool_result' | 'done';
  data: object;
}

export type StoredEvent = ChatEvent & { id: number };

/**
 * Appends events. The row of the conversation is locked until the transaction ends, so ids are committed in order. Text
 * is sent before its part is stored; everything else together with it.
 */
export async function appendEvents(
  tx: Sql,
  { conversationId, turnId }: { conversationId: string; turnId: string },
  events: ChatEvent[],
): Promise<void> {
  const isShown = events.some(({ type }) => type !== 'text') || events.length === 0;
  await tx.query(
    `WITH told AS (
       UPDATE conversations SET last_event = last_event + $3, updated_at = now(),
         shown_event = CASE WHEN $4 THEN last_event + $3 ELSE shown_event END
       WHERE id = $1 RETURNING last_event)
     INSERT INTO chat_events (conversation_id, id, turn_id, type, data)
     SELECT $1, told.last_event - $3 + e.place::int, $2, e.type, e.data::json
     FROM told, unnest($5::text[], $6::text[]) WITH ORDINALITY AS e(type, data, place)`,
    [
      ...[conversationId, turnId, events.length, isShown],
      events.map(({ type }) => type),
      events.map(({ data }) => JSON.stringify(data)),
    ],
  );
}

/**
 * Appends text in one statement, because an answer has several pieces each second. A lease that ends at this moment may
 * let a last text through, which is harmless.
 * @returns false if that replica no longer holds the lease
 */
export const appendText = (
  sql: Sql,
  { conversationId, turnId, replica }: { conversationId: string; turnId: string; replica: string },
  text: string,
): Promise<boolean> =>
  writeRow(
    sql,
    `WITH told AS (
       UPDATE conversations SET last_event = last_event + 1, updated_at = now()
       WHERE id = $1 AND EXISTS (SELECT FROM chat_turns WHERE id = $2 AND leased_by = $3 AND status = 'running')
       RETURNING last_event)
     INSERT INTO chat_events (conversation_id, id, turn_id, type, data)
     SELECT $1, told.last_event, $2, 'text', $4::json FROM told`,
    [conversationId, turnId, replica, JSON.stringify({ text })],
  );

/** Returns text that was sent but is in no part, because its replica crashed before storing the answer. */
export async function loadStreamedText(tx: Sql, conversationId: string): Promise<string> {
  const { rows } = await tx.query<{ text: string | null }>(
    `SELECT string_agg(e.data ->> 'text', '' ORDER BY e.id) AS text
     FROM chat_events e JOIN conversations c ON c.id = e.conversation_id
     WHERE e.conversation_id = $1 AND e.id > c.shown_event AND e.type = 'text'`,
    [conversationId],
  );
  return rows[0]?.text ?? '';
}

export const EVENTS_PER_READ = 200;

/** Lists the next events after an id, or those of one turn. */
export async function listEvents(
  sql: Sql,
  conversationId: string,
  from: { after: number } | { turnId: string },
): Promise<StoredEvent[]> {
  const [condition, value] = 'after' in from ? ['id > $2', from.after] : ['turn_id = $2', from.turnId];
  return listRows(
    sql,
    `SELECT id, type, data FROM chat_events WHERE conversation_id = $1 AND ${condition} ORDER BY id LIMIT ${EVENTS_PER_READ}`,
    [conversationId, value],
  );
}

/** Deletes events of turns that ended a day ago: the conversation shows their content. */
export const sweepChatEvents = (pool: Pool): Promise<unknown> =>
  pool.query(
    `DELETE FROM chat_events WHERE (conversation_id, id) IN (
       SELECT e.conversation_id, e.id FROM chat_events e JOIN chat_turns t ON t.id = e.turn_id
       WHERE e.created_at < now() - interval '1 day' AND t.ended_at < now() - interval '1 day' LIMIT 10000)`,
  );
