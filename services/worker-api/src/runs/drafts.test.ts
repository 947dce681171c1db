import { given, noUsage, until } from '@gantry/testing';
import { sweepUnusedPacks } from '../housekeeping';
import { callerOf } from '../test/caller';
import { createWorker, HELLO } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';

const api = testWorkerApi();
const me = given(() => callerOf(api.url, api.owner.jwt));
const executor = given(() => api.connectExecutor());

const main = (content: string) => ({ files: [{ path: 'main.py', content }] });
const SHOUT = 'def run(name="world"):\n    return {"greeting": f"HELLO {name}"}\n';
const inspect = async (draft: object, more: object = {}) =>
  (await me.post('/api/workers/inspect', { draft, ...more }).expect(200)).body;

/** Creates a worker for each test, so that runs of other tests do not count. */
const newWorker = (fields: object = {}) => createWorker(api, { secrets: [], ...fields });
const tryOut = (id: string, body: object) => me.post(`/api/workers/${id}/test`, body);
const started = async (id: string, body: object): Promise<string> => (await tryOut(id, body).expect(201)).body.run_id;
const read = async (id: string) => (await me.get(`/api/runs/${id}`).expect(200)).body;
const ended = (id: string) =>
  until(async () => {
    const run = await read(id);
    return run.completed_at !== null && run;
  });

describe('inspecting a draft', () => {
  test('a valid draft has no problems, and its parameters of run() are listed', async () => {
    const found = await inspect({ ...main(HELLO), inputs: ['name'] });
    expect(found).toEqual({ problems: [], parameters: ['name'], imports: [], secrets: [] });
  });

  test('each problem has its location, and warnings have a hint', async () => {
    expect((await inspect(main('x = 1\ndef run(:\n'))).problems).toMatchObject([
      { file: 'main.py', line: 2, severity: 'error', code: 'syntax_error' },
    ]);
    expect((await inspect(main('def run(region): pass'))).problems).toEqual([
      {
        ...{ file: 'main.py', line: 1, column: 9, severity: 'warning', code: 'unknown_parameter' },
        message: 'run() has a parameter "region" that is not an input of the manifest',
        hint: 'declare it among the inputs, or give it a default',
      },
    ]);
    expect((await inspect({ ...main('def run(): pass'), entrypoint: 'other.py' })).problems).toMatchObject([
      { file: null, code: 'bad_entrypoint' },
      { code: 'no_run' },
    ]);
  });

  test('a draft of a worker changes its version, and nothing is stored', async () => {
    const worker = await newWorker();
    const before = await api.deps.pool.query('SELECT count(*) FROM pack_intents');
    const more = { worker_id: worker.id };
    expect((await inspect({}, more)).parameters).toEqual(['name']);
    expect((await inspect(main('def run(other): pass'), more)).problems).toMatchObject([{ code: 'unknown_parameter' }]);
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
    expect((await inspect({ files, inputs: ['name'] })).problems).toMatchObject([
      { file: 'main.py', code: 'not_inspected', severity: 'info' },
      { file: 'bad.py', code: 'unreadable', severity: 'error' },
      { code: 'no_run' },
    ]);
  });

  test.each([
    ['a file whose path leads out', { files: [{ path: '../x.py', content: '' }] }, 'draft.files.0.path'],
    ['a manifest among the files', { files: [{ path: 'worker.yaml', content: '' }] }, 'draft.files.0.path'],
    ['an input that is none', { ...main(HELLO), inputs: [{ name: 'a', type: 'nonsense' }] }, 'inputs.0.type'],
  ])('%s is refused as it is when saving', async (_what, draft, path) => {
    const { body } = await me.post('/api/workers/inspect', { draft }).expect(400);
    expect(JSON.stringify(body)).toContain(path);
  });

  test('viewers only read', async () => {
    const viewer = callerOf(api.url, (await api.addMember('viewer')).jwt);
    const { id } = await newWorker();
    await viewer.post('/api/workers/inspect', { draft: main(HELLO) }).expect(403);
    await viewer.post(`/api/workers/${id}/test`, { draft: {} }).expect(403);
  });

  test('"inspect" is a reserved word, and not an id of a worker', async () => {
    await me.post('/api/workers', { id: 'inspect', name: 'Inspect', ...main(HELLO) }).expect(400);
    expect((await newWorker({ name: 'Inspect' })).id).toBe('worker-inspect');
  });
});

