/** What has had its time, removed now and then. Every replica may do it at any moment. */
import { sweepIdempotencyKeys } from '@gantry/http';
import type { Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { SigningKeys } from './signing-keys/signing-keys';

const EVERY_MS = 3_600_000;

export function startHousekeeping(options: { pool: Pool; signingKeys: SigningKeys; vault: Vault; log: Logger }): {
  stop(): void;
} {
  const { pool, signingKeys, vault, log } = options;
  const sweep = async () => {
    await signingKeys.rotate();
    const rewrapped = await vault.rewrap();
    if (rewrapped) log.info({ rewrapped }, 'data keys brought under the current key-encryption key');
    await sweepIdempotencyKeys(pool);
    await pool.query("DELETE FROM sessions WHERE least(expires_at, revoked_at) < now() - interval '7 days'");
    await pool.query("DELETE FROM tokens WHERE revoked_at < now() - interval '30 days'");
    // JetStream keeps events for three days: an older one can't come again.
    await pool.query("DELETE FROM inbox WHERE received_at < now() - interval '7 days'");
  };
  const attempt = () => sweep().catch((err) => log.warn({ err }, 'housekeeping: will try again'));
  void attempt();
  const timer = setInterval(attempt, EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}
