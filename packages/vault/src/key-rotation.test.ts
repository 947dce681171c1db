import { randomBytes } from 'node:crypto';
import { setupPool } from '@gantry/testing';
import { createKeyRotation, createSecretStore, createVault, parseKeyRing, type SealedColumn } from './index';

const columns: SealedColumn[] = [
  { table: 'secrets', column: 'sealed', name: 'name', version: 'version' },
  { table: 'hooks', column: 'signing_key', name: "'hook:' || id", version: '1' },
];
const keys = parseKeyRing(`v1:${randomBytes(32).toString('base64')}`);
const silent = async () => {};
/** Each read opens all of them, and four loops keep doing so. */
const SECRETS = 30;

let failures: object[];
const pool = setupPool('automation-api', 'CREATE TABLE hooks (workspace_id text, id text, signing_key bytea)');
beforeEach(async () => {
  failures = [];
  // `finish` continues every rotation that it finds, also those of earlier tests.
  await pool.query('TRUNCATE data_keys, secrets, hooks');
});

/** One replica of a service. */
function replica() {
  const vault = createVault({ keys, pool });
  const rotation = createKeyRotation({ pool, vault, columns, log: { error: (fields) => failures.push(fields) } });
  return { vault, rotation, secrets: createSecretStore({ pool, vault }) };
}

const hourPasses = (workspaceId: string) =>
  pool.query("UPDATE data_keys SET created_at = created_at - interval '1 hour' WHERE workspace_id = $1", [workspaceId]);
const listVersions = async (workspaceId: string) =>
  (await pool.query('SELECT version FROM data_keys WHERE workspace_id = $1 ORDER BY 1', [workspaceId])).rows.map(
    ({ version }) => version,
  );

test('runs read secrets and members write them while the keys rotate again and again: none fails, none is lost', async () => {
  const [one, other] = [replica(), replica()];
  const names = Array.from({ length: SECRETS }, (_, n) => `KEY_${n}`);
  const expected: Record<string, string> = {};
  const write = async (secrets: typeof one.secrets, name: string, value: string) => {
    await secrets.set('ws_busy', { name, value, createdBy: null }, silent);
    expected[name] = value;
  };
  for (const name of names) await write(one.secrets, name, `${name} at first`);
  let rotating = true;
  let reads = 0;
  const read = async ({ secrets }: typeof one) => {
    for (; rotating; reads++) expect(Object.keys(await secrets.reveal('ws_busy', names))).toHaveLength(names.length);
  };
  const writer = async () => {
    for (let n = 0; rotating; n++) await write(other.secrets, `KEY_${n % SECRETS}`, `value ${n}`);
  };
  const busy = Promise.all([read(one), read(other), read(replica()), writer()]);
  for (let round = 0; round < 4; round++) {
    await one.rotation.rotate('ws_busy', silent);
    await hourPasses('ws_busy');
    await Promise.all([one.rotation.finish(), other.rotation.finish()]);
  }
  rotating = false;
  await busy;
  await hourPasses('ws_busy');
  await one.rotation.finish();
  expect(await listVersions('ws_busy')).toEqual([5]);
  expect(await replica().secrets.reveal('ws_busy', names)).toEqual(expected);
  expect([reads > 10, failures]).toEqual([true, []]);
});

test('values of every listed column move to the new key, and the old one goes an hour later', async () => {
  const { vault, rotation, secrets } = replica();
  const associatedData = { table: 'hooks', name: 'hook:h1', version: 1 };
  const sealed = await vault.seal('ws_all', associatedData, 'whsec_1');
  await pool.query("INSERT INTO hooks VALUES ('ws_all', 'h1', $1), ('ws_all', 'h2', NULL)", [sealed]);
  await secrets.set('ws_all', { name: 'A', value: 'a', createdBy: null }, silent);
  const audited: number[] = [];
  const audit = async (_execute: unknown, version: number) => void audited.push(version);
  expect(await rotation.rotate('ws_all', audit)).toEqual({ keyVersion: 2, resealed: 2 });
  expect(audited).toEqual([2]);
  await rotation.finish();
  expect(await listVersions('ws_all')).toEqual([1, 2]);
  await hourPasses('ws_all');
  await rotation.finish();
  expect(await listVersions('ws_all')).toEqual([2]);
  const fresh = replica();
  const { rows } = await pool.query("SELECT signing_key FROM hooks WHERE id = 'h1'");
  expect(await fresh.vault.open('ws_all', associatedData, rows[0].signing_key)).toBe('whsec_1');
  expect(await fresh.secrets.reveal('ws_all', ['A'])).toEqual({ A: 'a' });
});

test('values that an outdated replica seals with the old key are moved later, not lost', async () => {
  const [one, late] = [replica(), replica()];
  await late.secrets.set('ws_late', { name: 'A', value: 'first', createdBy: null }, silent);
  await one.rotation.rotate('ws_late', silent);
  await late.secrets.set('ws_late', { name: 'A', value: 'second', createdBy: null }, silent);
  await hourPasses('ws_late');
  expect((await one.rotation.finish()).resealed).toBe(1);
  expect(await listVersions('ws_late')).toEqual([2]);
  expect(await replica().secrets.reveal('ws_late', ['A'])).toEqual({ A: 'second' });
});

test('a value that does not open keeps its key, and is named without its content', async () => {
  const { vault, rotation } = replica();
  const sealed = await vault.seal('ws_odd', { table: 'hooks', name: 'elsewhere', version: 1 }, 'whsec_hidden');
  await pool.query("INSERT INTO hooks VALUES ('ws_odd', 'odd', $1)", [sealed]);
  expect(await rotation.rotate('ws_odd', silent)).toEqual({ keyVersion: 2, resealed: 0 });
  await hourPasses('ws_odd');
  await rotation.finish();
  expect(await listVersions('ws_odd')).toEqual([1, 2]);
  expect(failures[0]).toMatchObject({ workspaceId: 'ws_odd', table: 'hooks', name: 'hook:odd' });
  expect(JSON.stringify(failures)).not.toContain('whsec_hidden');
});

test('simultaneous rotations each get a key, up to ten waiting for removal; a refusal leaves nothing', async () => {
  const replicas = Array.from({ length: 5 }, replica);
  const rotated = await Promise.all(replicas.map(({ rotation }) => rotation.rotate('ws_many', silent)));
  expect(rotated.map(({ keyVersion }) => keyVersion).sort()).toEqual([1, 2, 3, 4, 5]);
  const [first] = replicas;
  for (let n = 0; n < 5; n++) await first?.rotation.rotate('ws_many', silent);
  await expect(first?.rotation.rotate('ws_many', silent)).rejects.toMatchObject({ code: 'keys_rotating' });
  expect(await listVersions('ws_many')).toHaveLength(10);
});

test('a test of a secret reports whether it is set and opens, and is not counted as a use', async () => {
  const { secrets } = replica();
  await secrets.set('ws_test', { name: 'A', value: 'a', createdBy: null }, silent);
  expect(await secrets.test('ws_test', 'A')).toEqual({ isSet: true, decrypts: true });
  expect(await secrets.test('ws_test', 'B')).toEqual({ isSet: false, decrypts: false });
  await pool.query("UPDATE secrets SET version = 7 WHERE workspace_id = 'ws_test'");
  expect(await secrets.test('ws_test', 'A')).toEqual({ isSet: true, decrypts: false });
  expect((await secrets.list('ws_test'))[0]?.lastUsedAt).toBeNull();
});
