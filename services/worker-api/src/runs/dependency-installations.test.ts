/** The packages of a saved version are installed ahead of its first run, and the version shows how far that is. */
import { type InstallationReport, publishInstallationReport } from '@gantry/events';
import { expireInstallations } from '@gantry/run-engine';
import { setupResource, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const PLATFORM = 'cp311-linux-x64';
const sha256 = 'a'.repeat(64);
const packages = [{ name: 'six', version: '1.17.0', file: 'six-1.17.0-py2.py3-none-any.whl', sha256 }];
const later = (ms: number) => new Date(Date.now() + ms);
let sequence = 0;

type Status = InstallationReport extends infer R
  ? R extends unknown
    ? Omit<R, 'id' | 'sequence' | 'startedAt'>
    : never
  : never;

/** Saves a worker, and returns what an executor needs to report on it. */
async function save(id: string) {
  const announcements = await executor.collectAnnouncements();
  const { sha } = await createWorker(api, { id, name: id, python_dependencies: ['six'] });
  const { installation } = await waitUntil(() => announcements.find((one) => one.installation));
  return {
    announcements,
    report: (status: Status, { from = executor, at = ++sequence } = {}) =>
      publishInstallationReport(from.bus, 'worker', from.id, {
        id: installation?.id as string,
        sequence: at,
        startedAt: Date.parse('2026-01-05T09:00:00Z'),
        ...status,
      }),
    read: async () => (await owner.get(`/api/workers/${id}/versions/${sha}`).expect(200)).body.dependencies,
    untilStatus: (status: string) =>
      waitUntil(async () => {
        const { body } = await owner.get(`/api/workers/${id}/versions/${sha}`).expect(200);
        return body.dependencies.status === status && body.dependencies;
      }),
  };
}

const installing = (done: number): Status => ({
  status: 'installing',
  progress: { phase: 'installing', done, total: 3 },
});

test('a version without packages has none to install', async () => {
  const { id, sha } = await createWorker(api, { id: 'bare', name: 'bare' });
  const { body } = await owner.get(`/api/workers/${id}/versions/${sha}`).expect(200);
  expect(body.dependencies).toMatchObject({ status: 'none', packages: [], progress: null, error: null });
});

test('a saved version shows the progress of its installation, and then the packages', async () => {
  const version = await save('shows');
  expect(await version.read()).toMatchObject({ status: 'pending', started_at: null });
  version.report(installing(1));
  expect(await version.untilStatus('installing')).toMatchObject({
    progress: { phase: 'installing', done: 1, total: 3 },
    started_at: '2026-01-05T09:00:00.000Z',
    finished_at: null,
  });
  version.report({ status: 'installed', platform: PLATFORM, packages });
  expect(await version.untilStatus('installed')).toEqual({
    status: 'installed',
    progress: null,
    platform: PLATFORM,
    packages: [{ name: 'six', version: '1.17.0', sha256 }],
    started_at: expect.any(String),
    finished_at: expect.any(String),
    error: null,
  });
});

test('late and repeated reports change nothing, and the best state of several executors counts', async () => {
  const other = await api.connectExecutor();
  const version = await save('best');
  version.report(installing(2), { at: 20 });
  await version.untilStatus('installing');
  version.report(installing(1), { at: 10 });
  version.report({ status: 'failed', error: 'no disk' }, { from: other, at: 1 });
  version.report(installing(3), { at: 30 });
  await waitUntil(async () => (await version.read()).progress?.done === 3);
  version.report({ status: 'failed', error: 'no network' }, { at: 40 });
  expect(await version.untilStatus('failed')).toMatchObject({ error: 'no network', packages: [], progress: null });
  version.report({ status: 'installed', platform: PLATFORM, packages }, { from: other, at: 2 });
  await version.untilStatus('installed');
  version.report(installing(1), { at: 50 });
  version.report({ status: 'failed', error: 'too late' }, { at: 60 });
  // A later report of the same executor has been recorded: so have these.
  const after = await save('after-best');
  after.report(installing(1));
  await after.untilStatus('installing');
  expect(await version.read()).toMatchObject({ status: 'installed', error: null });
});

test('an executor reports on nothing that was not announced to it', async () => {
  const version = await save('guarded');
  publishInstallationReport(executor.bus, 'worker', executor.id, {
    id: 'ins_unknown',
    sequence: ++sequence,
    startedAt: 0,
    status: 'failed',
    error: 'forged',
  });
  version.report(installing(1));
  await version.untilStatus('installing');
  const { rows } = await api.database.pool.query("SELECT FROM dependency_installations WHERE error = 'forged'");
  expect(rows).toEqual([]);
});

test('an installation whose executor was killed is announced again, and fails after the third time', async () => {
  const version = await save('killed');
  for (const expected of ['pending', 'pending', 'failed']) {
    version.report(installing(1));
    await version.untilStatus('installing');
    const expired = await expireInstallations(api.database.pool, 'worker', later(60_000));
    expect(expired.some(({ status }) => status === expected)).toBe(true);
    expect(await version.read()).toMatchObject({ status: expected, progress: null });
  }
  expect(await version.read()).toMatchObject({
    error: expect.stringContaining('interrupted 3 times'),
    finished_at: expect.any(String),
  });
});

test('a version that a run has locked is installed, with the packages of the lock', async () => {
  const version = await save('locks');
  await owner.post('/api/workers/locks/runs', { inputs: {} }).expect(201);
  const job = await executor.claimJob();
  await job.lock(PLATFORM, packages);
  await job.complete(1);
  expect(await version.read()).toMatchObject({
    status: 'installed',
    platform: PLATFORM,
    packages: [{ name: 'six', version: '1.17.0', sha256 }],
  });
});
