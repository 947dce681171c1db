/**
 * An installation of an older version, made with that version's own code (upgrade-fixture.mjs), in the hands of this
 * one. e802f29 is from before migrations of shared tables moved into packages (ADR 27).
 */
import fs from 'node:fs';
import path from 'node:path';
import { createApiClient, createDatabase, createTemporaryDir, waitUntil } from '@gantry/testing';
import { Client } from 'pg';
import { openBackupFile } from '../backup/backup-file';
import { restore } from '../backup/restore';
import { findRunningPostgres, type GetDatabaseUrl, startTemporaryPostgres } from '../backup/temporary-postgres';
import { loadOrCreateLocalState } from '../launch/local-state';
import { serviceNames } from '../service-names';
import { startSupervisor } from '../supervise/supervise';
import { readShape } from '../test/database-shape';
import { type LaunchedPlatform, launchPlatform, START_MS } from '../test/launched-platform';

const file = path.join(__dirname, 'e802f29.backup');
const passphrase = async () => 'of the upgrade fixture';
const dataDir = path.join(createTemporaryDir('upgrade'), 'data');
const password = () => loadOrCreateLocalState(dataDir).keys.postgresPassword;

/** No request of the fixture fills these, or each row is gone as soon as it was used. */
const EMPTY =
  /(outbox|published_events|inbox|idempotency_keys|device_\w+|external_identities|oidc_sign_ins|password_resets|webhook_receipts|pack_intents|uploads|library_subscriptions|skill_saves|automation-api\/(run_steps|workspace_closures))$/;

/** The sweeps make partitions of events once they run. */
const NOT_A_WEEK = /^(?!run_events_\d{8}$)/;

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field by the test that knows them
type Json = any;
type Surface = 'base_url' | 'dashboard_url' | 'skills_url';

let platform: LaunchedPlatform | undefined;

