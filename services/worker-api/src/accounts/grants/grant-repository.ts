import type { Restriction } from '@gantry/events';
import type { Sql } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Db } from '../../database';
import type { OauthGrant, OauthTokenKind } from '../../generated/prisma/client';
import type { ListedGrant } from './grant';

export type NewGrant = Pick<
  OauthGrant,
  'id' | 'userId' | 'workspaceId' | 'clientId' | 'clientName' | 'resource' | 'expiresAt'
> & { restriction: Restriction };

export interface NewAuthorizationCode {
  hash: Buffer;
  grantId: string;
  redirectUri: string;
  codeChallenge: string;
  expiresAt: Date;
}

export async function insertGrant(tx: Db, grant: NewGrant, code: NewAuthorizationCode): Promise<void> {
  await tx.oauthGrant.create({ data: grant });
  await tx.oauthCode.create({ data: { ...code, hash: new Uint8Array(code.hash) } });
}

export const countGrants = (tx: Db, userId: string, now: Date): Promise<number> =>
  tx.oauthGrant.count({ where: { userId, expiresAt: { gt: now } } });

/** Newest first: grants whose client has fetched its tokens, and that have not ended. */
export const listGrants = (db: Db, userId: string, now: Date): Promise<ListedGrant[]> =>
  db.oauthGrant.findMany({
    where: {
      userId,
      lastUsedAt: { not: null },
      expiresAt: { gt: now },
      membership: { workspace: { deletedAt: null } },
    },
    include: { membership: { include: { workspace: { select: { id: true, name: true } } } } },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });

export interface DeletedGrant {
  id: string;
  workspace_id: string;
  user_id: string;
  client_id: string;
  client_name: string | null;
}

/** Deletes it with its codes and tokens. Null if it is gone, or another user's. @param userId null: any user's */
export async function deleteGrant(tx: Sql, id: string, userId: string | null): Promise<DeletedGrant | null> {
  const { rows } = await tx.query<DeletedGrant>(
    `DELETE FROM oauth_grants WHERE id = $1 AND ($2::text IS NULL OR user_id = $2)
     RETURNING id, workspace_id, user_id, client_id, client_name`,
    [id, userId],
  );
  return rows[0] ?? null;
}

/** Deletes every grant of the user. Returns their ids. */
export async function deleteUserGrants(tx: Db, userId: string): Promise<{ id: string; workspaceId: string }[]> {
  const ended = await tx.oauthGrant.findMany({ where: { userId }, select: { id: true, workspaceId: true } });
  await tx.oauthGrant.deleteMany({ where: { id: { in: ended.map(({ id }) => id) } } });
  return ended;
}

/** Row of a code or token whose grant has not ended and whose user and workspace exist. */
interface PresentedCredentialRow {
  grant_id: string;
  client_id: string;
  resource: string;
  restriction: unknown;
  grant_expires_at: Date;
  used_at: Date | null;
  is_over: boolean;
}

export interface PresentedCode extends PresentedCredentialRow {
  redirect_uri: string;
  code_challenge: string;
}

export interface PresentedToken extends PresentedCredentialRow {
  kind: OauthTokenKind;
}

const GRANT_COLUMNS = 'g.id AS grant_id, g.client_id, g.resource, g.restriction, g.expires_at AS grant_expires_at';
const ACTIVE_GRANT_JOINS = `JOIN oauth_grants g ON g.id = x.grant_id AND g.expires_at > now()
  JOIN users u ON u.id = g.user_id AND u.disabled_at IS NULL
  JOIN workspaces w ON w.id = g.workspace_id AND w.deleted_at IS NULL`;

/** Locks a code: of two concurrent requests with it, the second sees that it was used. */
export async function lockAuthorizationCode(tx: Sql, hashes: Buffer[]): Promise<PresentedCode | null> {
  const { rows } = await tx.query<PresentedCode>(
    `SELECT ${GRANT_COLUMNS}, x.redirect_uri, x.code_challenge, x.used_at, x.expires_at <= now() AS is_over
     FROM oauth_codes x ${ACTIVE_GRANT_JOINS} WHERE x.hash = ANY($1) FOR UPDATE OF x`,
    [hashes],
  );
  return rows[0] ?? null;
}

/** Locks a token, as lockAuthorizationCode does. */
export async function lockToken(tx: Sql, hashes: Buffer[]): Promise<PresentedToken | null> {
  const { rows } = await tx.query<PresentedToken>(
    `SELECT ${GRANT_COLUMNS}, x.kind, x.used_at, x.expires_at <= now() AS is_over
     FROM oauth_tokens x ${ACTIVE_GRANT_JOINS} WHERE x.hash = ANY($1) FOR UPDATE OF x`,
    [hashes],
  );
  return rows[0] ?? null;
}

export const markCredentialUsed = (
  tx: Sql,
  table: 'oauth_codes' | 'oauth_tokens',
  hashes: Buffer[],
): Promise<unknown> => tx.query(`UPDATE ${table} SET used_at = now() WHERE hash = ANY($1)`, [hashes]);

export const deleteToken = (tx: Sql, hashes: Buffer[]): Promise<unknown> =>
  tx.query('DELETE FROM oauth_tokens WHERE hash = ANY($1)', [hashes]);

/** Inserts both tokens, and notes that the client used the grant. */
export async function insertTokens(
  tx: Sql,
  grantId: string,
  tokens: Record<OauthTokenKind, { hash: Buffer; expiresAt: Date }>,
): Promise<void> {
  for (const [kind, { hash, expiresAt }] of Object.entries(tokens)) {
    await tx.query(
      'INSERT INTO oauth_tokens (hash, grant_id, kind, expires_at) VALUES ($1, $2, $3::oauth_token_kind, $4)',
      [hash, grantId, kind, expiresAt],
    );
  }
  await tx.query('UPDATE oauth_grants SET last_used_at = now() WHERE id = $1', [grantId]);
}

/** Keeps used refresh tokens until they would have expired, so that a replay is detected. */
export async function sweepOauthGrants(pool: Pool): Promise<void> {
  await pool.query('DELETE FROM oauth_tokens WHERE expires_at < now()');
  await pool.query("DELETE FROM oauth_codes WHERE expires_at < now() - interval '1 day'");
  await pool.query(`DELETE FROM oauth_grants g WHERE expires_at < now() OR (last_used_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM oauth_codes c WHERE c.grant_id = g.id AND c.expires_at > now()))`);
}
