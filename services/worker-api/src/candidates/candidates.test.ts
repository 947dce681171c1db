import { setupResource, waitUntil } from '@gantry/testing';
import { sweepUnusedPacks } from '../housekeeping';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { type Played, playCode, plays } from '../test/play-code';
import { runWorker } from '../test/run-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { listEndedCases, listResumableCandidates } from './candidate-repository';

const api = testWorkerApi();
setupResource(
  () => playCode(api),
  (stop) => stop(),
);
const me = setupResource(() => createCaller(api.url, api.owner.jwt));

const files = (by: Record<string, Played>) => [{ path: 'main.py', content: plays(by) }];
const workerThat = (by: Record<string, Played>, fields: object = {}) =>
  createWorker(api, { files: files(by), ...fields });

const run = (id: string, name: string) => runWorker(me, id, name);

const candidatesPath = (id: string) => `/api/workers/${id}/candidates`;
const propose = async (id: string, body: object) => (await me.post(candidatesPath(id), body).expect(201)).body;
// biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they know
const waitUntilSettled = (id: string, candidateId: string): Promise<any> =>
  waitUntil(async () => {
    await api.repairLoop.tick();
    const { body } = await me.get(`${candidatesPath(id)}/${candidateId}`).expect(200);
    return body.status !== 'rehearsing' && body;
  });
const decide = (id: string, candidateId: string, how: 'promote' | 'drop', body?: object) =>
  me.post(`${candidatesPath(id)}/${candidateId}/${how}`, body);

test('a candidate is rehearsed against the last runs that completed, reported on and promoted', async () => {
  const worker = await workerThat({ Ada: { returns: { total: 1 } }, '*': { returns: { total: 2 } } });
  const ada = await run(worker.id, 'Ada');
  const grace = await run(worker.id, 'Grace');
  const change = { files: files({ Ada: { returns: { total: 5 } }, '*': { returns: { total: 2 } } }), message: 'Five' };
  const made = await propose(worker.id, change);
  expect(made).toMatchObject({ status: 'rehearsing', origin: 'person', base_sha: worker.sha, version_sha: null });
  const report = await waitUntilSettled(worker.id, made.id);
  expect(report).toMatchObject({
    status: 'ready',
    summary: { same: 1, different: 1, total: 2, broken: 0 },
    changes: { files: [{ path: 'main.py', change: 'modified' }], fields: [] },
    cases: [
      { run_id: grace, outcome: 'same', base_rehearsal_run_id: null },
      {
        run_id: ada,
        outcome: 'different',
        base_rehearsal_run_id: expect.any(String),
        reason: null,
        recorded: { status: 'completed', output: '{"total":1}' },
        rehearsed: { status: 'completed', output: '{"total":5}', duration_ms: expect.any(Number) },
        differences: [{ path: '/total', change: 'changed', was: '1', now: '5' }],
      },
    ],
  });
  const { body: source } = await me.get(`${candidatesPath(worker.id)}/${made.id}/files`).expect(200);
  expect(source).toMatchObject([{ path: 'main.py', content: change.files[0]?.content }]);
  const { body: promoted } = await decide(worker.id, made.id, 'promote').expect(200);
  expect(promoted).toMatchObject({ status: 'promoted', version_sha: made.sha, decided_by: api.owner.userId });
  const { body: now } = await me.get(`/api/workers/${worker.id}`).expect(200);
  expect(now).toMatchObject({ version: 2, sha: made.sha });
  const { body: versions } = await me.get(`/api/workers/${worker.id}/versions`).expect(200);
  expect(versions[0]).toMatchObject({
    sha: made.sha,
    change_source: 'candidate',
    message: 'Five',
    author: api.owner.email,
  });
  const { body: runs } = await me.get(`/api/runs?worker_id=${worker.id}`).expect(200);
  expect(runs.map(({ id }: { id: string }) => id)).toEqual([grace, ada]);
  const log = (await waitUntil(async () => {
    const { body } = await me.get(`/api/audit-log?resource_id=${worker.id}`).expect(200);
    return body.length >= 4 && body;
  })) as { action: string }[];
  expect(log.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['worker.candidate_made', 'worker.candidate_promoted', 'worker.updated']),
  );
});

