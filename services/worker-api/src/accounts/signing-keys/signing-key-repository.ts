import { listRows, transaction, writeRow } from '@gantry/postgres';
import type { Pool } from 'pg';
import { type PublicJwk, RETIRED_KEY_MINUTES, ROTATE_AFTER_DAYS } from './signing-key';

export interface SigningKeyRow {
  kid: string;
  private_key: Buffer;
  created_at: Date;
}

export const listSigningKeys = (pool: Pool): Promise<SigningKeyRow[]> =>
  listRows(pool, 'SELECT kid, private_key, created_at FROM signing_keys ORDER BY created_at, kid');

export async function isNewSigningKeyDue(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query(
    'SELECT 1 FROM signing_keys WHERE created_at > now() - make_interval(days => $1) LIMIT 1',
    [ROTATE_AFTER_DAYS],
  );
  return rows.length === 0;
}

/** Serialises replicas that find a key due at the same moment. */
const ROTATION_LOCK_ID = 20_480_001;

/** False if another replica was faster. */
export async function insertSigningKeyIfDue(
  pool: Pool,
  key: { kid: string; publicJwk: PublicJwk; privateKey: Buffer },
): Promise<boolean> {
  return transaction(pool, async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [ROTATION_LOCK_ID]);
    return writeRow(
      tx,
      `INSERT INTO signing_keys (kid, public_jwk, private_key)
       SELECT $1, $2::jsonb, $3
       WHERE NOT EXISTS (SELECT 1 FROM signing_keys WHERE created_at > now() - make_interval(days => $4))`,
      [key.kid, JSON.stringify(key.publicJwk), key.privateKey, ROTATE_AFTER_DAYS],
    );
  });
}

export async function deleteExpiredSigningKeys(pool: Pool): Promise<void> {
  await pool.query(
    `DELETE FROM signing_keys spent WHERE EXISTS (
       SELECT 1 FROM signing_keys newer WHERE newer.created_at > spent.created_at
         AND newer.created_at < now() - make_interval(mins => $1))`,
    [RETIRED_KEY_MINUTES],
  );
}
