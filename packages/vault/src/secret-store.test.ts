import { randomBytes } from 'node:crypto';
import { givenPool } from '@gantry/testing';
import { createSecretStore, createVault, parseKeyRing } from './index';

const pool = givenPool('automation-api');
const vault = createVault({ keys: parseKeyRing(`v1:${randomBytes(32).toString('base64')}`), pool });
const secrets = createSecretStore({ pool, vault });

const silent = async () => {};
const refusing = () => Promise.reject(new Error('the audit log is full'));
const set = (workspaceId: string, value: string, audit: () => Promise<void> = silent) =>
  secrets.set(workspaceId, { name: 'API_KEY', value, createdBy: null }, audit);

test('a change that can not be written down does not happen', async () => {
  await set('ws_audit', 'first');
  await expect(set('ws_audit', 'second', refusing)).rejects.toThrow('full');
  await expect(secrets.delete('ws_audit', 'API_KEY', refusing)).rejects.toThrow('full');
  expect(await secrets.reveal('ws_audit', ['API_KEY'])).toEqual({ API_KEY: 'first' });
});

test('an entry says when its value was last handed to a run', async () => {
  expect(await set('ws_used', 'x')).toMatchObject({ isNew: true, lastUsedAt: null });
  await Promise.all([1, 2, 3].map(() => secrets.reveal('ws_used', ['API_KEY', 'NOT_SET'])));
  const [entry] = await secrets.list('ws_used');
  expect(entry?.lastUsedAt).toBeInstanceOf(Date);
  expect(await set('ws_used', 'y')).toMatchObject({ isNew: false, lastUsedAt: entry?.lastUsedAt });
});

test('what is missing comes in the order it was asked for, and is never what another workspace has', async () => {
  await set('ws_mine', 'x');
  expect(await secrets.missing('ws_mine', ['Z', 'API_KEY', 'A'])).toEqual(['Z', 'A']);
  expect(await secrets.missing('ws_other', ['API_KEY'])).toEqual(['API_KEY']);
});