describe('testing a draft', () => {
  test('runs its code as the worker, without a version', async () => {
    const worker = await newWorker({ secrets: ['TOKEN'], python_dependencies: [] });
    await me.put('/api/secrets/TOKEN', { value: 'the value of a secret' });
    const id = await started(worker.id, { draft: main(SHOUT), inputs: { name: 'Ada' } });
    expect(id).toMatch(/^tr_/);
    const job = await executor.claim();
    expect(job).toMatchObject({ runId: id, inputs: { name: 'Ada' }, secrets: { TOKEN: 'the value of a secret' } });
    await job?.complete({ greeting: 'HELLO Ada' });
    expect(await ended(id)).toMatchObject({
      ...{ worker_id: worker.id, trigger: 'test', worker_version: null, status: 'completed' },
      output: { greeting: 'HELLO Ada' },
    });
    expect((await me.get(`/api/workers/${worker.id}/versions`).expect(200)).body).toHaveLength(1);
    expect((await me.get(`/api/workers/${worker.id}`).expect(200)).body.sha).toBe(worker.sha);
  });

  test('does not count for health, statistics, lists or retries', async () => {
    const worker = await newWorker({ retry: { max_attempts: 3 } });
    const id = await started(worker.id, { draft: main(SHOUT) });
    const failure = { code: 'exception', message: 'no', type: 'ValueError' } as const;
    await (await executor.claim())?.report(
      { type: 'started' },
      { type: 'finished', status: 'failed', error: failure, usage: noUsage },
    );
    expect(await ended(id)).toMatchObject({ status: 'failed', attempt: 1 });
    expect((await me.get(`/api/workers/${worker.id}`).expect(200)).body).toMatchObject({
      ...{ health: 'ready', last_run_id: null },
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
    const worker = await newWorker();
    const id = await started(worker.id, { draft: main(SHOUT) });
    await (await executor.claim())?.complete(null);
    await ended(id);
    const { body } = await me.get('/api/audit-log?action=worker.tested').expect(200);
    expect(body[0]).toMatchObject({ resource: { id: worker.id }, details: { run_id: id } });
    expect((await me.post(`/api/runs/${id}/replay`, {}).expect(409)).body.code).toBe('test_run');
  });

  test('asks for what the draft declares, and refuses code that saving would refuse', async () => {
    const { id } = await newWorker();
    const draft = { ...main('def run(count): pass'), inputs: [{ name: 'count', type: 'integer', required: true }] };
    await tryOut(id, { draft, inputs: { name: 'Ada' } }).expect(400);
    expect((await tryOut(id, { draft: main('def run(: pass') }).expect(400)).body.code).toBe('syntax_error');
    expect((await tryOut(id, { draft: { entrypoint: 'gone.py' } }).expect(400)).body.code).toBe('bad_entrypoint');
  });

  test('works with a paused worker, and not with an archived one', async () => {
    const { id } = await newWorker();
    await me.post(`/api/workers/${id}/pause`).expect(200);
    const run = await started(id, { draft: main(SHOUT) });
    await me.post(`/api/runs/${run}/cancel`).expect(200);
    await me.post(`/api/workers/${id}/archive`).expect(200);
    await tryOut(id, { draft: main(SHOUT) }).expect(409);
  });

  test('what tests cost counts towards the budget of the month', async () => {
    const { id } = await newWorker({ limits: { budget_usd_per_month: 1 } });
    const run = await started(id, { draft: main(SHOUT) });
    await (await executor.claim())?.report(
      { type: 'started' },
      { type: 'finished', status: 'completed', output: null, usage: { ...noUsage, costUsd: 1.5 } },
    );
    await ended(run);
    expect((await tryOut(id, { draft: {} }).expect(409)).body.code).toBe('budget_exceeded');
    expect((await me.post(`/api/workers/${id}/runs`, {}).expect(409)).body.code).toBe('budget_exceeded');
  });

  test('its code is kept until the run has ended, however long that takes', async () => {
    const { id } = await newWorker();
    const run = await started(id, { draft: main(SHOUT) });
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