test('a failed run that completes is fixed, one that fails is not, and one that newly fails is broken', async () => {
  const worker = await workerThat({ Ada: { raises: 'no column' }, Bob: { raises: 'no row' }, '*': { returns: 1 } });
  const [ada, bob, eve] = [await run(worker.id, 'Ada'), await run(worker.id, 'Bob'), await run(worker.id, 'Eve')];
  const change = { files: files({ Ada: { returns: 1 }, Bob: { raises: 'no row' }, '*': { raises: 'new' } }) };
  const made = await propose(worker.id, { ...change, run_ids: [ada, bob], last_successful: 1 });
  const { cases, summary } = await waitUntilSettled(worker.id, made.id);
  expect(cases).toMatchObject([
    { run_id: ada, outcome: 'fixed', recorded: { error: 'no column' }, rehearsed: { output: '1' } },
    { run_id: bob, outcome: 'still_failing', rehearsed: { error: 'no row', error_code: 'exception', output: null } },
    { run_id: eve, outcome: 'broken', rehearsed: { error: 'new' } },
  ]);
  expect(summary).toEqual({ same: 0, different: 0, fixed: 1, still_failing: 1, broken: 1, inconclusive: 0, total: 3 });
});

test('without a run to rehearse it is ready at once; inputs that it refuses break it', async () => {
  const worker = await workerThat({ '*': { returns: 1 } });
  const nothing = await propose(worker.id, { limits: { timeout_seconds: 60 } });
  expect(nothing).toMatchObject({ status: 'ready', summary: { total: 0 }, cases: [] });
  await decide(worker.id, nothing.id, 'drop').expect(200);
  await run(worker.id, 'Ada');
  const refusing = await propose(worker.id, { inputs: [{ name: 'other', required: true }] });
  expect(await waitUntilSettled(worker.id, refusing.id)).toMatchObject({
    status: 'failed',
    summary: { broken: 1, total: 1 },
    error: expect.stringContaining('rejects the inputs'),
  });
  const { body } = await decide(worker.id, refusing.id, 'promote').expect(409);
  expect(body.code).toBe('nothing_rehearsed');
});

test('a candidate that saving would refuse is refused, and so are runs of other workers', async () => {
  const worker = await workerThat({ '*': { returns: 1 } });
  const other = await workerThat({ '*': { returns: 1 } });
  const foreignRun = await run(other.id, 'Ada');
  const expectRefusal = async (body: object, status: number) =>
    (await me.post(candidatesPath(worker.id), body).expect(status)).body;
  expect(await expectRefusal({ files: [{ path: 'main.py', content: 'def run(:' }] }, 400)).toMatchObject({
    code: 'syntax_error',
  });
  expect(await expectRefusal({ run_ids: [foreignRun], limits: { timeout_seconds: 9 } }, 400)).toMatchObject({
    code: 'bad_run',
  });
  expect(await expectRefusal({}, 409)).toMatchObject({ code: 'same_version' });
  expect(await expectRefusal({ base_sha: 'a'.repeat(64), limits: { timeout_seconds: 9 } }, 404)).toMatchObject({
    code: 'not_found',
  });
  expect((await me.get(candidatesPath(worker.id)).expect(200)).body).toEqual([]);
});

test('a promotion that races with an edit is refused with the remedy, and nothing is appended', async () => {
  const worker = await workerThat({ '*': { returns: 1 } });
  const made = await propose(worker.id, { limits: { timeout_seconds: 60 } });
  const raced = await Promise.all([
    decide(worker.id, made.id, 'promote'),
    me.patch(`/api/workers/${worker.id}`, { limits: { timeout_seconds: 30 } }),
  ]);
  const { body: now } = await me.get(`/api/workers/${worker.id}`).expect(200);
  if (raced[0].status === 409) {
    expect(raced[0].body).toMatchObject({
      code: 'worker_changed',
      detail: expect.stringContaining('Propose the change again'),
    });
    expect(now).toMatchObject({ version: 2, limits: { timeout_seconds: 30 } });
  } else {
    // The edit came behind it, and was made from what it found then.
    expect(now).toMatchObject({ version: 3, limits: { timeout_seconds: 30 } });
  }
  const second = await propose(worker.id, { limits: { timeout_seconds: 61 }, base_sha: worker.sha });
  expect((await decide(worker.id, second.id, 'promote').expect(409)).body.code).toBe('worker_changed');
  await decide(worker.id, second.id, 'drop').expect(200);
  expect((await decide(worker.id, second.id, 'promote').expect(409)).body.code).toBe('already_decided');
});

test('two simultaneous promotions append one version', async () => {
  const worker = await workerThat({ '*': { returns: 1 } });
  const made = await propose(worker.id, { limits: { timeout_seconds: 60 } });
  const answers = await Promise.all([decide(worker.id, made.id, 'promote'), decide(worker.id, made.id, 'promote')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await me.get(`/api/workers/${worker.id}`).expect(200)).body.version).toBe(2);
});

