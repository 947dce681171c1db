/** The effect of the migration on webhooks that exist already. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createPool } from '@gantry/postgres';
import { createDatabase } from '@gantry/testing';
import { createVault } from '@gantry/vault';
import { pino } from 'pino';
import { createWebhookWorkerLoader } from '../../starters/webhook/receive-webhook';
import { openSigningKeys } from './webhook-secret';

const dir = path.resolve(__dirname, '../../../prisma/migrations');
const folders = readdirSync(dir)
  .filter((name) => /^\d/.test(name))
  .sort();
const at = folders.findIndex((name) => name.endsWith('_webhook_secrets'));

test('a webhook from before keeps its token and its signing key', async () => {
  const { url } = await createDatabase('empty');
  const pool = createPool(url, { service: 'worker-api', log: pino({ level: 'silent' }) });
  const apply = async (names: string[]) => {
    for (const name of names) await pool.query(`BEGIN; ${readFileSync(path.join(dir, name, 'migration.sql'))}; COMMIT`);
  };
  await apply(folders.slice(0, at));
  const vault = createVault({ keys: { current: 'v1', keys: new Map([['v1', randomBytes(32)]]) }, pool });
  await pool.query("INSERT INTO workspaces (id, name) VALUES ('ws_a', 'A')");
  const sealed = await vault.seal(
    'ws_a',
    { table: 'workers', name: 'webhook_signing_key:wrk_1', version: 1 },
    JSON.stringify([{ key: 'whsec_old', until: null }]),
  );
  await pool.query(
    `INSERT INTO workers (uid, workspace_id, id, name, description, tags, runner, current_version, updated_at,
       webhook_hash, webhook_pepper_version, webhook_signing_key)
     VALUES ('wrk_1', 'ws_a', 'hooked', 'n', '', '{}', 'python', 1, now(), '\\x01', 'v1', $1)`,
    [sealed],
  );
  await pool.query(
    `INSERT INTO worker_triggers (id, worker_uid, workspace_id, type, "on")
     VALUES ('trg_1', 'wrk_1', 'ws_a', 'webhook', '{}'), ('trg_2', 'wrk_1', 'ws_a', 'event', '{run.failed}')`,
  );
  await apply(folders.slice(at));

  const hash = Buffer.from([1]);
  const hasher = { candidates: () => [hash], matches: (_token: string, stored: Buffer) => stored.equals(hash) };
  const worker = await createWebhookWorkerLoader(pool, hasher as never)({ workerId: 'hooked', token: 'whk_old' });
  expect(worker).toMatchObject({ uid: 'wrk_1', workspaceId: 'ws_a', currentVersion: 1, status: 'active' });
  const holder = { uid: 'wrk_1', workspaceId: 'ws_a', sealed: worker.webhookSigningKey };
  expect(await openSigningKeys(vault, holder, new Date())).toEqual(['whsec_old']);
  const { rows } = await pool.query(
    "SELECT count(webhook_hash)::int AS hashed FROM worker_triggers WHERE type = 'event'",
  );
  expect(rows).toEqual([{ hashed: 0 }]);
  await pool.end();
});
