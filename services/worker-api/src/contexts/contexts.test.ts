import { buildRawZip, createZip, setupResource } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const grace = setupResource(() => api.addMember('member'));
const member = setupResource(() => createCaller(api.url, grace.jwt));

let number = 0;
/** A new context of the owner with these files. */
async function contextWith(files: Record<string, string> = { 'a.txt': 'one' }, more: object = {}) {
  const name = `pack-${++number}`;
  const list = Object.entries(files).map(([path, content]) => ({ path, content }));
  const { body } = await owner
    .post('/api/contexts', { name, ...(list.length && { files: list }), ...more })
    .expect(201);
  return { path: `/api/contexts/${name}`, name, body };
}

const put = (path: string, type: string, bytes: Buffer | string) =>
  request(api.url).put(path).set('Authorization', `Bearer ${api.owner.jwt}`).set('Content-Type', type).send(bytes);
const upload = (path: string) =>
  request(api.url).post(`${path}/upload`).set('Authorization', `Bearer ${api.owner.jwt}`);
const listPaths = async (path: string) =>
  (await owner.get(`${path}/files?content=false`).expect(200)).body.map((file: { path: string }) => file.path);

test('a context is created with files, listed, edited, and shows its users', async () => {
  const { path, name, body } = await contextWith(
    { 'prices.csv': 'sku,price\n', 'docs/de/lies mich.md': '# Ä' },
    { description: 'What things cost', writeable: true },
  );
  expect(body).toMatchObject({ name, file_count: 2, total_size_bytes: 14, version: 1, writeable: true, used_by: [] });
  const worker = await createWorker(api, { contexts: [name] });
  const edited = await owner.patch(path, { description: 'Old', writeable: false }).expect(200);
  expect(edited.body).toMatchObject({
    description: 'Old',
    writeable: false,
    version: 1,
    visibility: 'workspace',
    used_by: [{ id: worker.id, name: worker.name }],
    permissions: { edit: true, delete: true, change_visibility: true },
  });
  const listed = (await owner.get('/api/contexts').expect(200)).body;
  expect(listed.find((one: { name: string }) => one.name === name)).toEqual(edited.body);
  await owner.post('/api/contexts', { name }).expect(409);
});

test('files are written and deleted as text, as bytes of any type, in forms and in zips: each change is one version', async () => {
  const { path } = await contextWith();
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 10, 13]);
  expect((await owner.put(`${path}/files/a.txt`, { content: 'two', message: 'more' })).body.version).toBe(2);
  expect((await put(`${path}/files/img/logo ä.png`, 'image/png', png).expect(200)).body.version).toBe(3);
  expect((await put(`${path}/files/data.json`, 'application/octet-stream', '{"a":1}')).body.version).toBe(4);
  const some = await upload(path)
    .attach('f', Buffer.from('x'), { filepath: 'docs/x.md' } as object)
    .attach('g', png, 'y');
  expect(some.body.version).toBe(5);
  const zip = await createZip({ 'z/1.txt': '1', '__MACOSX/._1.txt': 'junk', 'z/.DS_Store': 'junk' });
  expect((await upload(`${path}`).query({ extract: true }).attach('zip', zip, 'z.zip')).body.version).toBe(6);
  await owner.remove(`${path}/files/data.json`).expect(204);
  await owner.remove(`${path}/files/data.json`).expect(404);
  expect(await listPaths(path)).toEqual(['a.txt', 'docs/x.md', 'img/logo ä.png', 'y', 'z/1.txt']);

  const text = await owner.get(`${path}/files/a.txt`).buffer().expect(200);
  expect([text.text, text.headers['content-type']]).toEqual(['two', 'text/plain; charset=utf-8']);
  const image = await owner.get(`${path}/files/img%2Flogo%20%C3%A4.png`).expect(200);
  expect(image.body.equals(png)).toBe(true);
  expect(image.headers).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-disposition': expect.stringMatching(/^attachment; filename=/),
  });
  await owner.get(`${path}/files/nothing.txt`).expect(404);
  expect((await owner.get(`${path}/files?version=${some.body.sha.slice(0, 12)}`)).body).toHaveLength(5);
});

test.each([
  '{"a":[1,2]}',
  '[]',
  '{"content":"x","title":"y"}',
  '{"constructor":1}',
  '{ half',
  `["${'x'.repeat(2 << 20)}"]`,
])('JSON that does not wrap a file is the file, byte by byte: %#', async (text) => {
  const { path } = await contextWith();
  await put(`${path}/files/a.json`, 'application/json', text).expect(200);
  const { body } = await owner.get(`${path}/files/a.json`).responseType('blob').expect(200);
  expect((body as Buffer).equals(Buffer.from(text))).toBe(true);
});

test('a file may be empty, also for a client that sends neither a body nor its type', async () => {
  const { path } = await contextWith();
  await put(`${path}/files/empty.bin`, 'application/octet-stream', '').expect(200);
  await request(api.url).put(`${path}/files/none`).set('Authorization', `Bearer ${api.owner.jwt}`).expect(200);
  await put(`${path}/files/json`, 'application/json', '').expect(200);
  expect(await listPaths(path)).toEqual(['a.txt', 'empty.bin', 'json', 'none']);
});

