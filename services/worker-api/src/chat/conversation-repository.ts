import { notFound } from '@gantry/errors';
import type { Principal } from '@gantry/limits';
import { createUnnamedStatement, type Sql } from '@gantry/postgres';
import type { Conversation } from '../generated/prisma/client';
import type { TurnStatus } from './turn-repository';

/** The owner of conversations, who alone can read them: no role gives access to those of others. */
export interface ConversationOwner {
  workspaceId: string;
  ownerId: string;
}

/**
 * Returns the person as owner; for a workspace token and a restricted token the token itself, which must not read the
 * conversations of its person.
 */
export const toOwner = ({ workspaceId, userId, tokenId, restriction }: Principal): ConversationOwner => ({
  workspaceId,
  ownerId: String(restriction || userId === null ? tokenId : userId),
});

export type ConversationRow = Pick<Conversation, 'id' | 'title' | 'createdAt' | 'updatedAt' | 'shownEvent'> & {
  status: TurnStatus;
};

const SELECT_CONVERSATION = `SELECT c.id, c.title, t.status, c.created_at AS "createdAt", c.updated_at AS "updatedAt",
    c.shown_event AS "shownEvent"
  FROM conversations c CROSS JOIN LATERAL
    (SELECT status FROM chat_turns WHERE conversation_id = c.id ORDER BY number DESC LIMIT 1) t
  WHERE c.workspace_id = $workspaceId AND c.owner_id = $ownerId`;

const GET_CONVERSATION = createUnnamedStatement(`${SELECT_CONVERSATION} AND c.id = $id`);
const LIST_CONVERSATIONS = createUnnamedStatement(
  `${SELECT_CONVERSATION} ORDER BY c.updated_at DESC, c.id DESC LIMIT $limit OFFSET $offset`,
);

/** @throws AppError 404, also for a conversation of another owner */
export async function getConversation(sql: Sql, owner: ConversationOwner, id: string): Promise<ConversationRow> {
  const { rows } = await sql.query<ConversationRow>(GET_CONVERSATION({ ...owner, id }));
  if (!rows[0]) throw notFound('conversation', id);
  return rows[0];
}

/** Counts conversations; `running`: those that the agent is working in. */
export async function countConversations(
  sql: Sql,
  { workspaceId, ownerId }: ConversationOwner,
): Promise<{ total: number; running: number }> {
  const { rows } = await sql.query<{ total: number; running: number }>(
    `SELECT count(*)::int AS total, count(t.id)::int AS running FROM conversations c
     LEFT JOIN chat_turns t ON t.conversation_id = c.id AND t.status = 'running'
     WHERE c.workspace_id = $1 AND c.owner_id = $2`,
    [workspaceId, ownerId],
  );
  return rows[0] ?? { total: 0, running: 0 };
}

/** Serialises requests that begin, decide or stop a turn in it, until the transaction ends. @throws AppError 404 */
export async function lockConversation(
  tx: Sql,
  { workspaceId, ownerId }: ConversationOwner,
  id: string,
): Promise<void> {
  const { rows } = await tx.query(
    'SELECT 1 FROM conversations WHERE workspace_id = $1 AND owner_id = $2 AND id = $3 FOR UPDATE',
    [workspaceId, ownerId, id],
  );
  if (!rows[0]) throw notFound('conversation', id);
}

/** Lists conversations, the most recently active first. */
export async function listConversations(
  sql: Sql,
  owner: ConversationOwner,
  page: { limit: number; offset: number },
): Promise<{ rows: ConversationRow[]; total: number }> {
  const { rows } = await sql.query<ConversationRow>(LIST_CONVERSATIONS({ ...owner, ...page }));
  const counted = await sql.query<{ total: number }>(
    'SELECT count(*)::int AS total FROM conversations WHERE workspace_id = $1 AND owner_id = $2',
    [owner.workspaceId, owner.ownerId],
  );
  return { rows, total: counted.rows[0]?.total ?? 0 };
}

export const insertConversation = (
  tx: Sql,
  { workspaceId, ownerId }: ConversationOwner,
  { id, title }: Pick<ConversationRow, 'id' | 'title'>,
): Promise<unknown> =>
  tx.query('INSERT INTO conversations (id, workspace_id, owner_id, title) VALUES ($1, $2, $3, $4)', [
    ...[id, workspaceId, ownerId, title],
  ]);

export const updateTitle = (
  sql: Sql,
  { workspaceId, ownerId }: ConversationOwner,
  id: string,
  title: string,
): Promise<unknown> =>
  sql.query('UPDATE conversations SET title = $4 WHERE workspace_id = $1 AND owner_id = $2 AND id = $3', [
    ...[workspaceId, ownerId, id, title],
  ]);

export const deleteConversation = (
  sql: Sql,
  { workspaceId, ownerId }: ConversationOwner,
  id: string,
): Promise<unknown> =>
  sql.query('DELETE FROM conversations WHERE workspace_id = $1 AND owner_id = $2 AND id = $3', [
    ...[workspaceId, ownerId, id],
  ]);
