import { createHash } from 'node:crypto';
import { runFinished } from '@gantry/events';
import { buildRawZip, createZip, type FakeJob, setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import type { PoolClient } from 'pg';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { createContextWriteBackHandler } from './write-back';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

let number = 0;
/** A context with one file, and a run of a worker that declares it. */
async function running({ writeable = true } = {}) {
  const name = `memory-${++number}`;
  await owner.post('/api/contexts', { name, writeable, files: [{ path: 'state.json', content: '{}' }] }).expect(201);
  const worker = await createWorker(api, { name: `Uses ${name}`, contexts: [name] });
  const { body } = await owner.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect((answer) => {
    if (answer.status >= 300) throw new Error(answer.text);
  });
  const job = (await executor.claim()) as FakeJob;
  expect(job.contexts).toMatchObject([{ name, writeable }]);
  return { name, path: `/api/contexts/${name}`, worker, job, runId: body.run_id as string };
}

interface Reported {
  zip?: Buffer;
  sha256?: string;
  key?: string;
}

/** The executor's report that the run has changed the context, and how the run ended. */
async function report(job: FakeJob, { zip, sha256, key }: Reported, status: 'completed' | 'failed' = 'completed') {
  const [given] = job.contexts ?? [];
  const bytes = zip ?? Buffer.from('');
  const place = key ?? `${api.workspaceId}/runs/${job.runId}/${job.attempt}/changed`;
  if (zip) await api.deps.objects.put(place, zip);
  await job.report(
    { type: 'started' },
    {
      type: 'context',
      name: given?.name ?? '',
      from: given?.digest ?? '',
      size: bytes.length,
      key: place,
      sha256: sha256 ?? createHash('sha256').update(bytes).digest('hex'),
    },
    status === 'completed'
      ? { type: 'finished', status, output: null, usage: zeroUsage }
      : { type: 'finished', status, error: { code: 'exception', message: 'no' }, usage: zeroUsage },
  );
}

const isHeard = (runId: string) =>
  waitUntil(async () => {
    const { rows } = await api.deps.pool.query('SELECT status FROM runs WHERE id = $1', [runId]);
    const { rowCount } = await api.deps.pool.query("SELECT 1 FROM outbox WHERE data ->> 'runId' = $1", [runId]);
    return rows[0].status !== 'running' && rowCount === 0;
  });
const getVersion = async (path: string): Promise<number> => (await owner.get(path).expect(200)).body.version;
const waitForRefusal = (runId: string) =>
  waitUntil(async () => {
    const { rows } = await api.deps.pool.query(
      "SELECT details ->> 'reason' AS reason FROM audit_log WHERE action = 'context.write_back_refused' AND details ->> 'run_id' = $1",
      [runId],
    );
    return rows[0]?.reason as string | undefined;
  });

test('changes of a completed run are the next version, distinguished from changes by members', async () => {
  const { path, job, runId, worker } = await running();
  await report(job, { zip: await createZip({ 'state.json': '{"seen":1}', 'new/file.txt': 'x', '.git/config': 'x' }) });
  await waitUntil(async () => (await getVersion(path)) === 2);
  const [version] = (await owner.get(`${path}/versions`).expect(200)).body;
  expect(version).toMatchObject({
    version: 2,
    current: true,
    change_source: 'run',
    run_id: runId,
    author: null,
    file_count: 2,
    message: `Written by run ${runId} of ${worker.id}`,
  });
  const file = await owner.get(`${path}/files/state.json`).buffer().expect(200);
  expect(file.body).toEqual({ seen: 1 });
});

test('a run that did not see a later version overwrites it, and the message says so', async () => {
  const { path, job } = await running();
  await owner.put(`${path}/files/state.json`, { content: 'by a person' }).expect(200);
  await report(job, { zip: await createZip({ 'state.json': 'by the run' }) });
  await waitUntil(async () => (await getVersion(path)) === 3);
  const [version] = (await owner.get(`${path}/versions`)).body;
  expect(version.message).toMatch(/based on version 1 and without later changes$/);
});

test('a repeated event of the same run, on another replica too, creates no second version', async () => {
  const { path, job, runId } = await running();
  await report(job, { zip: await createZip({ 'a.txt': 'a' }) });
  await waitUntil(async () => (await getVersion(path)) === 2);
  await owner.put(`${path}/files/b.txt`, { content: 'b' }).expect(200);
  const again = createContextWriteBackHandler((await api.replica()).deps);
  const data = runFinished.data.parse({
    runId,
    source: 'worker',
    subjectId: 'x',
    status: 'completed',
    errorCode: null,
    durationMs: 1,
    finishedAt: 1,
  });
  const tx = {} as PoolClient;
  await again.handle(tx, { id: 'evt_again', workspaceId: api.workspaceId, at: new Date(), data });
  expect(await getVersion(path)).toBe(3);
});

test('nothing is saved from a failed run, of a read-only context, or of unchanged files', async () => {
  const failed = await running();
  await report(failed.job, { zip: await createZip({ 'a.txt': 'a' }) }, 'failed');
  const readOnly = await running({ writeable: false });
  await report(readOnly.job, { zip: await createZip({ 'a.txt': 'a' }) });
  const same = await running();
  await report(same.job, { zip: await createZip({ 'state.json': '{}' }) });
  const forbidden = await running();
  await owner.patch(forbidden.path, { writeable: false }).expect(200);
  await report(forbidden.job, { zip: await createZip({ 'a.txt': 'a' }) });
  const replaced = await running();
  await owner.remove(`${replaced.path}?force=true`).expect(204);
  await owner.post('/api/contexts', { name: replaced.name, writeable: true }).expect(201);
  await report(replaced.job, { zip: await createZip({ 'a.txt': 'a' }) });
  const last = await running();
  await report(last.job, { zip: await createZip({ 'a.txt': 'a' }) });
  for (const { runId } of [failed, readOnly, same, forbidden, replaced]) await isHeard(runId);
  await waitUntil(async () => (await getVersion(last.path)) === 2);
  for (const { path } of [failed, readOnly, same, forbidden, replaced])
    expect([path, await getVersion(path)]).toEqual([path, 1]);
});

test('a run can delete every file, and then the context is empty', async () => {
  const { path, job } = await running();
  await report(job, { zip: await createZip({}) });
  await waitUntil(async () => (await getVersion(path)) === 2);
  expect((await owner.get(path)).body.file_count).toBe(0);
});

test.each<[string, () => Promise<Reported> | Reported, string]>([
  ['climbs out', () => ({ zip: buildRawZip([{ name: '../../etc/passwd' }]) }), 'relative path'],
  ['holds a link', () => ({ zip: buildRawZip([{ name: 'a', mode: 0o120777 }]) }), 'link'],
  [
    'differs from its announcement',
    async () => ({ zip: await createZip({ a: 'a' }), sha256: 'f'.repeat(64) }),
    'wrong checksum',
  ],
  ['was never uploaded', () => ({}), 'not uploaded'],
  ['is no zip', () => ({ zip: Buffer.from('garbage') }), 'cannot be read'],
  [
    'is too large',
    async () => ({ zip: await createZip({ a: Buffer.alloc(10 * 1024 * 1024 + 1) }) }),
    'larger than 10 MB',
  ],
])('an archive that %s is refused, and the audit log says why', async (_what, reported, reason) => {
  const { path, job, runId } = await running();
  await report(job, await reported());
  expect(await waitForRefusal(runId)).toContain(reason);
  expect(await getVersion(path)).toBe(1);
});

test('a key outside the run is not fetched', async () => {
  const { path, job, runId } = await running();
  const key = `${api.workspaceId}/runs/run_another/1/changed`;
  await report(job, { zip: await createZip({ a: 'a' }), key });
  const last = await running();
  await report(last.job, { zip: await createZip({ a: 'a' }) });
  await isHeard(runId);
  await waitUntil(async () => (await getVersion(last.path)) === 2);
  expect(await getVersion(path)).toBe(1);
});