test('an ineffective change creates no version; a version can be restored and downloaded', async () => {
  const { path, body } = await contextWith({ 'a.txt': 'one' });
  expect((await owner.put(`${path}/files/a.txt`, { content: 'one' })).body.version).toBe(1);
  await owner.put(`${path}/files`, { files: [{ path: 'b.txt', content: 'b' }], message: 'second' }).expect(200);
  const back = await owner.post(`${path}/rollback/${body.sha}`).expect(200);
  expect(back.body).toMatchObject({ version: 3, sha: body.sha, file_count: 1 });
  expect((await owner.post(`${path}/rollback/${body.sha}`)).body.version).toBe(3);
  const versions = await owner.get(`${path}/versions?limit=2`).expect(200);
  expect(versions.headers['x-total-count']).toBe('3');
  expect(versions.body).toMatchObject([
    {
      version: 3,
      current: true,
      message: 'Rolled back to version 1',
      change_source: 'rollback',
      author: 'owner@example.com',
    },
    { version: 2, current: false, message: 'second', change_source: 'files' },
  ]);
  await owner.post(`${path}/rollback/${'0'.repeat(64)}`).expect(404);
  const zip = await owner.get(`${path}/download?version=${versions.body[1].sha}`).responseType('blob').expect(200);
  expect(zip.headers['content-type']).toBe('application/zip');
  const copy = await contextWith({ 'other.txt': 'x' });
  await upload(copy.path).query({ extract: true }).attach('zip', Buffer.from(zip.body), 'pack.zip').expect(200);
  expect(await listPaths(copy.path)).toEqual(['a.txt', 'b.txt', 'other.txt']);
});

test('files that are written simultaneously through two replicas are all kept', async () => {
  const { path } = await contextWith({});
  const other = await api.replica();
  const jwt = `Bearer ${api.owner.jwt}`;
  const writes = Array.from({ length: 24 }, (_, n) =>
    request(n % 2 ? api.url : other.app)
      .put(`${path}/files/f${n}.txt`)
      .set('Authorization', jwt)
      .send({ content: `${n}` }),
  );
  expect((await Promise.all(writes)).map(({ status }) => status)).toEqual(writes.map(() => 200));
  expect(await listPaths(path)).toHaveLength(24);
  expect((await owner.get(path)).body.version).toBe(25);
});

test('a private context belongs to its owner and the admins; a worker of another member cannot declare it', async () => {
  await member.post('/api/contexts', { name: 'diary', visibility: 'private' }).expect(201);
  const stranger = createCaller(api.url, (await api.addMember('member')).jwt);
  for (const path of ['', '/files', '/versions', '/download', '/files/a.txt']) {
    await stranger.get(`/api/contexts/diary${path}`).expect(404);
  }
  await stranger.put('/api/contexts/diary/files/a.txt', { content: 'x' }).expect(404);
  await stranger.remove('/api/contexts/diary').expect(404);
  const seenBy = async (who: typeof owner) =>
    (await who.get('/api/contexts').expect(200)).body.some(({ name }: { name: string }) => name === 'diary');
  expect([await seenBy(member), await seenBy(owner), await seenBy(stranger)]).toEqual([true, true, false]);
  const refused = await stranger.post('/api/workers', {
    name: 'Nosy',
    contexts: ['diary'],
    files: [{ path: 'main.py', content: 'def run(): pass' }],
  });
  expect([refused.status, refused.body.errors?.[0].path]).toEqual([400, 'contexts.0']);
  const worker = await createWorker(api, { jwt: grace.jwt, contexts: ['diary'] });
  await stranger.patch(`/api/workers/${worker.id}`, { description: 'I only changed this' }).expect(200);
  await member.put('/api/contexts/diary/visibility', { visibility: 'workspace' }).expect(200);
  await stranger.get('/api/contexts/diary').expect(200);
  const changed = await stranger.put('/api/contexts/diary/visibility', { visibility: 'private' });
  expect([changed.status, changed.body.code]).toEqual([403, 'not_owner']);
  await stranger.remove('/api/contexts/diary').expect(403);
});

test('a context in use is deleted only by force, and its packs are deleted an hour later', async () => {
  const { path, name } = await contextWith();
  const worker = await createWorker(api, { contexts: [name] });
  const refused = await owner.remove(path).expect(409);
  expect(refused.body).toMatchObject({ code: 'in_use', detail: expect.stringContaining(worker.id) });
  await owner.remove(`${path}?force=true`).expect(204);
  await owner.get(path).expect(404);
  const run = await owner.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(409);
  expect(run.body.code).toBe('missing_context');
  const { rows } = await api.deps.pool.query("SELECT key FROM pack_intents WHERE key LIKE '%/contexts/%'");
  expect(rows.length).toBeGreaterThan(0);
});

