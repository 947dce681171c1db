/** A version gets the packages that its first run was installed with: on every executor, and whenever it runs again. */
import { computeLockDigest, connectBus, type LockedPackage, lockReply, request, runSubjects } from '@gantry/events';
import { captureLogs, setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { purgeDeletedWorkers } from '../workers/delete-worker';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const PLATFORM = 'cp311-linux-x64';
const buildLock = (version: string): LockedPackage[] => [
  { name: 'mine', version, file: `mine-${version}-py3-none-any.whl`, sha256: version.charAt(0).repeat(64) },
];
const create = (id: string) => createWorker(api, { id, name: id, python_dependencies: ['mine>=1'] });
const claimRun = async (id: string) => {
  await owner.post(`/api/workers/${id}/runs`, { inputs: {} }).expect(201);
  return executor.claimJob();
};
const untilCompleted = (runId: string) =>
  waitUntil(async () => (await owner.get(`/api/runs/${runId}`).expect(200)).body.status === 'completed');
const readLocks = async (id: string, sha: string) =>
  (await owner.get(`/api/workers/${id}/versions/${sha}`).expect(200)).body.locked_dependencies;

test('two executors that resolve at the same time agree on one lock, which the version shows and later jobs name', async () => {
  const worker = await create('agrees');
  const other = await api.connectExecutor();
  const first = await claimRun('agrees');
  await owner.post('/api/workers/agrees/runs', { inputs: {} }).expect(201);
  const second = await other.claimJob();
  expect([first.locks, second.locks]).toEqual([{}, {}]);
  expect(await first.lock(PLATFORM)).toEqual({ packages: null });
  expect(await readLocks('agrees', worker.sha)).toEqual([]);
  const replies = await Promise.all([first.lock(PLATFORM, buildLock('1.0')), second.lock(PLATFORM, buildLock('2.0'))]);
  expect(replies[0]).toEqual(replies[1]);
  const { packages } = replies[0] as { packages: LockedPackage[] };
  expect([buildLock('1.0'), buildLock('2.0')]).toContainEqual(packages);
  for (const job of [first, second]) await job.complete(1);

  expect(await readLocks('agrees', worker.sha)).toEqual([
    { platform: PLATFORM, locked_at: expect.any(String), packages },
  ]);
  const later = await claimRun('agrees');
  expect(later.locks).toEqual({ [PLATFORM]: computeLockDigest(packages) });
  expect(await later.lock(PLATFORM, buildLock('3.0'))).toEqual({ packages });
  expect(await later.lock('cp312-linux-arm64', buildLock('3.0'))).toEqual({ packages: buildLock('3.0') });
  await later.complete(1);
});

test('only the executor that holds the run has a say, and a run without a lock none', async () => {
  const worker = await create('guarded');
  const job = await claimRun('guarded');
  const stranger = await api.connectExecutor();
  const refused = { refused: expect.any(String) };
  expect(await job.lock(PLATFORM, buildLock('1.0'), { token: 'x'.repeat(22) })).toEqual(refused);
  expect(await job.lock(PLATFORM, buildLock('1.0'), { attempt: 2 })).toEqual(refused);
  const { runId, attempt, token } = job;
  const stolen = { runId, attempt, token, platform: PLATFORM, packages: buildLock('1.0') };
  const asStranger = runSubjects.lock('worker', stranger.id);
  expect(await request(stranger.bus, asStranger, stolen, lockReply, 2_000)).toEqual(refused);
  await job.complete(1);
  await untilCompleted(job.runId);
  expect(await job.lock(PLATFORM, buildLock('1.0'))).toEqual(refused);
  expect(await readLocks('guarded', worker.sha)).toEqual([]);

  const draft = owner.post('/api/workers/guarded/test', { draft: {} });
  const [, tested] = await Promise.all([
    draft,
    executor.claimJob().then(async (one) => {
      expect(await one.lock(PLATFORM, buildLock('1.0'))).toEqual(refused);
      await one.complete(1);
      return one;
    }),
  ]);
  expect(tested).not.toHaveProperty('locks');
});

test('a rollback has the lock of the earlier version, is announced with it, and a changed version has none', async () => {
  const worker = await create('rolls');
  const first = await claimRun('rolls');
  await first.lock(PLATFORM, buildLock('1.0'));
  await first.complete(1);
  await owner.put('/api/workers/rolls/files', { files: [{ path: 'more.py', content: 'x = 1\n' }] }).expect(200);
  const changed = await claimRun('rolls');
  expect(changed.locks).toEqual({});
  await changed.complete(1);
  const announced: { locks?: unknown }[] = [];
  const listener = await connectBus({ ...api.nats.newExecutor(), name: 'executor', log: captureLogs().log });
  listener.nc.subscribe(runSubjects.prepare, { callback: (_, message) => void announced.push(message.json()) });
  await listener.nc.flush();
  await owner.post(`/api/workers/rolls/rollback/${worker.sha}`).expect(200);
  const back = await claimRun('rolls');
  expect(back.locks).toEqual({ [PLATFORM]: computeLockDigest(buildLock('1.0')) });
  await back.complete(1);
  // The changed version may be announced late.
  const announcement = await waitUntil(() => announced.find(({ locks }) => locks));
  expect(announcement).toMatchObject({ dependencies: ['mine>=1'], locks: { [PLATFORM]: buildLock('1.0') } });
  await listener.nc.close();
});

test('a candidate is rehearsed with a lock that its version then has', async () => {
  await create('tries');
  const recorded = await claimRun('tries');
  await recorded.complete(1);
  await untilCompleted(recorded.runId);
  const change = { limits: { timeout_seconds: 9 }, last_successful: 1 };
  const { body: candidate } = await owner.post('/api/workers/tries/candidates', change).expect(201);
  const rehearsal = await executor.claimJob();
  expect(rehearsal.locks).toEqual({});
  await rehearsal.lock(PLATFORM, buildLock('1.0'));
  await rehearsal.complete(1);
  const url = `/api/workers/tries/candidates/${candidate.id}`;
  await waitUntil(async () => {
    await api.repairLoop.tick();
    return (await owner.get(url).expect(200)).body.status === 'ready';
  });
  await owner.post(`${url}/promote`, {}).expect(200);
  const job = await claimRun('tries');
  expect(job.locks).toEqual({ [PLATFORM]: computeLockDigest(buildLock('1.0')) });
  await job.complete(1);
});

test('the locks of a deleted worker are deleted with it', async () => {
  await create('leaves');
  const job = await claimRun('leaves');
  await job.lock(PLATFORM, buildLock('1.0'));
  await job.complete(1);
  const count = async () =>
    (
      await api.database.pool.query(
        'SELECT count(*)::int AS count FROM dependency_locks l JOIN workers w ON w.uid = l.code_id',
      )
    ).rows[0].count;
  const before = await count();
  await owner.remove('/api/workers/leaves').expect(204);
  await waitUntil(async () => (await purgeDeletedWorkers(api.deps)) === 1);
  const { rows } = await api.database.pool.query(
    'SELECT FROM dependency_locks WHERE code_id NOT IN (SELECT uid FROM workers)',
  );
  expect([rows.length, await count()]).toEqual([0, before - 1]);
});
