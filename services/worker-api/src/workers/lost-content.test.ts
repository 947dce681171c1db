/** Content that rows name and the object store has lost. */
import { readZip } from '@gantry/archive';
import { setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const query = (sql: string, values: unknown[]) => api.database.pool.query(sql, values);

async function loseCode(worker: string): Promise<string> {
  const { rows } = await query(
    `SELECT v.code_key FROM worker_versions v JOIN workers w ON w.uid = v.worker_uid AND w.current_version = v.number
     WHERE w.id = $1`,
    [worker],
  );
  await api.deps.objects.delete(rows[0].code_key);
  return rows[0].code_key;
}

test('a worker with lost files reports them, is shown otherwise, and a written file is kept while the lost one is named', async () => {
  const code = { path: 'main.py', content: 'def run():\n    return 1\n' };
  const notes = { path: 'notes.md', content: 'read me' };
  await createWorker(api, { id: 'lost', files: [code, notes] });
  const key = await loseCode('lost');
  for (const path of ['files', 'bundle.zip']) {
    const { body } = await owner.get(`/api/workers/lost/${path}`).expect(410);
    expect(body).toMatchObject({ code: 'content_missing' });
    expect(body.detail).not.toContain(key);
  }
  await owner.get('/api/workers/lost').expect(200);
  const written = await owner.put('/api/workers/lost/files', { files: [code] }).expect(200);
  expect(written.body.warnings).toEqual([expect.stringMatching(/object store has lost: notes\.md;/)]);
  const paths = async () =>
    (await owner.get('/api/workers/lost/files').expect(200)).body.map(({ path }: { path: string }) => path);
  expect(await paths()).toEqual(['main.py']);
  expect((await owner.put('/api/workers/lost/files', { files: [notes] }).expect(200)).body.warnings).toEqual([]);
  expect(await paths()).toEqual(['main.py', 'notes.md']);
});

test('lost files that are written again as they were are back, in the same version', async () => {
  const files = [{ path: 'main.py', content: 'def run():\n    return 2\n' }];
  await createWorker(api, { id: 'again', files });
  await loseCode('again');
  const { sha } = (await owner.get('/api/workers/again').expect(200)).body;
  expect((await owner.put('/api/workers/again/files', { files }).expect(200)).body).toMatchObject({
    sha,
    warnings: [],
  });
  expect((await owner.get('/api/workers/again/files').expect(200)).body).toMatchObject(files);

  await owner.post('/api/contexts', { name: 'again', files: [{ path: 'a.md', content: 'first' }] }).expect(201);
  const { rows } = await query(
    `SELECT v.pack_key FROM context_versions v JOIN contexts c ON c.uid = v.context_uid WHERE c.name = 'again'`,
    [],
  );
  await api.deps.objects.delete(rows[0].pack_key);
  await owner.put('/api/contexts/again/files/a.md', { content: 'first' }).expect(200);
  await owner.get('/api/contexts/again/files/a.md').expect(200);
});

test('a context with lost files reports them, is shown otherwise, and a written file is kept while the lost one is named', async () => {
  const files = [
    { path: 'a.md', content: 'first' },
    { path: 'b.md', content: 'second' },
  ];
  await owner.post('/api/contexts', { name: 'notes', files }).expect(201);
  const { rows } = await query(
    `SELECT v.pack_key FROM context_versions v JOIN contexts c ON c.uid = v.context_uid WHERE c.name = 'notes'`,
    [],
  );
  await api.deps.objects.delete(rows[0].pack_key);
  for (const path of ['files?content=true', 'files/a.md', 'download']) {
    const { body } = await owner.get(`/api/contexts/notes/${path}`).expect(410);
    expect(body).toMatchObject({ code: 'content_missing' });
    expect(body.detail).not.toContain(rows[0].pack_key);
  }
  expect((await owner.get('/api/contexts/notes').expect(200)).body).toMatchObject({ file_count: 2 });
  expect((await owner.get('/api/contexts/notes/files?content=false').expect(200)).body).toHaveLength(2);

  const { body } = await owner.put('/api/contexts/notes/files/a.md', { content: 'again' }).expect(200);
  expect(body).toMatchObject({ file_count: 1, warnings: [expect.stringMatching(/object store has lost: b\.md;/)] });
  const listed = (await owner.get('/api/contexts/notes/files?content=true').expect(200)).body;
  expect(listed).toEqual([expect.objectContaining({ path: 'a.md', content: 'again' })]);
  const other = await owner.put('/api/contexts/notes/files/b.md', { content: 'back' }).expect(200);
  expect(other.body).toMatchObject({ file_count: 2, warnings: [] });
});

test('a run with a lost output or file is shown with the rest; its zip names a lost output, and is aborted at a lost file', async () => {
  await createWorker(api, { id: 'large' });
  const executor = await api.connectExecutor();
  const { run_id: runId } = (await owner.post('/api/workers/large/runs', { inputs: {} }).expect(201)).body;
  await (await executor.claim())?.complete({ n: 1 });
  const isCompleted = async () => (await owner.get(`/api/runs/${runId}`)).body.status === 'completed';
  await waitUntil(isCompleted);
  const key = `${api.workspaceId}/runs/${runId}/1`;
  const artifact = `INSERT INTO run_artifacts (id, run_id, workspace_id, name, content_type, size, sha256, key)
    VALUES ('art_lost', $1, $2, 'a.bin', 'application/octet-stream', 5, $3, $4)`;
  await query(artifact, [runId, api.workspaceId, 'a'.repeat(64), `${key}/artifact`]);
  const { body: lost } = await owner.get(`/api/runs/${runId}/artifacts/art_lost/download`).expect(410);
  expect(lost.code).toBe('content_missing');
  await owner.get(`/api/runs/${runId}/artifacts/art_none/download`).expect(404);
  const download = async () => (await fetch(`${api.url}/api/runs/${runId}/download`, bearer())).arrayBuffer();
  await expect(download()).rejects.toThrow();

  await query('UPDATE runs SET output = NULL, output_key = $2 WHERE id = $1', [runId, `${key}/output`]);
  const { body } = await owner.get(`/api/runs/${runId}`).expect(200);
  expect(body).toMatchObject({ status: 'completed', output: null, output_missing: true });
  const { token } = (await owner.post(`/api/runs/${runId}/share-links`, {}).expect(201)).body;
  const shared = await fetch(`${api.url}/api/shared/${token}`);
  expect(await shared.json()).toMatchObject({ status: 'completed', output: null, output_missing: true });

  await api.deps.objects.put(`${key}/artifact`, Buffer.from('hello'));
  const entries = await readZip(Buffer.from(await download()), { entries: 10, bytes: 1 << 20 });
  expect(entries.map(({ path }) => path)).toEqual(['missing.txt', 'logs.txt', 'artifacts/a.bin']);
  expect(String(await entries[0]?.content())).toMatch(/^output\.json is missing because the object store has lost/);
});

const bearer = () => ({ headers: { Authorization: `Bearer ${api.owner.jwt}` } });
