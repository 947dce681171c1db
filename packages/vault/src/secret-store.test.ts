import { randomBytes } from 'node:crypto';
import { setupPool } from '@gantry/testing';
import { createKeyRotation, createSecretStore, createVault, parseKeyRing, splitSecrets } from './index';

const pool = setupPool('automation-api');
const vault = createVault({ keys: parseKeyRing(`v1:${randomBytes(32).toString('base64')}`), pool });
const secrets = createSecretStore({ pool, vault });

const silent = async () => {};
const refusing = () => Promise.reject(new Error('the audit log is full'));
const set = (workspaceId: string, value: string, audit: () => Promise<void> = silent) =>
  secrets.set(workspaceId, { name: 'API_KEY', value, createdBy: null }, audit);

test('a change that cannot be audited is rolled back', async () => {
  await set('ws_audit', 'first');
  await expect(set('ws_audit', 'second', refusing)).rejects.toThrow('full');
  await expect(secrets.delete('ws_audit', 'API_KEY', refusing)).rejects.toThrow('full');
  expect(await secrets.reveal('ws_audit', ['API_KEY'])).toEqual({ API_KEY: 'first' });
});

test('an entry shows when its value was last handed to a run', async () => {
  expect(await set('ws_used', 'x')).toMatchObject({ isNew: true, lastUsedAt: null });
  await Promise.all([1, 2, 3].map(() => secrets.reveal('ws_used', ['API_KEY', 'NOT_SET'])));
  const [entry] = await secrets.list('ws_used');
  expect(entry?.lastUsedAt).toBeInstanceOf(Date);
  expect(await set('ws_used', 'y')).toMatchObject({ isNew: false, lastUsedAt: entry?.lastUsedAt });
});

test('missing names are listed in the requested order, and never include those of another workspace', async () => {
  await set('ws_mine', 'x');
  expect(await secrets.missing('ws_mine', ['Z', 'API_KEY', 'A'])).toEqual(['Z', 'A']);
  expect(await secrets.missing('ws_other', ['API_KEY'])).toEqual(['API_KEY']);
});

test('the total size of a workspace’s values is limited, and replacing one stays within it', async () => {
  const put = (at: number, value: string) =>
    secrets.set('ws_full', { name: `KEY_${at}`, value, createdBy: null }, silent);
  for (let at = 0; at < 7; at++) await put(at, 'k'.repeat(32 * 1024));
  await expect(put(7, 'k'.repeat(32 * 1024))).rejects.toMatchObject({ code: 'too_many_secrets' });
  await put(6, 'n'.repeat(32 * 1024));
  await put(7, 'a short one');
});

describe('hosts', () => {
  const KEY = 'API_KEY';
  const put = (workspaceId: string, value: string, hosts?: string[]) =>
    secrets.set(workspaceId, { name: KEY, value, hosts, createdBy: null }, silent);
  const opened = (workspaceId: string) => secrets.open(workspaceId, [KEY]);

  test('hide no value from masking, and a row that no longer opens does not hide the others', async () => {
    await put('ws_masked', 'to one host alone', ['api.example.com']);
    await secrets.set('ws_masked', { name: 'OTHER', value: 'anywhere', createdBy: null }, silent);
    await secrets.set('ws_masked', { name: 'BROKEN', value: 'lost', hosts: ['a.example'], createdBy: null }, silent);
    await pool.query("UPDATE secrets SET hosts = '{b.example}' WHERE workspace_id = 'ws_masked' AND name = 'BROKEN'");
    expect((await secrets.valuesOf('ws_masked')).sort()).toEqual(['anywhere', 'to one host alone']);
  });

  test('are kept with a new value that does not mention them, and removed with an empty list', async () => {
    const hosts = ['api.example.com', '*.example.net:8443'];
    expect(await put('ws_hosts', 'a', ['API.example.com:443', '*.example.net:8443'])).toMatchObject({ hosts });
    expect(await put('ws_hosts', 'b')).toMatchObject({ isNew: false, hosts });
    expect(await opened('ws_hosts')).toEqual([{ name: KEY, value: 'b', hosts, places: ['header'] }]);
    expect(await secrets.list('ws_hosts')).toMatchObject([{ name: KEY, hosts }]);
    expect(await put('ws_hosts', 'c', [])).toMatchObject({ hosts: [] });
    expect(await opened('ws_hosts')).toEqual([{ name: KEY, value: 'c', hosts: [], places: ['header'] }]);
  });

  test.each([['{evil.example}'], ['{}'], ['{b.example,a.example}']])(
    'a row whose hosts were changed to %s no longer opens',
    async (changed) => {
      await put('ws_moved', 'never to leave', ['a.example', 'b.example']);
      await pool.query("UPDATE secrets SET hosts = $1 WHERE workspace_id = 'ws_moved'", [changed]);
      await expect(opened('ws_moved')).rejects.toThrow('the secret API_KEY cannot be decrypted');
      expect(await secrets.test('ws_moved', KEY)).toEqual({ isSet: true, decrypts: false });
    },
  );

  test('remain valid after the key was rotated', async () => {
    await put('ws_turned', 'kept', ['a.example']);
    const columns = [{ table: 'secrets', column: 'sealed', name: 'name', version: 'version', hosts: 'hosts' }];
    const log = { error: jest.fn() };
    const rotation = createKeyRotation({ pool, vault, columns, log });
    expect(await rotation.rotate('ws_turned', silent)).toMatchObject({ resealed: 1 });
    expect(log.error).not.toHaveBeenCalled();
    expect(await opened('ws_turned')).toEqual([{ name: KEY, value: 'kept', hosts: ['a.example'], places: ['header'] }]);
  });

  test('replace the value by a placeholder, unless it is exposed; in a test the placeholder stands for itself', () => {
    const held = { name: 'HELD', value: 'v1', hosts: ['a.example'], places: ['header', 'body'] };
    const plain = { name: 'PLAIN', value: 'v2', hosts: [], places: [] };
    const given = splitSecrets([held, plain], { isOffline: false });
    expect(given.secrets).toEqual({ PLAIN: 'v2' });
    const placeholder = expect.stringMatching(/^gph_[A-Za-z0-9]{32}$/);
    const { name, value, hosts } = held;
    expect(given.credentials).toEqual([
      ...[
        {
          kind: 'secret',
          name,
          value,
          hosts,
          placeholder,
          places: ['header', 'body'],
          scopes: [],
          baseUrl: null,
          accountLabel: null,
        },
      ],
    ]);
    expect(splitSecrets([held], { isOffline: false, exposed: ['HELD'] })).toEqual({
      secrets: { HELD: 'v1' },
      credentials: [],
    });
    const [outside] = splitSecrets([held], { isOffline: false, inBody: ['OTHER'] }).credentials;
    expect(outside?.places).toEqual(['header']);
    const [tested] = splitSecrets([held], { isOffline: true }).credentials;
    expect(tested?.value).toBe(tested?.placeholder);
  });
});
