import { setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { sweepUnusedPacks } from '../housekeeping';
import { createCaller } from '../test/caller';
import { createWorker, HELLO } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const buildMainFile = (content: string) => ({ files: [{ path: 'main.py', content }] });
const SHOUT_CODE = 'def run(name="world"):\n    return {"greeting": f"HELLO {name}"}\n';
const inspectDraft = async (draft: object, more: object = {}) =>
  (await me.post('/api/workers/inspect', { draft, ...more }).expect(200)).body;

/** Creates a worker for each test, so that runs of other tests do not count. */
const createDraftWorker = (fields: object = {}) => createWorker(api, { secrets: [], ...fields });
const postTest = (id: string, body: object) => me.post(`/api/workers/${id}/test`, body);
const startTest = async (id: string, body: object): Promise<string> =>
  (await postTest(id, body).expect(201)).body.run_id;
const getRun = async (id: string) => (await me.get(`/api/runs/${id}`).expect(200)).body;
const waitForEnd = (id: string) =>
  waitUntil(async () => {
    const run = await getRun(id);
    return run.completed_at !== null && run;
  });

describe('inspecting a draft', () => {
  test('a valid draft has no problems, and its parameters of run() are listed', async () => {
    const found = await inspectDraft({ ...buildMainFile(HELLO), inputs: ['name'] });
    expect(found).toEqual({ problems: [], parameters: ['name'], imports: [], secrets: [] });
  });

  test('each problem has its location, and warnings have a hint', async () => {
    expect((await inspectDraft(buildMainFile('x = 1\ndef run(:\n'))).problems).toMatchObject([
      { file: 'main.py', line: 2, severity: 'error', code: 'syntax_error' },
    ]);
    expect((await inspectDraft(buildMainFile('def run(region): pass'))).problems).toEqual([
      {
        file: 'main.py',
        line: 1,
        column: 9,
        severity: 'warning',
        code: 'unknown_parameter',
        message: 'run() has a parameter "region" that is not an input in the manifest',
        hint: 'declare it as an input, or give it a default',
      },
    ]);
    expect(
      (await inspectDraft({ ...buildMainFile('def run(): pass'), entrypoint: 'other.py' })).problems,
    ).toMatchObject([{ file: null, code: 'bad_entrypoint' }, { code: 'no_run' }]);
  });

  test('a draft of a worker changes its version, and nothing is stored', async () => {
    const worker = await createDraftWorker();
    const before = await api.deps.pool.query('SELECT count(*) FROM pack_intents');
    const more = { worker_id: worker.id };
    expect((await inspectDraft({}, more)).parameters).toEqual(['name']);
    expect((await inspectDraft(buildMainFile('def run(other): pass'), more)).problems).toMatchObject([
      { code: 'unknown_parameter' },
    ]);
    const answer = await me.post('/api/workers/inspect', { draft: { base_sha: 'a'.repeat(64) }, ...more });
    expect(answer.status).toBe(404);
    expect((await api.deps.pool.query('SELECT count(*) FROM pack_intents')).rows).toEqual(before.rows);
    expect((await me.get(`/api/workers/${worker.id}/versions`).expect(200)).body).toHaveLength(1);
  });

  test('files that are too large or not text are reported', async () => {
    const files = [
      { path: 'main.py', content: `${HELLO}# ${'x'.repeat(140_000)}` },
      { path: 'bad.py', content_base64: Buffer.from([0xff, 0xfe]).toString('base64') },
    ];
    expect((await inspectDraft({ files, inputs: ['name'] })).problems).toMatchObject([
      { file: 'main.py', code: 'not_inspected', severity: 'info' },
      { file: 'bad.py', code: 'unreadable', severity: 'error' },
      { code: 'no_run' },
    ]);
  });

  test.each([
    ['a path outside the worker', { files: [{ path: '../x.py', content: '' }] }, 'draft.files.0.path'],
    ['a manifest among the files', { files: [{ path: 'worker.yaml', content: '' }] }, 'draft.files.0.path'],
    ['an invalid input', { ...buildMainFile(HELLO), inputs: [{ name: 'a', type: 'nonsense' }] }, 'inputs.0.type'],
  ])('%s is refused as it is when saving', async (_what, draft, path) => {
    const { body } = await me.post('/api/workers/inspect', { draft }).expect(400);
    expect(JSON.stringify(body)).toContain(path);
  });

  test('viewers cannot inspect or test', async () => {
    const viewer = createCaller(api.url, (await api.addMember('viewer')).jwt);
    const { id } = await createDraftWorker();
    await viewer.post('/api/workers/inspect', { draft: buildMainFile(HELLO) }).expect(403);
    await viewer.post(`/api/workers/${id}/test`, { draft: {} }).expect(403);
  });

  test('"inspect" is a reserved word, and not an id of a worker', async () => {
    await me.post('/api/workers', { id: 'inspect', name: 'Inspect', ...buildMainFile(HELLO) }).expect(400);
    expect((await createDraftWorker({ name: 'Inspect' })).id).toBe('worker-inspect');
  });
});

describe('testing a draft', () => {
  test('runs its code as the worker, without a version', async () => {
    const worker = await createDraftWorker({ secrets: ['TOKEN'], python_dependencies: [] });
    await me.put('/api/secrets/TOKEN', { value: 'the value of a secret' });
    const id = await startTest(worker.id, { draft: buildMainFile(SHOUT_CODE), inputs: { name: 'Ada' } });
    expect(id).toMatch(/^tr_/);
    const job = await executor.claimJob();
    expect(job).toMatchObject({ runId: id, inputs: { name: 'Ada' }, secrets: { TOKEN: 'the value of a secret' } });
    await job.complete({ greeting: 'HELLO Ada' });
    expect(await waitForEnd(id)).toMatchObject({
      worker_id: worker.id,
      trigger: 'test',
      worker_version: null,
      status: 'completed',
      output: { greeting: 'HELLO Ada' },
    });
    expect((await me.get(`/api/workers/${worker.id}/versions`).expect(200)).body).toHaveLength(1);
    expect((await me.get(`/api/workers/${worker.id}`).expect(200)).body.sha).toBe(worker.sha);
  });

  test('does not count for health, statistics, lists or retries', async () => {
    const worker = await createDraftWorker({ retry: { max_attempts: 3 } });
    const id = await startTest(worker.id, { draft: buildMainFile(SHOUT_CODE) });
    const failure = { code: 'exception', message: 'no', type: 'ValueError' } as const;
    await (await executor.claimJob()).report(
      { type: 'started' },
      { type: 'finished', status: 'failed', error: failure, usage: zeroUsage },
    );
    expect(await waitForEnd(id)).toMatchObject({ status: 'failed', attempt: 1 });
    expect((await me.get(`/api/workers/${worker.id}`).expect(200)).body).toMatchObject({
      health: 'ready',
      last_run_id: null,
    });
    const stats = (await me.get(`/api/workers/${worker.id}/stats`).expect(200)).body;
    expect(stats).toMatchObject({ runs_total: 0, last_error: null, failures_by_code: {} });
    const runs = `/api/workers/${worker.id}/runs`;
    expect((await me.get(runs).expect(200)).body).toEqual([]);
    expect((await me.get(`${runs}?trigger=test`).expect(200)).body).toMatchObject([{ id }]);
    const { rows } = await api.deps.pool.query(
      `SELECT FROM outbox WHERE type LIKE 'run.finished%' AND data->>'runId' = $1`,
      [id],
    );
    expect(rows).toEqual([]);
  });

  test('is written to the audit log, and can’t be replayed', async () => {
    const worker = await createDraftWorker();
    const id = await startTest(worker.id, { draft: buildMainFile(SHOUT_CODE) });
    await (await executor.claimJob()).complete(null);
    await waitForEnd(id);
    const { body } = await me.get('/api/audit-log?action=worker.tested').expect(200);
    expect(body[0]).toMatchObject({ resource: { id: worker.id }, details: { run_id: id } });
    expect((await me.post(`/api/runs/${id}/replay`, {}).expect(409)).body.code).toBe('test_run');
  });

  test('asks for what the draft declares, and refuses code that saving would refuse', async () => {
    const { id } = await createDraftWorker();
    const draft = {
      ...buildMainFile('def run(count): pass'),
      inputs: [{ name: 'count', type: 'integer', required: true }],
    };
    await postTest(id, { draft, inputs: { name: 'Ada' } }).expect(400);
    expect((await postTest(id, { draft: buildMainFile('def run(: pass') }).expect(400)).body.code).toBe('syntax_error');
    expect((await postTest(id, { draft: { entrypoint: 'gone.py' } }).expect(400)).body.code).toBe('bad_entrypoint');
  });

  test('works with a paused worker, and not with an archived one', async () => {
    const { id } = await createDraftWorker();
    await me.post(`/api/workers/${id}/pause`).expect(200);
    const run = await startTest(id, { draft: buildMainFile(SHOUT_CODE) });
    await me.post(`/api/runs/${run}/cancel`).expect(200);
    await me.post(`/api/workers/${id}/archive`).expect(200);
    await postTest(id, { draft: buildMainFile(SHOUT_CODE) }).expect(409);
  });

  test('what tests cost counts towards the budget of the month', async () => {
    const { id } = await createDraftWorker({ limits: { budget_usd_per_month: 1 } });
    const run = await startTest(id, { draft: buildMainFile(SHOUT_CODE) });
    await (await executor.claimJob()).report(
      { type: 'started' },
      { type: 'finished', status: 'completed', output: null, usage: { ...zeroUsage, costUsd: 1.5 } },
    );
    await waitForEnd(run);
    expect((await postTest(id, { draft: {} }).expect(409)).body.code).toBe('budget_exceeded');
    expect((await me.post(`/api/workers/${id}/runs`, {}).expect(409)).body.code).toBe('budget_exceeded');
  });

  test('its code is kept until the run has ended, however long that takes', async () => {
    const { id } = await createDraftWorker();
    const run = await startTest(id, { draft: buildMainFile(SHOUT_CODE) });
    const { pool, objects } = api.deps;
    const { rows } = await pool.query('SELECT key FROM pack_intents WHERE run_id = $1', [run]);
    const isKept = () => objects.getBuffer(rows[0].key, 1e6).then(Boolean, () => false);
    await pool.query(`UPDATE pack_intents SET created_at = now() - interval '2 hours' WHERE run_id = $1`, [run]);
    await sweepUnusedPacks(pool, objects);
    expect(await isKept()).toBe(true);
    await me.post(`/api/runs/${run}/cancel`).expect(200);
    await sweepUnusedPacks(pool, objects);
    expect(await isKept()).toBe(false);
  });
});
