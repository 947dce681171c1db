import { request as httpRequest } from 'node:http';
import { buildRawZip, createZip, setupResource } from '@gantry/testing';
import {
  type Caller,
  createArtifact,
  helloCode,
  helloManifest,
  startService,
  testService,
  uploadZip,
} from '../test/service';

const MB = 1024 * 1024;

const service = testService();
const me = setupResource(() => service.createCaller());
const executor = setupResource(() => service.connectExecutor());

const create = (caller: Caller, storageKey: string, change: object = {}) =>
  caller.post('/api/artifacts', { manifest: helloManifest, entrypoint: 'main.py', storageKey, ...change });

test('an artifact lists its files and their hashes, and returns its code', async () => {
  const storageKey = await uploadZip(
    me,
    await createZip({ 'main.py': helloCode, 'lib/data.txt': 'data', 'manifest.json': '{}' }),
  );
  const { body } = await create(me, storageKey).expect(201);
  expect(body).toEqual({
    artifactId: expect.stringMatching(/^art_[\w-]{21}$/),
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    fileCount: 2,
    totalSize: helloCode.length + 4,
    dependencies: [],
    dependenciesSource: null,
    warnings: [],
  });
  const code = await me.get(`/api/artifacts/${body.artifactId}/code`).expect(200);
  expect(code.body.fileList).toEqual([
    { path: 'lib/data.txt', size: 4, hash: '3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7' },
    { path: 'main.py', size: helloCode.length, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
  const download = await fetch(code.body.downloadUrl);
  expect(download.headers.get('Content-Disposition')).toContain(`${body.artifactId}.zip`);
  expect((await download.arrayBuffer()).byteLength).toBeGreaterThan(100);
});

test('packages are those of a file in the zip, unless the manifest lists any, and runs get them', async () => {
  const zip = await createZip({ 'main.py': helloCode, 'requirements.txt': 'pandas==2.2.3\n' });
  const storageKey = await uploadZip(me, zip);
  const { body } = await create(me, storageKey).expect(201);
  const expected = { dependencies: ['pandas==2.2.3'], dependenciesSource: 'requirements.txt' };
  expect(body).toMatchObject(expected);
  expect((await me.get(`/api/artifacts/${body.artifactId}/code`).expect(200)).body).toMatchObject(expected);
  const readInstallation = async () =>
    (await me.get(`/api/artifacts/${body.artifactId}/code`).expect(200)).body.installation;
  expect(await readInstallation()).toMatchObject({ status: 'pending', packages: [] });
  await me.post('/api/test', { artifactId: body.artifactId, inputs: { who: 'Ada' }, wait: 0 }).expect(200);
  const job = await executor.claimJob();
  expect(job.dependencies).toEqual(['pandas==2.2.3']);
  const sha256 = 'a'.repeat(64);
  const packages = [{ name: 'pandas', version: '2.2.3', file: 'pandas-2.2.3-py3-none-any.whl', sha256 }];
  expect(await job.lock('cp311-linux-x64', packages)).toEqual({ packages });
  await job.complete({ greeting: 'hello' });
  expect((await me.get(`/api/artifacts/${body.artifactId}/code`).expect(200)).body.lockedDependencies).toEqual([
    { platform: 'cp311-linux-x64', lockedAt: expect.any(String), packages },
  ]);
  expect(await readInstallation()).toMatchObject({
    status: 'installed',
    packages: [{ name: 'pandas', version: '2.2.3', sha256 }],
  });
  const listing = { manifest: { ...helloManifest, python_dependencies: ['rich'] } };
  const listed = await create(me, storageKey, listing).expect(201);
  expect(listed.body).toMatchObject({ dependencies: ['rich'], dependenciesSource: null });
});

test('a file whose packages would come from elsewhere is refused with its line', async () => {
  const zip = await createZip({ 'main.py': helloCode, 'requirements.txt': 'rich\n--index-url https://evil.test\n' });
  const { body } = await create(me, await uploadZip(me, zip)).expect(400);
  expect(body.error).toContain('"requirements.txt", line 2: "--index-url https://evil.test" is an option');
});

test('several artifacts can be created from one upload', async () => {
  const storageKey = await uploadZip(me, await createZip({ 'main.py': helloCode }));
  const first = await create(me, storageKey).expect(201);
  const second = await create(me, storageKey).expect(201);
  expect(second.body.artifactId).not.toBe(first.body.artifactId);
  expect(second.body.digest).toBe(first.body.digest);
});

test('a parameter without an input is a warning, unless the function takes any parameter', async () => {
  const warningsFor = async (code: string) => {
    const storageKey = await uploadZip(me, await createZip({ 'main.py': code }));
    return (await create(me, storageKey).expect(201)).body.warnings;
  };
  expect(await warningsFor('def run(who, count): pass')).toEqual([expect.stringContaining('"count"')]);
  expect(await warningsFor('def run(inputs): pass')).toEqual([]);
  expect(await warningsFor('async def run(context, who): pass')).toEqual([]);
});

test('all missing fields are named', async () => {
  const { body } = await me.post('/api/artifacts', {}).expect(400);
  for (const field of ['manifest', 'entrypoint', 'storageKey']) {
    expect(body.details).toContainEqual({ path: field, message: expect.stringContaining('required') });
  }
});

test('an unknown field is named', async () => {
  const { body } = await create(me, 'x', { zip: 'data' }).expect(400);
  expect(body.details).toEqual([{ path: 'zip', message: 'unknown property' }]);
});

test.each([
  ['no such file', { entrypoint: 'other.py' }, 'bad_entrypoint'],
  ['not Python', { entrypoint: 'data.txt' }, 'bad_entrypoint'],
  ['a traversal', { entrypoint: '../main.py' }, 'bad_entrypoint'],
  ['a bad manifest', { manifest: { inputs: 7 } }, 'bad_manifest'],
  [
    'a default of another type',
    { manifest: { name: 'x', inputs: [{ name: 'a', type: 'number', default: 'b' }] } },
    'bad_manifest',
  ],
])('%s is a 400', async (_what, change, code) => {
  const storageKey = await uploadZip(me, await createZip({ 'main.py': helloCode, 'data.txt': 'x' }));
  const { body } = await create(me, storageKey, change).expect(400);
  expect(body).toMatchObject({ code, error: expect.any(String), details: expect.any(Array) });
});

test('all problems of an artifact are in one response, in sentences', async () => {
  const inputs = [{ name: 'a', type: 'integer', default: 'x' }];
  const { body } = await create(me, 'x', { entrypoint: 'main.js', manifest: { name: 'x', inputs } }).expect(400);
  expect(body.details).toEqual([
    { path: 'manifest.inputs.0.default', message: 'must be a whole number' },
    { path: 'entrypoint', message: 'must name a Python file, like main.py or src/main.py' },
  ]);
});

test('an entrypoint without run(), or that is not Python, is a 400', async () => {
  const answer = async (code: string) => create(me, await uploadZip(me, await createZip({ 'main.py': code })));
  expect(await answer('def walk(): pass')).toMatchObject({ status: 400, body: { code: 'no_run' } });
  expect(await answer('def run(:')).toMatchObject({ status: 400, body: { code: 'syntax_error' } });
});

test('an invalid zip is a 400 with the reason', async () => {
  const storageKey = await uploadZip(me, buildRawZip([{ name: '../../evil.py' }]));
  const { body } = await create(me, storageKey).expect(400);
  expect(body).toMatchObject({ code: 'bad_zip', details: [{ path: 'storageKey' }] });
  const notAZip = await uploadZip(me, Buffer.from('hello'));
  await create(me, notAZip).expect(400);
});

test('an upload URL is created with any body or none', async () => {
  await me.post('/api/artifacts/upload-url', {}).expect(200);
  await me.post('/api/artifacts/upload-url').set('Content-Type', 'application/json').expect(200);
});

test('an artifact from a missing upload is a 400', async () => {
  const { body } = await me.post('/api/artifacts/upload-url').expect(200);
  expect((await create(me, body.storageKey).expect(400)).body.code).toBe('not_uploaded');
});

test('more than 10 MB is refused at the URL while it streams, and at creation', async () => {
  const { body } = await me.post('/api/artifacts/upload-url').expect(200);
  const status = await new Promise<number>((resolve, reject) => {
    const req = httpRequest(body.uploadUrl, { method: 'PUT' }, (res) => resolve(res.resume().statusCode ?? 0));
    req.on('error', reject);
    for (let sent = 0; sent < 11; sent++) req.write(Buffer.alloc(MB));
    req.end();
  });
  expect(status).toBe(413);
  expect((await create(me, body.storageKey).expect(413)).body.code).toBe('too_large');
  // A smaller upload is still accepted.
  const zip = await createZip({ 'main.py': helloCode });
  expect((await fetch(body.uploadUrl, { method: 'PUT', body: new Uint8Array(zip) })).status).toBe(200);
  await create(me, body.storageKey).expect(201);

  // Stored directly, as by a store that does not enforce the size.
  await service.api.deps.objects.put(body.storageKey, Buffer.alloc(10 * MB + 1));
  expect((await create(me, body.storageKey).expect(413)).body.code).toBe('too_large');
});

test('a presigned URL expires after ten minutes, and allows nothing else', async () => {
  const { body } = await me.post('/api/artifacts/upload-url').expect(200);
  expect(body.expiresAt - Date.now()).toBeLessThanOrEqual(600_000);
  const url = new URL(body.uploadUrl);
  expect((await fetch(url)).status).toBe(405);
  url.searchParams.set('max', String(100 * MB));
  expect((await fetch(url, { method: 'PUT', body: 'x' })).status).toBe(403);
});

test('a viewer reads code and creates nothing', async () => {
  const artifactId = await createArtifact(me);
  const viewer = service.createCaller({ role: 'viewer', workspaceId: me.workspaceId });
  await viewer.get(`/api/artifacts/${artifactId}/code`).expect(200);
  expect((await viewer.post('/api/artifacts/upload-url').expect(403)).body.code).toBe('role_too_low');
  await create(viewer, 'x').expect(403);
});

test('the same Idempotency-Key creates one artifact', async () => {
  const storageKey = await uploadZip(me, await createZip({ 'main.py': helloCode }));
  const first = await create(me, storageKey).set('Idempotency-Key', 'once').expect(201);
  const second = await create(me, storageKey).set('Idempotency-Key', 'once').expect(201);
  expect(second.body).toEqual(first.body);
  const other = await create(me, storageKey, { entrypoint: 'other.py' }).set('Idempotency-Key', 'once');
  expect(other.status).toBe(422);
});

test('without an executor, which would look for run(), creation is a 503 and creates nothing', async () => {
  const alone = await startService({ inspector: false });
  try {
    const caller = alone.createCaller();
    const storageKey = await uploadZip(caller, await createZip({ 'main.py': helloCode }));
    const answer = await create(caller, storageKey).expect(503);
    expect(answer.body).toMatchObject({ code: 'no_executor', error: expect.stringContaining('no executor') });
    expect(answer.headers['retry-after']).toBeDefined();
    expect(await alone.api.deps.prisma.artifact.count()).toBe(0);
  } finally {
    await alone.stop();
  }
});
