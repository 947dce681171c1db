import { buildRawZip, createZip, setupResource } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from '../test/caller';
import { createWorker, HELLO } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));

function upload(zip: Buffer, fields: Record<string, string> = {}, to: { put?: string } = {}) {
  const asked = to.put ? request(api.url).put(to.put) : request(api.url).post('/api/workers');
  const form = asked.set('Authorization', `Bearer ${api.owner.jwt}`).attach('bundle', zip, 'worker.zip');
  return Object.entries(fields).reduce((sent, [name, value]) => sent.field(name, value), form);
}

const download = (path: string) =>
  owner
    .get(path)
    .buffer(true)
    .parse((res, done) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => done(null, Buffer.concat(chunks)));
    });

test('what is exported and created again is the same version of the same worker', async () => {
  const { workspaceId } = api;
  const context = { uid: 'con_prices', workspaceId, name: 'price-list', description: '', currentVersion: 1 };
  await api.deps.prisma.context.create({ data: context });
  const made = await createWorker(api, {
    name: 'Price watch: "north"',
    description: 'Watches\nprices',
    tags: ['prices'],
    inputs: ['url', { name: 'count', type: 'integer', default: 2, minimum: 1 }],
    outputs: [{ name: 'price', type: 'number' }],
    secrets: ['API_KEY'],
    contexts: ['price-list'],
    python_dependencies: ['requests>=2.31'],
    limits: { concurrency: 1, concurrency_key: 'url' },
    retry: { max_attempts: 3 },
    approvals: { required: true },
    triggers: [
      { type: 'cron', cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', inputs: { url: 'x' } },
      { type: 'webhook', signed: true },
      { type: 'event', on: ['run.failed'], source_id: 'other' },
    ],
    files: [
      { path: 'main.py', content: HELLO },
      { path: 'manifest.json', content: '{}' },
      { path: 'data/logo.bin', content_base64: 'AP8=' },
    ],
  });
  const path = `/api/workers/${made.id}/bundle.zip`;
  const exported = await download(path).expect(200);
  expect(exported.headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename=${made.id}.zip`,
  });
  expect((await download(path).expect(200)).body.equals(exported.body)).toBe(true);
  expect(exported.body.includes(made.webhook_secret)).toBe(false);

  const { body: again } = await upload(exported.body, { name: 'Copy', message: 'From elsewhere' }).expect(201);
  expect(again).toMatchObject({ id: 'copy', name: 'Copy', version: 1, sha: made.sha });
  for (const field of ['description', 'tags', 'inputs', 'limits', 'retry', 'approvals', 'secrets', 'contexts']) {
    expect(again[field]).toEqual(made[field]);
  }
  expect(again.triggers).toMatchObject([
    { type: 'cron', cron: '0 9 * * MON-FRI', timezone: 'Europe/Berlin', inputs: { url: 'x' } },
    { type: 'webhook', signed: true },
    { type: 'event', on: ['run.failed'], source_id: 'other' },
  ]);
  expect(again.webhook_secret).not.toBe(made.webhook_secret);
  const { body: versions } = await owner.get('/api/workers/copy/versions').expect(200);
  expect(versions).toMatchObject([{ change_source: 'bundle', message: 'From elsewhere' }]);
});

test('a zipped folder with a worker.json is a bundle too, and replaces code and definition but no omitted fields', async () => {
  const made = await createWorker(api, { name: 'Replaced', trigger: 'webhook', secrets: ['OLD'] });
  const zip = await createZip({
    'my-worker/worker.json': JSON.stringify({ entrypoint: 'src/app.py', limits: { memory_mb: 128 } }),
    'my-worker/src/app.py': HELLO,
    'my-worker/src/__pycache__/app.pyc': 'x',
  });
  const { body } = await upload(zip, {}, { put: '/api/workers/replaced' }).expect(200);
  expect(body).toMatchObject({
    id: 'replaced',
    name: 'Replaced',
    version: 2,
    entrypoint: 'src/app.py',
    secrets: [],
    trigger_type: 'webhook',
    limits: { memory_mb: 128 },
  });
  expect(body.sha).not.toBe(made.sha);
  const { body: files } = await owner.get('/api/workers/replaced/files').expect(200);
  expect(files.map((file: { path: string }) => file.path)).toEqual(['src/app.py']);
});

const main = { 'main.py': HELLO };
const yaml = (text: string) => createZip({ ...main, 'worker.yaml': text });

test.each<[string, string, () => Promise<Buffer>]>([
  ['no zip', 'usable zip', async () => Buffer.from('PK no')],
  ['without a worker.yaml', 'contains no worker.yaml', () => createZip(main)],
  ['with two manifests', 'contains both', () => createZip({ ...main, 'worker.yaml': 'name: a', 'worker.json': '{}' })],
  ['with nothing else', 'only worker.yaml', () => createZip({ 'worker.yaml': 'name: a' })],
  ['whose manifest is not a map', 'must be a map', () => yaml('- a')],
  ['whose manifest is not YAML', "can't be read", () => yaml('name: [a')],
  ['whose manifest is invalid JSON', "can't be read", () => createZip({ ...main, 'worker.json': '{' })],
  ['with a path outside it', 'plain relative path', async () => buildRawZip([{ name: '../main.py' }])],
  ['with a link in it', 'is a link', async () => buildRawZip([{ name: 'main.py', mode: 0o120777 }])],
  ['with an unknown field', 'colour', () => yaml('name: a\ncolour: red')],
  ['that asks for a new secret', 'webhook_secret_rotate', () => yaml('name: a\nwebhook_secret_rotate: true')],
  ['whose budget is no number', 'budget_usd_per_month', () => yaml('name: a\nlimits: { budget_usd_per_month: .nan }')],
  ['whose name is an unpaired surrogate', 'half of a character', () => yaml('name: "a\\ud800"')],
  [
    'whose input has an unpaired surrogate',
    'half of a character',
    () => yaml('name: a\nschedule: { inputs: { a: "\\udc00" } }'),
  ],
  ['without a name', 'name', () => yaml('description: a')],
  ['with a thousand laughs', "can't be read", () => yaml(laughs())],
  ['whose manifest is 3,000 nested lists', 'line 1, column 131: it is nested deeper', () => yaml('- '.repeat(3_000))],
  ['whose manifest is 3,000 nested keys', 'nested deeper than 64 levels', () => yaml('? '.repeat(3_000))],
  [
    'whose JSON is nested without end',
    "can't be read",
    () => createZip({ ...main, 'worker.json': '['.repeat(200_000) }),
  ],
  [
    'whose JSON is deeply nested, and ends',
    "can't be read",
    () => createZip({ ...main, 'worker.json': `${'['.repeat(200_000)}${']'.repeat(200_000)}` }),
  ],
])('a bundle %s is refused', async (_what, why, zip) => {
  const { body } = await upload(await zip()).expect(400);
  expect(body.detail).toContain(why);
});

function laughs(): string {
  const lines = ['a0: &a0 [ha, ha]'];
  for (let n = 1; n < 30; n++) lines.push(`a${n}: &a${n} [*a${n - 1}, *a${n - 1}]`);
  return lines.join('\n');
}

test('a bundle over 10 MB is refused while it is uploaded, and one without a file names the field', async () => {
  const large = await upload(Buffer.alloc(10 * 1024 * 1024 + 1));
  expect([large.status, large.body.code]).toEqual([413, 'too_large']);
  expect(large.body.detail).toContain('10 MB');
  const { body } = await request(api.url)
    .post('/api/workers')
    .set('Authorization', `Bearer ${api.owner.jwt}`)
    .field('bundle', 'a text')
    .expect(400);
  expect(body.errors[0].path).toBe('bundle');
  const bomb = buildRawZip([
    { name: 'worker.yaml', content: Buffer.from('name: a') },
    { name: 'main.py', content: Buffer.alloc(11 * 1024 * 1024) },
  ]);
  expect((await upload(bomb).expect(400)).body.detail).toContain('larger than 10 MB');
});
