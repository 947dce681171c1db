import fs from 'node:fs';
import path from 'node:path';
import { createDatabase, createTemporaryDir } from '@gantry/testing';
import { Client } from 'pg';
import { checkoutDir } from './dirs/shared-dir';
import { migrate } from './migrate';
import { listServiceMigrationFolders } from './migrate-folders';
import { type ServiceName, serviceNames } from './service-names';
import { readShape } from './test/database-shape';

const RUNS = /^(runs|run_.*)$/;
const SHARED = /^(runs|run_.*|outbox|published_events|inbox|idempotency_keys|rate_counts|workspace_closures)$/;

/** Only worker-api lists runs by what started them; the others would pay for the index with each run. */
const OF_ITS_OWN: Partial<Record<ServiceName, RegExp>> = { 'worker-api': /runs_by_trigger/ };

const listFolder = (folder: string) => fs.readdirSync(path.join(checkoutDir, folder));

async function withDatabase<T>(service: ServiceName, work: (client: Client) => Promise<T>): Promise<T> {
  const { url, drop } = await createDatabase(service);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
    await drop();
  }
}

async function listApplied(service: ServiceName): Promise<string[]> {
  return withDatabase(service, async (client) => {
    const { rows } = await client.query('SELECT migration_name AS name FROM _prisma_migrations');
    return rows.map(({ name }) => name);
  });
}

const getSharedPattern = (service: ServiceName) => (service === 'skills-api' ? /^(?!run)/ : /^/);

const readSharedShape = async (client: Client, service: ServiceName): Promise<string[]> => {
  const shape = await readShape(client, SHARED);
  return shape.filter((part) => !OF_ITS_OWN[service]?.test(part));
};

test.each([
  ['run-engine', ['worker-api', 'automation-api']],
  ['limits', [...serviceNames]],
])('a table change of packages/%s is applied to every service that uses it, and to no other', async (owner, users) => {
  const names = listFolder(`packages/${owner}/migrations`);
  expect(names.length).toBeGreaterThan(0);
  for (const service of serviceNames) {
    const applied = (await listApplied(service)).filter((name) => names.includes(name));
    expect({ service, applied: applied.sort() }).toEqual({ service, applied: users.includes(service) ? names : [] });
  }
});

test('tables that services share are the same in all of them', async () => {
  const expected = await withDatabase('worker-api', (client) => readSharedShape(client, 'worker-api'));
  expect(expected.filter((part) => RUNS.test(part.split(':')[0] ?? '')).length).toBeGreaterThan(80);
  for (const service of serviceNames) {
    const shape = await withDatabase(service, (client) => readSharedShape(client, service));
    expect(shape).toEqual(expected.filter((part) => getSharedPattern(service).test(part)));
  }
});

test('a database from before events were partitioned keeps them, and events of later runs are stored beside them', async () => {
  const { url, drop } = await createDatabase('empty');
  const folders = listServiceMigrationFolders('automation-api');
  const before = folders.map((folder) => {
    const copy = createTemporaryDir('migrations');
    const earlier = fs.readdirSync(folder).filter((name) => name < '20261122140000_retention');
    for (const name of earlier) fs.cpSync(path.join(folder, name), path.join(copy, name), { recursive: true });
    return copy;
  });
  await migrate(url, ...before);
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`INSERT INTO runs (id, workspace_id, subject_id, kind, trigger, status, inputs, spec)
    VALUES ('run_before', 'ws_a', 'a', 'run', 'api', 'completed', '{}', '{}')`);
  const event = "INSERT INTO run_events (run_id, seq, at, type, data) VALUES ($1, 1, now(), 'log', '{}')";
  await client.query(event, ['run_before']);
  expect((await migrate(url, ...folders)).applied).toContain('20261122140000_retention');
  await client.query(event, ['run_1795000000after']);
  await client.query(`${event} ON CONFLICT DO NOTHING`, ['run_before']);
  const { rows } = await client.query('SELECT run_id FROM run_events ORDER BY 1');
  expect(rows.map((row) => row.run_id)).toEqual(['run_1795000000after', 'run_before']);
  await client.end();
  await drop();
});

test.each([
  ['a column', 'ALTER TABLE runs ADD COLUMN more text'],
  ['a default', "ALTER TABLE runs ALTER COLUMN runner SET DEFAULT 'other'"],
  ['an index', 'CREATE INDEX more ON run_events_default (at)'],
  ['a constraint', 'ALTER TABLE run_steps DROP CONSTRAINT run_steps_kind_check'],
])('%s in only one service is detected', async (_what, drift) => {
  await withDatabase('worker-api', async (client) => {
    const before = await readSharedShape(client, 'worker-api');
    await client.query(drift);
    expect(await readSharedShape(client, 'worker-api')).not.toEqual(before);
  });
});
