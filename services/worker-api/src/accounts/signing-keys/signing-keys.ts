/** This process's view of the signing keys: read from the database, decrypted by the vault, cached for a minute. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { unavailable } from '@gantry/errors';
import type { Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import { type PublicJwk, type SigningKey, selectSigningKey, toPublicJwk } from './signing-key';
import {
  deleteExpiredSigningKeys,
  insertSigningKeyIfDue,
  isNewSigningKeyDue,
  listSigningKeys,
} from './signing-key-repository';

export type SigningKeys = ReturnType<typeof createSigningKeys>;

const CACHE_MS = 60_000;
/**
 * An unknown key id may belong to a new key of another replica, but clients can invent ids: rereads are rate-limited.
 */
const UNKNOWN_KEY_RELOAD_MS = 5_000;
/** They belong to no workspace: the platform's own data key seals them. */
const PLATFORM_WORKSPACE_ID = '_platform';

export function createSigningKeys(options: { pool: Pool; vault: Vault; now?: () => number }) {
  const { pool, vault, now = Date.now } = options;
  let cachedKeys: SigningKey[] = [];
  let loadedAt = Number.NEGATIVE_INFINITY;
  let loading: Promise<void> | undefined;

  const buildAssociatedData = (kid: string) => ({ table: 'signing_keys', name: kid, version: 1 });

  async function loadKeys() {
    const rows = await listSigningKeys(pool);
    cachedKeys = await Promise.all(
      rows.map(async ({ kid, private_key, created_at }) => {
        const pem = await vault.open(PLATFORM_WORKSPACE_ID, buildAssociatedData(kid), private_key);
        return { kid, privateKey: createPrivateKey(pem), createdAt: created_at };
      }),
    );
    loadedAt = now();
  }

  function loadKeysOnce(): Promise<void> {
    loading ??= loadKeys().finally(() => {
      loading = undefined;
    });
    return loading;
  }

  /** Cached keys stay in use while the database is down. */
  async function getKeys(): Promise<SigningKey[]> {
    if (now() - loadedAt > CACHE_MS) await loadKeysOnce().catch((err) => cachedKeys.length || Promise.reject(err));
    if (!cachedKeys.length) await rotateSigningKey();
    return cachedKeys;
  }

  async function rotateSigningKey() {
    if (await isNewSigningKeyDue(pool)) {
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const kid = randomBytes(12).toString('base64url');
      const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
      const sealed = await vault.seal(PLATFORM_WORKSPACE_ID, buildAssociatedData(kid), pem);
      await insertSigningKeyIfDue(pool, { kid, publicJwk: toPublicJwk({ kid, privateKey }), privateKey: sealed });
    }
    await deleteExpiredSigningKeys(pool);
    await loadKeys();
  }

  return {
    /** Creates a key when one is due and removes expired ones; safe on every replica at any time. */
    rotate: rotateSigningKey,
    signer: async (): Promise<SigningKey> => {
      const signer = selectSigningKey(await getKeys(), now());
      if (!signer) throw unavailable('the signing key for access tokens');
      return signer;
    },
    /** The public key with that id, for verifying the platform's own JWTs. */
    find: async (kid: string): Promise<KeyObject | undefined> => {
      const hasKid = (key: SigningKey) => key.kid === kid;
      let key = (await getKeys()).find(hasKid);
      if (!key && now() - loadedAt > UNKNOWN_KEY_RELOAD_MS) {
        await loadKeysOnce();
        key = cachedKeys.find(hasKid);
      }
      return key && createPublicKey(key.privateKey);
    },
    jwks: async (): Promise<{ keys: PublicJwk[] }> => ({ keys: (await getKeys()).map(toPublicJwk) }),
  };
}
