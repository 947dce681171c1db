import fs from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createCa, createTemporaryDir, setupResource } from '@gantry/testing';
import S3rver from 's3rver';
import { checkObjectStore, openObjectStore } from '.';

const KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
const ca = setupResource(() => createCa());
const otherCa = setupResource(() => createCa());
const server = setupResource(startServer, (one) => one.stop());

async function startServer() {
  const issued = ca.issue('DNS:localhost');
  const s3 = new S3rver({
    address: 'localhost',
    port: 0,
    silent: true,
    directory: createTemporaryDir('s3'),
    configureBuckets: [{ name: 'ours', configs: [] }],
    key: fs.readFileSync(issued.key),
    cert: fs.readFileSync(issued.cert),
  });
  const { port } = await s3.run();
  return { port, stop: () => s3.close() };
}

const checkStore = (location: string, s3Ca?: string, s3Credentials = KEYS) =>
  checkObjectStore(
    openObjectStore({
      location,
      signingKey: 'k'.repeat(32),
      publicUrl: 'http://a.test',
      internalUrl: 'http://a.test',
      s3Ca,
      s3Credentials,
    }),
  );
const bucket = (name = 'ours', host = 'localhost', { port }: { port: number } = server) =>
  `s3://${name}?endpoint=https://${host}:${port}&pathStyle=true`;

test('a bucket behind a certificate of our CA is used', async () => {
  expect(await checkStore(bucket(), ca.pem)).toEqual([]);
});

test.each([
  ['another CA', () => checkStore(bucket(), otherCa.pem), 'object store: its certificate is signed by a CA'],
  ['no CA', () => checkStore(bucket()), 'set S3_CA'],
  [
    'another name',
    () => checkStore(bucket('ours', '127.0.0.1'), ca.pem),
    'object store: its certificate is for other names',
  ],
  ['no bucket', () => checkStore(bucket('theirs'), ca.pem), 'object store: the bucket does not exist'],
  ['a wrong key', () => checkStore(bucket(), ca.pem, { ...KEYS, accessKeyId: 'nobody' }), 'correct S3_ACCESS_KEY_ID'],
])('%s is reported in a sentence', async (_what, problems, sentence) => {
  expect(await problems()).toEqual([expect.stringContaining(sentence)]);
});

test('a bucket without permissions names the missing permissions', async () => {
  const issued = ca.issue('DNS:localhost');
  const denying = createServer({ key: fs.readFileSync(issued.key), cert: fs.readFileSync(issued.cert) }, (req, res) => {
    req.resume();
    res.writeHead(403, { 'Content-Type': 'application/xml' });
    res.end('<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>');
  });
  await new Promise<void>((resolve) => denying.listen(0, 'localhost', resolve));
  expect(await checkStore(bucket('ours', 'localhost', denying.address() as AddressInfo), ca.pem)).toEqual([
    'object store: access is denied: allow GetObject, PutObject, DeleteObject and ListBucket on the bucket',
  ]);
  denying.close();
});

test('a directory that cannot be written is reported, and a writeable one is left unchanged', async () => {
  const directory = createTemporaryDir('objects');
  expect(await checkStore(`file:${directory}`)).toEqual([]);
  const file = path.join(directory, 'file');
  fs.writeFileSync(file, '');
  expect(await checkStore(`file:${file}`)).toEqual([
    'object store: OBJECT_STORE does not name a directory: correct it',
  ]);
});
