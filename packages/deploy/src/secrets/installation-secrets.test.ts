import fs from 'node:fs';
import path from 'node:path';
import { createTemporaryDir } from '@gantry/testing';
import { claimCredentials } from '../commands/join';
import { completeSecrets, readers, type Secrets } from './installation-secrets';
import { fillCredentialPool, readSecretFiles, writeSecretFiles } from './secret-files';

const listValues = (secrets: Secrets) => Object.values(secrets).flatMap((values) => Object.values(values));

test('two installations have no secret in common', () => {
  const others = new Set(listValues(completeSecrets({})));
  expect(listValues(completeSecrets({})).filter((value) => others.has(value))).toEqual([]);
});

test('creating secrets again, wherever the first time was interrupted, changes none', () => {
  const first = completeSecrets({});
  expect(completeSecrets(first)).toEqual(first);
  const partly = { ...first, 'worker-api': {}, nats: {} };
  const { 'worker-api': worker, nats, ...rest } = completeSecrets(partly);
  const { 'worker-api': _, nats: __, ...kept } = first;
  expect(rest).toEqual(kept);
  expect(worker?.['database-url']).toBe(first['worker-api']?.['database-url']);
});

test('a value that the operator has provided is kept, and values derived from it follow it', () => {
  const made = completeSecrets({
    'worker-api': { 'database-url': 'postgres://elsewhere/gantry' },
    postgres: { 'skills-password': 'chosen' },
  });
  expect(made['worker-api']?.['database-url']).toBe('postgres://elsewhere/gantry');
  expect(made['skills-api']?.['database-url']).toBe('postgres://skills_api:chosen@postgres:5432/skills_api');
  expect(made.postgres?.['databases.sql']).toContain("CREATE ROLE skills_api LOGIN PASSWORD 'chosen'");
});

test('no service is given a key that only another one needs', () => {
  const made = completeSecrets({});
  const ofOthers = (reader: string) =>
    Object.keys(made)
      .filter((name) => name !== reader)
      .flatMap((name) => Object.values(made[name] ?? {}));
  // The object store is one, and so is what signs its addresses.
  const shared = /^(object-store-signing-key|s3-)/;
  for (const service of ['worker-api', 'automation-api', 'skills-api']) {
    const own = Object.entries(made[service] ?? {}).filter(([key]) => !shared.test(key));
    expect(own.filter(([, value]) => ofOthers(service).includes(value))).toEqual([]);
  }
});

describe('as files', () => {
  const getFileMode = (file: string) => (fs.statSync(file).mode & 0o777).toString(8);

  test('each reader has a directory, and written secrets are read again', () => {
    const dir = createTemporaryDir('secrets');
    const secrets = completeSecrets({});
    expect(writeSecretFiles(dir, secrets)).toHaveLength(listValues(secrets).length);
    expect(readSecretFiles(dir)).toEqual(secrets);
    expect(fs.readdirSync(dir).sort()).toEqual([...readers].sort());
    expect(getFileMode(path.join(dir, 'worker-api/encryption-keys'))).toBe('400');
    expect(writeSecretFiles(dir, completeSecrets(readSecretFiles(dir)))).toEqual([]);
  });

  test('each executor takes its own credentials out of the stock, and keeps them', () => {
    const stock = createTemporaryDir('stock');
    const executors = ['one', 'two', 'three'].map(createTemporaryDir);
    let made = 0;
    expect(fillCredentialPool(stock, 3, () => `credentials ${++made}`)).toBe(3);
    for (const executor of [...executors, ...executors]) claimCredentials(stock, executor);
    const held = executors.map((executor) => fs.readFileSync(path.join(executor, 'nats.creds'), 'utf8'));
    expect(held.sort()).toEqual(['credentials 1', 'credentials 2', 'credentials 3']);
    expect(() => claimCredentials(stock, createTemporaryDir('four'))).toThrow('run --rm generate');
    expect(fillCredentialPool(stock, 3, () => 'more')).toBe(3);
  });
});