async function request(surface: Surface, method: string, where: string, body?: unknown, token?: string): Promise<Json> {
  if (!platform) throw new Error('the platform does not run');
  const answer = await createApiClient(platform.local[surface], token ?? platform.local.token)(method, where, body);
  if (answer.status < 200 || answer.status > 299) {
    throw new Error(`${method} ${where}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return typeof answer.body === 'string' && answer.body.startsWith('[') ? JSON.parse(answer.body) : answer.body;
}
const worker = (where: string) => request('base_url', 'GET', where);
const automation = (where: string) => request('dashboard_url', 'GET', where);
const skills = (where: string) => request('skills_url', 'GET', where);

async function inDatabases(
  addressOf: GetDatabaseUrl,
  work: (client: Client, service: string) => Promise<void>,
): Promise<void> {
  for (const service of serviceNames) {
    const client = new Client({ connectionString: addressOf(service) });
    await client.connect();
    await work(client, service).finally(() => client.end());
  }
}

/** Makes the fixture a minute old: what has an age would be gone by retention otherwise, one day. */
async function rejuvenate(): Promise<void> {
  const supervisor = await startSupervisor({ dir: dataDir, show: () => {} });
  await inDatabases(await startTemporaryPostgres(supervisor, dataDir, password()), async (client) => {
    const { rows } = await client.query(`
      SELECT format('UPDATE %I SET ', table_name) || string_agg(format('%1$I = %1$I + $1::interval', column_name), ', ') AS sql
      FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name <> '_prisma_migrations'
        AND data_type LIKE 'timestamp%' GROUP BY table_name`);
    const { made } = (await client.query('SELECT max(finished_at) AS made FROM _prisma_migrations')).rows[0];
    await client.query('BEGIN');
    await client.query('SET LOCAL session_replication_role = replica');
    for (const { sql } of rows) await client.query(sql, [`${Math.round((Date.now() - made) / 1000 - 60)} s`]);
    await client.query('COMMIT');
  });
  await supervisor.stop();
  // Names this process as the launcher that works here.
  fs.rmSync(path.join(dataDir, 'processes.json'));
}

const getRun = async (id: string): Promise<Json> =>
  worker(`/api/runs/${(await worker(`/api/workers/${id}/runs`))[0].id}`);
/** The last run of a worker, once it has completed. */
const waitUntilCompleted = (id: string): Promise<Json> =>
  waitUntil(() => getRun(id).then((run) => run.status === 'completed' && run), {
    everyMs: 200,
    what: id,
  });

beforeAll(async () => {
  const progress = { step: () => {}, warn: () => {}, seconds: () => '' };
  await restore({ dataDir, file, passphrase, progress });
  await rejuvenate();
  platform = await launchPlatform(dataDir);
}, 2 * START_MS);

afterAll(() => platform?.stop());

test('the older installation had rows in every table', async () => {
  const { databases, readEntries } = await openBackupFile(file, passphrase);
  const filled = new Set<string>();
  for await (const { name, content } of readEntries()) {
    for await (const _ of content);
    filled.add(name.split('/').slice(0, 3).join('/'));
  }
  const tables = serviceNames.flatMap((service) =>
    databases[service].tables.map(({ name }) => `databases/${service}/${name}`),
  );
  expect(tables.filter((table) => !filled.has(table) && !EMPTY.test(table))).toEqual([]);
});

test('its databases equal new ones, and no migration was applied twice', async () => {
  const addressOf = await findRunningPostgres(dataDir, password());
  await inDatabases(addressOf as GetDatabaseUrl, async (client, service) => {
    const fresh = new Client({ connectionString: (await createDatabase(service as 'worker-api')).url });
    await fresh.connect();
    expect(await readShape(client, NOT_A_WEEK)).toEqual(await readShape(fresh));
    const migrations = 'SELECT migration_name FROM _prisma_migrations ORDER BY 1';
    expect((await client.query(migrations)).rows).toEqual((await fresh.query(migrations)).rows);
    await fresh.end();
  });
});

test('people, workspaces, tokens and the audit log are there, and the old token and password sign in', async () => {
  const { email, password: word, workspace_id } = platform?.local ?? {};
  await request('base_url', 'POST', '/auth/login', { email, password: word });
  await request('base_url', 'POST', '/auth/login', { email: 'member@gantry.local', password: 'an older password' });
  expect((await worker('/api/workspaces')).map(({ name }: Json) => name)).toContain('Second');
  const members = await worker(`/api/workspaces/${workspace_id}/members`);
  expect(members.map((member: Json) => member.email)).toContain('member@gantry.local');
  const invitations = await worker(`/api/workspaces/${workspace_id}/invitations`);
  expect(invitations.map((invitation: Json) => invitation.email)).toEqual(['invited@gantry.local']);
  expect((await worker('/auth/tokens')).map(({ name }: Json) => name)).toContain('another');
  expect((await worker('/api/audit-log')).length).toBeGreaterThan(5);
});

test('a worker has its versions, triggers, secrets, contexts and alerts, and runs', async () => {
  const { triggers } = await worker('/api/workers/teller');
  expect(triggers.map(({ type }: Json) => type).sort()).toEqual(['cron', 'webhook']);
  expect(JSON.stringify(triggers)).toContain('0 9 1 1 *');
  expect(await worker('/api/workers/teller/versions')).toHaveLength(2);
  expect((await worker('/api/contexts/style/versions')).length).toBe(2);
  expect(await worker('/api/workers/breaker/alerts')).toHaveLength(1);

  const old = await waitUntilCompleted('teller');
  const output = { told: 'emases nepo', guide: 'Be plain.' };
  expect(old.output).toEqual(output);
  expect(JSON.stringify(await worker(`/api/runs/${old.id}/logs`))).toContain('read the guide');
  expect(await worker(`/api/runs/${old.id}/artifacts/${old.artifacts[0].id}/download`)).toBe('kept');

  await request('base_url', 'POST', '/api/workers/teller/runs', { inputs: {} });
  const run = await waitUntilCompleted('teller');
  expect([run.id === old.id, run.output]).toEqual([false, output]);
});

test('unfinished runs continue: asleep, queued and waiting for a person', async () => {
  expect((await waitUntilCompleted('sleeper')).output).toEqual({ woke: true });
  expect((await waitUntilCompleted('queued')).output).toEqual({ ran: true });
  await request('base_url', 'POST', `/api/runs/${(await getRun('asker')).id}/approve`);
  await waitUntilCompleted('asker');
});

test('an automation has its versions, schedule, page and past run, and runs', async () => {
  const greeter = (await automation('/api/automations')).automations.find(({ name }: Json) => name === 'Greeter');
  expect((await automation(`/api/automations/${greeter.id}/versions`)).versions).toHaveLength(2);
  expect((await automation(`/api/pages/${greeter.id}`)).name).toBe('Greeter');
  const run = await request('dashboard_url', 'POST', `/api/automations/${greeter.id}/run`, { inputs: { name: 'Bo' } });
  expect(run.result.outputs).toEqual({ greeting: 'Hello, Bo!', told: 'emases nepo' });
});

test('skills, their versions, shares, libraries and keys are there, and are found', async () => {
  expect((await skills('/api/v1/skills/greeting')).body_md).toContain('And smile.');
  expect((await skills('/api/v1/skills/greeting/versions')).length).toBe(2);
  expect(JSON.stringify(await skills('/api/v1/skills/private-greeting/share'))).toContain('member@gantry.local');
  expect(JSON.stringify(await skills('/api/v1/libraries/manners'))).toContain('greeting');
  const { email, password: word } = platform?.local ?? {};
  const { access_token } = await request('base_url', 'POST', '/auth/login', { email, password: word });
  const keys = await request('skills_url', 'GET', '/api/v1/api-keys', undefined, access_token);
  expect(JSON.stringify(keys)).toContain('old key');
  expect(JSON.stringify(await skills('/api/v1/search?q=smile'))).toContain('greeting');
});