test('credentials in files are pointed out, and not repeated', async () => {
  const key = `AKIA${'IOSFODNN7EXAMPL3'}`;
  const { path, body } = await contextWith({ 'deploy/.env': `# keys\nAWS=${key}\n`, 'clean.txt': 'nothing' });
  expect(body.findings).toEqual([{ path: 'deploy/.env', line: 2, kind: 'aws_access_key' }]);
  expect(body.warnings).toEqual([expect.stringContaining('deploy/.env:2')]);
  const other = await owner.put(`${path}/files/clean.txt`, { content: 'still nothing' }).expect(200);
  expect([other.body.warnings, other.body.findings]).toEqual([[], body.findings]);
  const bad = await put(`${path}/files/key.pem`, 'application/x-pem-file', '-----BEGIN PRIVATE KEY-----\n').expect(200);
  expect(bad.body).toMatchObject({ warnings: [expect.stringContaining('key.pem:1')], findings: { length: 2 } });
  await owner.remove(`${path}/files/deploy/.env`).expect(204);
  expect((await owner.get(path)).body.findings).toHaveLength(1);
  expect(JSON.stringify([body, bad.body]) + api.logs.text()).not.toContain(key);
});

// Creates `pack-1`, the first context. The requests below are refused, so it never changes.
beforeAll(() => contextWith({ 'prices.csv': 'sku,price\n' }));

test.each<[string, string, object, string]>([
  ['post', '', { name: 'Not A Slug' }, 'name'],
  ['post', '', { name: 'ab' }, 'name'],
  ['post', '', { name: 'fine', description: 'a\0b' }, 'description'],
  ['post', '', { name: 'fine', files: [{ path: '../x', content: '' }] }, 'files.0.path'],
  ['post', '', { name: 'fine', files: [{ path: 'x' }] }, 'files.0'],
  ['post', '', { name: 'fine', visibility: 'public' }, 'visibility'],
  ['patch', '/pack-1', { name: 'renamed' }, 'name'],
  ['put', '/pack-1/files/a.txt', { content: 1 }, 'content'],
  ['put', '/pack-1/files/a.txt', { content: 'a', content_base64: 'YQ==' }, 'content'],
  ['put', '/pack-1/files/a.txt', { content_base64: '***' }, 'content_base64'],
  ['put', '/pack-1/files/a.txt', { content: 'a', message: 'a\0b' }, 'message'],
  ['put', '/pack-1/files/..%2Fx', { content: 'a' }, 'files.0.path'],
  ['put', '/pack-1/files/%252e%252e%252fx', { content: 'a' }, 'files.0.path'],
  ['put', '/pack-1/files//etc/passwd', { content: 'a' }, 'files.0.path'],
  ['put', '/pack-1/files/a%00b', { content: 'a' }, 'path'],
  ['put', '/pack-1/files/prices.csv/x', { content: 'a' }, 'files'],
  ['post', '/pack-1/rollback/xyz', {}, 'sha'],
])('%s %s %j is a 400 that names the field', async (method, path, body, field) => {
  const answer = await owner[method as 'post' | 'put' | 'patch'](`/api/contexts${path}`, body);
  expect([answer.status, answer.body.errors?.[0].path]).toEqual([400, field]);
});

test('oversized content and a hostile zip are refused, and nothing of them is stored', async () => {
  const { path } = await contextWith({ 'a.txt': 'one' });
  const large = Buffer.alloc(10 * 1024 * 1024 + 1);
  await put(`${path}/files/large`, 'application/octet-stream', large).expect(413);
  await put(`${path}/files/large`, 'application/json', JSON.stringify({ content: 'x'.repeat(1 << 20) })).expect(413);
  await upload(path).attach('f', large.subarray(1), 'a').attach('g', Buffer.alloc(1), 'b').expect(413);
  await upload(path)
    .attach('f', Buffer.from('x'), { filepath: '../../x' } as object)
    .expect(400);
  const extract = (zip: Buffer) => upload(path).query({ extract: true }).attach('zip', zip, 'a.zip').expect(400);
  await extract(Buffer.from('no zip'));
  await extract(buildRawZip([{ name: '../up' }]));
  await extract(buildRawZip([{ name: 'link', mode: 0o120777 }]));
  await extract(buildRawZip([{ name: 'a' }, { name: 'A' }]));
  await extract(await createZip(Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`f${n}`, 'x']))));
  expect(await listPaths(path)).toEqual(['a.txt']);
  expect((await owner.get(path)).body.version).toBe(1);
});

test('a viewer reads and does not write', async () => {
  const { path } = await contextWith();
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  expect((await viewer.get(path).expect(200)).body.permissions.edit).toBe(false);
  await viewer.get(`${path}/files/a.txt`).expect(200);
  await viewer.put(`${path}/files/a.txt`, { content: 'x' }).expect(403);
  await viewer.post('/api/contexts', { name: 'of-a-viewer' }).expect(403);
});
