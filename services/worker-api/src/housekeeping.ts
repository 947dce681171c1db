/** What has had its time, removed now and then. Every replica may do it at any moment. */
import { announceClosures, sweepClosures } from '@gantry/events';
import { sweepIdempotencyKeys } from '@gantry/http';
import type { ObjectStore } from '@gantry/object-store';
import type { RunEngine } from '@gantry/run-engine';
import type { KeyRotation, Vault } from '@gantry/vault';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { purgeOldDeliveries } from './alerts/delivery-repository';
import { deleteOldAuditRows } from './audit/audit-repository';
import { sweepPacks } from './file-trees/tree-pack';
import type { SigningKeys } from './signing-keys/signing-keys';
import { purgeDeletedWorkers } from './workers/delete-worker';
import { purgeDeletedWorkspaces } from './workspaces/delete-workspace';

const EVERY_MS = 3_600_000;

export interface HousekeepingOptions {
  pool: Pool;
  signingKeys: SigningKeys;
  vault: Vault;
  objects: ObjectStore;
  engine: RunEngine;
  keyRotation: KeyRotation;
  auditRetentionDays: number;
  /** After something was written to the outbox. */
  announce: () => void;
  log: Logger;
}

export function startHousekeeping(options: HousekeepingOptions): { stop(): void } {
  const { pool, objects, engine, signingKeys, vault, keyRotation, auditRetentionDays, announce, log } = options;
  const sweep = async () => {
    await signingKeys.rotate();
    const rewrapped = await vault.rewrap();
    if (rewrapped) log.info({ rewrapped }, 'data keys brought under the current key-encryption key');
    await keyRotation.finish();
    await sweepIdempotencyKeys(pool);
    await pool.query("DELETE FROM sessions WHERE least(expires_at, revoked_at) < now() - interval '7 days'");
    await pool.query("DELETE FROM device_requests WHERE expires_at < now() - interval '1 day'");
    await pool.query("DELETE FROM device_guesses WHERE created_at < now() - interval '1 day'");
    await pool.query("DELETE FROM oidc_sign_ins WHERE created_at < now() - interval '1 day'");
    await pool.query("DELETE FROM password_resets WHERE expires_at < now() - interval '7 days'");
    await pool.query("DELETE FROM email_verifications WHERE expires_at < now() - interval '7 days'");
    await pool.query("DELETE FROM invitations WHERE expires_at < now() - interval '90 days'");
    await purgeOldDeliveries(pool);
    await pool.query("DELETE FROM webhook_receipts WHERE received_at < now() - interval '7 days'");
    await deleteOldAuditRows(pool, auditRetentionDays);
    await purgeDeletedWorkspaces(pool);
    await sweepClosures(pool);
    await announceClosures(pool);
    announce();
    await purgeDeletedWorkers({ pool, objects, engine });
    await sweepPacks(pool, objects);
    await pool.query("DELETE FROM tokens WHERE revoked_at < now() - interval '30 days'");
    // JetStream keeps events for three days: an older one can't come again.
    await pool.query("DELETE FROM inbox WHERE received_at < now() - interval '7 days'");
  };
  const attempt = () => sweep().catch((err) => log.warn({ err }, 'housekeeping: will try again'));
  void attempt();
  const timer = setInterval(attempt, EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}