test('its files are kept until it is decided, and the files of a promoted one for good', async () => {
  const worker = await workerThat({ '*': { returns: 1 } });
  const [kept, dropped] = [
    await propose(worker.id, { files: files({ '*': { returns: 2 } }) }),
    await propose(worker.id, { files: files({ '*': { returns: 3 } }) }),
  ];
  await decide(worker.id, dropped.id, 'drop').expect(200);
  const { pool, objects } = api.deps;
  await pool.query("UPDATE pack_intents SET created_at = now() - interval '2 hours'");
  await sweepUnusedPacks(pool, objects);
  await me.get(`${candidatesPath(worker.id)}/${kept.id}/files`).expect(200);
  await me.get(`${candidatesPath(worker.id)}/${dropped.id}/files`).expect(404);
  await decide(worker.id, kept.id, 'promote').expect(200);
  await sweepUnusedPacks(pool, objects);
  await me.get(`/api/workers/${worker.id}/files`).expect(200);
});

test('an unnoticed end is found, and a deleted rehearsal settles its case', async () => {
  const worker = await workerThat({ '*': { returns: 1 } });
  await run(worker.id, 'Ada');
  const made = await propose(worker.id, { files: files({ '*': { returns: 1 }, x: {} }) });
  await waitUntilSettled(worker.id, made.id);
  const { pool } = api.deps;
  await pool.query("UPDATE worker_candidates SET status = 'rehearsing' WHERE id = $1", [made.id]);
  await pool.query("UPDATE candidate_cases SET status = 'rehearsing', outcome = NULL WHERE candidate_id = $1", [
    made.id,
  ]);
  expect(await listEndedCases(pool, 10)).toHaveLength(1);
  expect(await waitUntilSettled(worker.id, made.id)).toMatchObject({ status: 'ready', summary: { same: 1, total: 1 } });
  await pool.query("UPDATE worker_candidates SET status = 'rehearsing' WHERE id = $1", [made.id]);
  await pool.query(
    "UPDATE candidate_cases SET status = 'rehearsing', rehearsal_run_id = 'tr_gone', outcome = NULL WHERE candidate_id = $1",
    [made.id],
  );
  expect(await waitUntilSettled(worker.id, made.id)).toMatchObject({
    status: 'ready',
    summary: { inconclusive: 1, total: 1 },
  });
});

test('a candidate with waiting cases is not resumed while its worker is at its limit', async () => {
  const worker = await workerThat({ '*': { returns: 1 } });
  await run(worker.id, 'Ada');
  await run(worker.id, 'Bob');
  const made = await propose(worker.id, { files: files({ '*': { returns: 1 }, x: {} }) });
  await waitUntilSettled(worker.id, made.id);
  const { pool } = api.deps;
  await pool.query("UPDATE worker_candidates SET status = 'rehearsing' WHERE id = $1", [made.id]);
  await pool.query(
    `UPDATE candidate_cases SET status = CASE number WHEN 1 THEN 'rehearsing' ELSE 'waiting' END, outcome = NULL
     WHERE candidate_id = $1`,
    [made.id],
  );
  expect(await listResumableCandidates(pool, { concurrency: 1, limit: 100 })).not.toContain(made.id);
  expect(await listResumableCandidates(pool, { concurrency: 2, limit: 100 })).toContain(made.id);
  expect(await waitUntilSettled(worker.id, made.id)).toMatchObject({ status: 'ready', summary: { same: 2 } });
});

test('a viewer reads and changes nothing, and another workspace sees nothing', async () => {
  const worker = await workerThat({ '*': { returns: 1 } });
  const made = await propose(worker.id, { limits: { timeout_seconds: 60 } });
  const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
  const { body } = await viewer.get(`${candidatesPath(worker.id)}/${made.id}`).expect(200);
  expect(body.permissions).toEqual({ promote: false, drop: false, approve: false });
  await viewer.post(candidatesPath(worker.id), { limits: { timeout_seconds: 61 } }).expect(403);
  await viewer.post(`${candidatesPath(worker.id)}/${made.id}/promote`).expect(403);
  const stranger = createCaller(api.url, api.foreign.owner.jwt);
  await stranger.get(`${candidatesPath(worker.id)}/${made.id}`).expect(404);
  await stranger.post(`${candidatesPath(worker.id)}/${made.id}/promote`).expect(404);
});
