import { randomBytes } from 'node:crypto';
import { setupPool } from '@gantry/testing';
import { createVault, type KeyRing, parseKeyRing } from './index';

const newKey = (version: string) => `${version}:${randomBytes(32).toString('base64')}`;
const associatedData = { table: 'secrets', name: 'API_KEY', version: 1 };

let v1: string;
let keys: KeyRing;
const pool = setupPool('worker-api');
beforeEach(async () => {
  await pool.query('TRUNCATE data_keys');
  v1 = newKey('v1');
  keys = parseKeyRing(v1);
});

test.each(['', 'plain', 'ünïcode 🦆', 'x'.repeat(32 * 1024)])(
  'a value is returned unchanged, by any replica',
  async (value) => {
    const sealed = await createVault({ keys, pool }).seal('ws_a', associatedData, value);
    expect(await createVault({ keys, pool }).open('ws_a', associatedData, sealed)).toBe(value);
  },
);

test('nothing of the value is visible, and the same value never has the same ciphertext', async () => {
  const vault = createVault({ keys, pool });
  const [one, other] = [
    await vault.seal('ws_a', associatedData, 'hunter2hunter2'),
    await vault.seal('ws_a', associatedData, 'hunter2hunter2'),
  ];
  expect(one.includes('hunter2')).toBe(false);
  expect(one.equals(other)).toBe(false);
});

test.each([
  ['another workspace', 'ws_b', associatedData],
  ['another name', 'ws_a', { ...associatedData, name: 'OTHER' }],
  ['another table', 'ws_a', { ...associatedData, table: 'connections' }],
  ['an older version', 'ws_a', { ...associatedData, version: 2 }],
])('a ciphertext that is copied into %s does not open', async (_what, workspaceId, where) => {
  const vault = createVault({ keys, pool });
  await vault.seal('ws_b', associatedData, 'so that ws_b has a key');
  const sealed = await vault.seal('ws_a', associatedData, 'value');
  await expect(vault.open(workspaceId, where, sealed)).rejects.toThrow();
});

test('one changed or missing byte anywhere is detected', async () => {
  const vault = createVault({ keys, pool });
  const sealed = await vault.seal('ws_a', associatedData, 'value');
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
    await expect(vault.open('ws_a', associatedData, changed)).rejects.toThrow();
    await expect(vault.open('ws_a', associatedData, sealed.subarray(0, i))).rejects.toThrow();
  }
});

test('a data key that is moved to another workspace does not unwrap', async () => {
  const sealed = await createVault({ keys, pool }).seal('ws_a', associatedData, 'value');
  await pool.query("UPDATE data_keys SET workspace_id = 'ws_b'");
  await expect(createVault({ keys, pool }).open('ws_b', associatedData, sealed)).rejects.toThrow();
});

test('replicas that seal for a new workspace at the same moment share one key', async () => {
  const vaults = Array.from({ length: 8 }, () => createVault({ keys, pool }));
  const sealed = await Promise.all(vaults.map((vault, i) => vault.seal('ws_new', associatedData, `value ${i}`)));
  const reader = createVault({ keys, pool });
  expect(await Promise.all(sealed.map((value) => reader.open('ws_new', associatedData, value)))).toEqual(
    vaults.map((_, i) => `value ${i}`),
  );
  expect((await pool.query('SELECT 1 FROM data_keys')).rowCount).toBe(1);
});

test('the key-encryption key rotates online: old values open before, during and after, and then the old key can be removed', async () => {
  const before = createVault({ keys, pool });
  const workspaces = Array.from({ length: 230 }, (_, i) => `ws_${i}`);
  const sealed = await Promise.all(workspaces.map((id) => before.seal(id, associatedData, `of ${id}`)));
  const v2 = newKey('v2');
  const both = createVault({ keys: parseKeyRing(`${v1},${v2}`), pool });
  expect(await both.open('ws_0', associatedData, sealed[0] as Buffer)).toBe('of ws_0');

  const [one, other] = await Promise.all([
    both.rewrap(),
    createVault({ keys: parseKeyRing(`${v1},${v2}`), pool }).rewrap(),
  ]);
  expect(one + other).toBe(workspaces.length);
  expect(await both.rewrap()).toBe(0);

  const after = createVault({ keys: parseKeyRing(v2), pool });
  for (const [i, id] of workspaces.entries())
    expect(await after.open(id, associatedData, sealed[i] as Buffer)).toBe(`of ${id}`);
  await expect(createVault({ keys, pool }).open('ws_0', associatedData, sealed[0] as Buffer)).rejects.toThrow(
    '"v2" is not configured',
  );
});

test('deleting the data key of a workspace makes its values unreadable', async () => {
  const vault = createVault({ keys, pool });
  const sealed = await vault.seal('ws_a', associatedData, 'value');
  await pool.query("DELETE FROM data_keys WHERE workspace_id = 'ws_a'");
  vault.evict('ws_a');
  await expect(vault.open('ws_a', associatedData, sealed)).rejects.toThrow('no data key');
});
