/**
 * API keys of this surface, `rly_…`. They act as their user, in the workspace where they were created, and nowhere
 * else.
 */

import { createOpaqueToken, getDisplayPrefix, type LastUse, type LocalTokens, type TokenHasher } from '@gantry/auth';
import { conflict, notFound } from '@gantry/errors';
import { enqueue, newId, tokenRevoked } from '@gantry/events';
import { toApiFields } from '@gantry/http';
import { transaction } from '@gantry/postgres';
import type { Pool } from 'pg';
import type { Actor, Person } from '../access/caller';
import type { Change } from '../audit/audit';
import type { Db } from '../database';
import type { Deps } from '../deps';
import type { ApiKey, PrismaClient } from '../generated/prisma/client';

export const KEYS_PER_USER_MAX = 25;

type ApiKeyDeps = Pick<Deps, 'prisma' | 'hasher'>;

export const apiKeyToApi = (key: ApiKey) =>
  toApiFields(key, 'id', 'name', 'prefix', 'createdAt', 'rotatedAt', 'lastUsedAt');

/** With the key itself, which is shown this once. */
interface IssuedKey {
  row: ApiKey;
  key: string;
}

/** @throws AppError 409 for the 26th */
export function createApiKey({ prisma, hasher }: ApiKeyDeps, person: Actor, name: string): Promise<IssuedKey> {
  return transaction(prisma, async (tx) => {
    await lockUser(tx, person.userId);
    if ((await tx.apiKey.count({ where: { userId: person.userId, revokedAt: null } })) >= KEYS_PER_USER_MAX) {
      throw conflict('too_many_keys', `you already have ${KEYS_PER_USER_MAX} keys; revoke some first`);
    }
    const { key, ...secret } = generateKey(hasher);
    const { userId, workspaceId } = person;
    const row = await tx.apiKey.create({
      data: { id: newId('key_'), userId, workspaceId, name: name.trim(), ...secret },
    });
    await person.audit(tx, toChange('api_key.created', row));
    await person.made(tx, row.id);
    return { row, key };
  });
}

/** Lists the person's keys in the current workspace, newest first. */
export const listApiKeys = (db: Db, { userId, workspaceId }: Person): Promise<ApiKey[]> =>
  db.apiKey.findMany({
    where: { userId, workspaceId, revokedAt: null },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  });

/** Replaces the secret of a key; the old one is refused at once. */
export function rotateApiKey({ prisma, hasher }: ApiKeyDeps, person: Actor, id: string): Promise<IssuedKey> {
  return transaction(prisma, async (tx) => {
    await getOwnKey(tx, person, id);
    const { key, ...secret } = generateKey(hasher);
    const row = await tx.apiKey.update({ where: { id }, data: { ...secret, rotatedAt: new Date(), lastUsedAt: null } });
    await enqueue(tx, tokenRevoked, person.workspaceId, { tokenId: id });
    await person.audit(tx, toChange('api_key.rotated', row));
    await person.made(tx, id);
    return { row, key };
  });
}

export function revokeApiKey(prisma: PrismaClient, person: Actor, id: string): Promise<void> {
  return transaction(prisma, async (tx) => {
    await getOwnKey(tx, person, id);
    const row = await tx.apiKey.update({ where: { id }, data: { revokedAt: new Date() } });
    await enqueue(tx, tokenRevoked, person.workspaceId, { tokenId: id });
    await person.audit(tx, toChange('api_key.revoked', row));
  });
}

/**
 * Resolves a key to its user, as worker-api knows them now, in the key's workspace only. Null for a key that is
 * unknown, revoked or older than the account accepts, and for a user who is disabled or no longer a member there.
 */
export function createApiKeyTokens({ prisma, hasher, keyUse }: ApiKeyDeps & { keyUse: LastUse }): LocalTokens {
  return {
    prefix: 'rly_',
    identify: async (token, introspect) => {
      const hashes = hasher.candidates(token).map((hash) => new Uint8Array(hash));
      const row = await prisma.apiKey.findFirst({ where: { hash: { in: hashes }, revokedAt: null } });
      if (!row || !hasher.matches(token, row.hash)) return null;
      const madeAt = (row.rotatedAt ?? row.createdAt).getTime();
      const user = await introspect({ kind: 'user', userId: row.userId, madeAt });
      const role = user && Object.hasOwn(user.memberships, row.workspaceId) && user.memberships[row.workspaceId];
      if (!user || !role) return null;
      keyUse.note(row.id, row.lastUsedAt);
      return {
        ...user,
        kind: 'api_key',
        tokenId: row.id,
        defaultWorkspaceId: row.workspaceId,
        memberships: { [row.workspaceId]: role },
        expiresAt: null,
      };
    },
  };
}

const toChange = (action: Change['action'], { id, name, prefix }: ApiKey): Change => ({
  action,
  id,
  details: { name, prefix },
});

function generateKey(hasher: TokenHasher) {
  const key = createOpaqueToken('rly_');
  const { hash, pepperVersion } = hasher.hash(key);
  return { key, prefix: getDisplayPrefix(key), hash: new Uint8Array(hash), pepperVersion };
}

/** @throws AppError 404 */
export async function getOwnKey(tx: Db, { userId, workspaceId }: Person, id: string): Promise<void> {
  const row = await tx.apiKey.findFirst({ where: { id, userId, workspaceId, revokedAt: null }, select: { id: true } });
  if (!row) throw notFound('API key', id);
}

/** Serializes requests of one user: two at once would both count 24. */
const lockUser = (tx: Db, userId: string) =>
  tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`api-keys ${userId}`}, 0))`;

export const sweepApiKeys = (pool: Pool): Promise<unknown> =>
  pool.query("DELETE FROM api_keys WHERE revoked_at < now() - interval '30 days'");
