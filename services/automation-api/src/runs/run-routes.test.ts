import { createZip, setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import { Client } from 'pg';
import { createArtifact, deployArtifact, helloCode, startService, testService, uploadZip } from '../test/service';

let automationId: string;
const service = testService();
const me = setupResource(() => service.createCaller());
const executor = setupResource(() => service.connectExecutor());
beforeAll(async () => {
  ({ automationId } = await deployArtifact(me));
});

const startRun = (body: object, caller = me) => caller.post(`/api/automations/${automationId}/run`, body);
const hello = { inputs: { who: 'Ada' } };

test('a wait ends as soon as the run does', async () => {
  const claim = executor.claimJob();
  const started = Date.now();
  const response = startRun({ ...hello, wait: 10 });
  void response.then(() => {});
  await (await claim).complete({ greeting: 'Hello' });
  expect((await response).body).toMatchObject({ status: 'success', result: { outputs: { greeting: 'Hello' } } });
  expect(Date.now() - started).toBeLessThan(10_000);
});

test('a wait of 0 responds at once, and polling shows the progress', async () => {
  const { body } = await startRun({ ...hello, wait: 0 }).expect(200);
  expect(body).toEqual({ runId: expect.stringMatching(/^run_[\w-]{21}$/), status: 'pending' });
  const poll = async () => (await me.get(`/api/runs/${body.runId}`).expect(200)).body;
  expect(await poll()).toMatchObject({ status: 'pending', startedAt: null, completedAt: null });
  const job = await executor.claimJob();
  expect(job.runId).toBe(body.runId);
  expect(await poll()).toMatchObject({ status: 'running' });
  await job.report(
    { type: 'started' },
    { type: 'log', stream: 'stdout', level: 'info', text: 'one' },
    { type: 'log', stream: 'stderr', level: 'error', text: 'two' },
    { type: 'finished', status: 'completed', output: { greeting: 'Hi' }, usage: zeroUsage },
  );
  const done = await waitUntil(async () => {
    const now = await poll();
    return now.status === 'success' && now;
  });
  expect(done).toMatchObject({
    automationId,
    version: 1,
    trigger: 'api',
    inputs: { who: 'Ada' },
    result: { status: 'success', outputs: { greeting: 'Hi' }, logs: 'one\ntwo\n' },
    completedAt: expect.any(Number),
    durationMs: expect.any(Number),
  });
});

test('a run that outlasts the wait responds with its id and status', async () => {
  const { body } = await startRun({ ...hello, wait: 0.2 }).expect(200);
  expect(body).toEqual({ runId: expect.any(String), status: 'pending' });
  await (await executor.claimJob()).complete({});
});

test.each([-1, 10.01, 11, '5', null, true, [5]])('a wait of %j is a 400', async (wait) => {
  const { body } = await startRun({ ...hello, wait }).expect(400);
  expect(body).toMatchObject({ code: 'invalid', details: [expect.objectContaining({ path: 'wait' })] });
});

test.each([
  ['completed', { output: 'text' }, { greeting: 'text' }],
  ['completed', { output: null }, { greeting: null }],
  ['completed', { output: [1, 2] }, { greeting: [1, 2] }],
  ['completed', { output: { other: 1 } }, { other: 1 }],
] as const)('a %s run that returned %j has outputs %j', async (status, returned, outputs) => {
  const claim = executor.claimJob();
  const response = startRun(hello);
  void response.then(() => {});
  await (await claim).report({ type: 'started' }, { type: 'finished', status, ...returned, usage: zeroUsage });
  expect((await response).body.result.outputs).toEqual(outputs);
});

test.each([
  ['failed', 'error', 'exception'],
  ['timed_out', 'timeout', 'timeout'],
  ['failed', 'error', 'out_of_memory'],
] as const)('a run that %s is shown as %s, with the code %s', async (status, shown, code) => {
  const claim = executor.claimJob();
  const response = startRun(hello);
  void response.then(() => {});
  const error = { code, message: 'it broke', type: 'ValueError', trace: 'main.py:1' };
  await (await claim).report(
    { type: 'started' },
    { type: 'log', stream: 'stdout', level: 'info', text: 'before' },
    { type: 'finished', status, error, usage: zeroUsage },
  );
  expect((await response).body).toMatchObject({
    status: shown,
    error,
    result: { status: shown, outputs: {}, logs: 'before\n' },
  });
});

test('a run whose output the object store has lost is shown with the rest', async () => {
  const { body } = await startRun({ ...hello, wait: 0 });
  const job = await executor.claimJob();
  await job.report(
    { type: 'started' },
    { type: 'log', stream: 'stdout', level: 'info', text: 'before' },
    { type: 'finished', status: 'completed', output: { greeting: 'Hi' }, usage: zeroUsage },
  );
  const loadRun = async () => (await me.get(`/api/runs/${body.runId}`).expect(200)).body;
  await waitUntil(async () => (await loadRun()).status === 'success');
  const database = new Client({ connectionString: service.database.url });
  await database.connect();
  await database.query(
    `UPDATE runs SET output = NULL, output_key = workspace_id || '/runs/' || id || '/1/output' WHERE id = $1`,
    [body.runId],
  );
  await database.end();
  expect((await loadRun()).result).toEqual({
    status: 'success',
    outputs: {},
    outputsMissing: true,
    logs: 'before\n',
  });
});

test('invalid inputs are named, and nothing runs', async () => {
  const before = (await me.get('/api/runs')).body.runs.length;
  const { body } = await startRun({ inputs: { whom: 'Ada' } }).expect(400);
  expect(body).toMatchObject({ code: 'invalid_inputs' });
  expect(body.details).toEqual(
    expect.arrayContaining([
      { path: 'inputs.who', message: 'is required' },
      { path: 'inputs.whom', message: expect.stringContaining('unknown input') },
    ]),
  );
  expect((await startRun({}).expect(400)).body.details).toEqual([{ path: 'inputs', message: expect.any(String) }]);
  expect((await me.get('/api/runs')).body.runs).toHaveLength(before);
});

test('a body that is not JSON, or has another content type, is refused with 400 and 415', async () => {
  const path = `/api/automations/${automationId}/run`;
  const malformed = await me.post(path).set('Content-Type', 'application/json').send('{"inputs": ');
  expect(malformed).toMatchObject({ status: 400, body: { code: 'malformed_json' } });
  const text = await me.post(path).set('Content-Type', 'text/plain').send('inputs');
  expect(text).toMatchObject({ status: 415, body: { code: 'unsupported_type' } });
  const polluted = await me.post(path).set('Content-Type', 'application/json').send('{"inputs":{"__proto__":{"x":1}}}');
  expect(polluted.status).toBe(400);
  const large = await startRun({ inputs: { who: 'x'.repeat(1_100_000) } });
  expect(large).toMatchObject({ status: 413, body: { code: 'too_large' } });
});

test('a run can be cancelled while queued and while running, and only then', async () => {
  const { body: queued } = await startRun({ ...hello, wait: 0 });
  const cancelled = await me.post(`/api/runs/${queued.runId}/cancel`).expect(200);
  expect(cancelled.body).toMatchObject({ status: 'error', error: { code: 'cancelled' } });
  expect((await me.post(`/api/runs/${queued.runId}/cancel`).expect(409)).body.code).toBe('already_ended');

  const { body: running } = await startRun({ ...hello, wait: 0 });
  const job = await executor.claimJob();
  const cancelResponse = await me.post(`/api/runs/${running.runId}/cancel`).expect(200);
  expect(cancelResponse.body).toMatchObject({ status: 'running', cancelRequested: true });
  const error = { code: 'cancelled' as const, message: 'stopped' };
  await job.report({ type: 'started' }, { type: 'finished', status: 'cancelled', error, usage: zeroUsage });
  await waitUntil(async () => (await me.get(`/api/runs/${running.runId}`)).body.status === 'error');
});

test('the list is newest first, in pages, and by automation and status', async () => {
  const caller = service.createCaller();
  const own = await deployArtifact(caller);
  const other = await deployArtifact(caller);
  const ids: string[] = [];
  for (const id of [own.id, other.id, own.id, own.id]) {
    const { body } = await caller.post(`/api/automations/${id}/run`, { ...hello, wait: 0 });
    ids.unshift(body.runId);
  }
  const list = async (query: string) => (await caller.get(`/api/runs?${query}`).expect(200)).body;
  const listIds = (page: { runs: { runId: string }[] }) => page.runs.map(({ runId }) => runId);
  expect(listIds(await list(''))).toEqual(ids);
  const first = await list('limit=3');
  expect(listIds(first)).toEqual(ids.slice(0, 3));
  const second = await list(`limit=3&before=${first.nextBefore}`);
  expect(second).toMatchObject({ runs: [{ runId: ids[3] }], nextBefore: null });
  expect(listIds(await list(`automationId=${other.id}`))).toEqual([ids[2]]);
  expect(listIds(await list('status=success'))).toEqual([]);
  for (const runId of ids) await caller.post(`/api/runs/${runId}/cancel`).expect(200);
  expect(listIds(await list('status=error'))).toEqual(ids);
  for (const query of ['limit=0', 'limit=201', 'status=queued', 'before=run_%00', 'sort=asc']) {
    await caller.get(`/api/runs?${query}`).expect(400);
  }
  await caller.get('/api/runs?before=run_unknown').expect(404);
});

test('the list is filtered by trigger, by time, and by a part of the automation’s name', async () => {
  const caller = service.createCaller();
  const [orders, sales] = [
    await deployArtifact(caller, { manifest: { name: 'Orders of 100 %' } }),
    await deployArtifact(caller, { manifest: { name: 'Sales' } }),
  ];
  const started: string[] = [];
  for (const { id } of [orders, sales]) {
    const { body } = await caller.post(`/api/automations/${id}/run`, { inputs: {}, wait: 0 }).expect(200);
    started.push(body.runId);
  }
  const list = async (query: string) =>
    (await caller.get(`/api/runs?${query}`).expect(200)).body.runs.map(({ runId }: { runId: string }) => runId);
  expect(await list('q=orders')).toEqual([started[0]]);
  expect(await list(`q=${encodeURIComponent('0 %')}`)).toEqual([started[0]]);
  expect(await list(`q=orders&automationId=${sales.id}`)).toEqual([]);
  expect(await list('q=nothing')).toEqual([]);
  expect(await list('trigger=api&status=pending')).toEqual([...started].reverse());
  expect(await list('trigger=schedule')).toEqual([]);
  const { createdAt } = (await caller.get(`/api/runs/${started[1]}`)).body;
  expect(await list(`since=${createdAt}&q=sales`)).toEqual([started[1]]);
  expect(await list(`until=${createdAt}&q=sales`)).toEqual([]);
  for (const runId of started) await caller.post(`/api/runs/${runId}/cancel`).expect(200);
});

test('a list can include the outputs, for a plot over past runs', async () => {
  const caller = service.createCaller();
  const { id } = await deployArtifact(caller);
  const claim = executor.claimJob();
  const response = caller.post(`/api/automations/${id}/run`, hello);
  void response.then(() => {});
  await (await claim).complete({ greeting: 7 });
  await response;
  const { body } = await caller.get(`/api/runs?automationId=${id}&outputs=true`).expect(200);
  expect(body.runs).toMatchObject([{ status: 'success', outputs: { greeting: 7 } }]);
  expect((await caller.get('/api/runs')).body.runs[0]).not.toHaveProperty('outputs');
});

test('a file comes as bytes or as an upload, and reaches the executor as a URL', async () => {
  const caller = service.createCaller();
  const manifest = { name: 'Files', inputs: [{ name: 'table', type: 'file', accepts: ['.csv'], max_size_mb: 0.001 }] };
  const { id } = await deployArtifact(caller, { files: { 'main.py': 'def run(table): pass' }, manifest });
  const start = (table: object) => caller.post(`/api/automations/${id}/run`, { inputs: { table }, wait: 0 });
  const content_base64 = Buffer.from('a,b').toString('base64');
  const storageKey = await uploadZip(caller, Buffer.from('a,b'));
  for (const table of [
    { name: 'T.CSV', content_base64 },
    { name: 'T.CSV', storageKey },
  ]) {
    await start(table).expect(200);
    const job = await executor.claimJob();
    expect(job.files).toMatchObject([{ input: 'table', name: 'T.CSV', size: 3 }]);
    expect(job.inputs).toEqual({ table: { name: 'T.CSV', size: 3 } });
    expect(await (await fetch(job.files[0]?.url ?? '')).text()).toBe('a,b');
    await job.complete({});
  }
  for (const table of [
    { name: 't.csv' },
    { name: 't.csv', content_base64, storageKey },
    { name: 't.csv', content_base64: 'not base64!' },
    { name: 't.exe', content_base64 },
    { name: '..', content_base64 },
    { name: 't.csv', content_base64: Buffer.alloc(2_000).toString('base64') },
  ]) {
    expect((await start(table).expect(400)).body.details[0].path).toBe('inputs.table');
  }
  const stranger = service.createCaller();
  const foreign = await uploadZip(stranger, Buffer.from('secret'));
  const unknown = `${caller.workspaceId}/uploads/up_unknown`;
  for (const key of [foreign, unknown]) await start({ name: 't.csv', storageKey: key }).expect(404);
});

test("a run's files can be listed and downloaded as attachments", async () => {
  const claim = executor.claimJob();
  const response = startRun(hello);
  void response.then(() => {});
  const job = await claim;
  const key = `${me.workspaceId}/runs/${job.runId}/${job.attempt}/report`;
  await service.api.deps.objects.put(key, Buffer.from('<script>'));
  const artifact = {
    artifactId: 'art_made_by_the_run',
    name: 'report.html',
    contentType: 'text/html',
    size: 8,
    sha256: 'a'.repeat(64),
    key,
  };
  await job.report({ type: 'started' }, { type: 'artifact', ...artifact });
  await job.report({ type: 'finished', status: 'completed', output: {}, usage: zeroUsage });
  const { runId } = (await response).body;
  const listed = await me.get(`/api/runs/${runId}/artifacts`).expect(200);
  expect(listed.body.artifacts).toMatchObject([{ name: 'report.html', contentType: 'text/html', size: 8 }]);
  const { id } = listed.body.artifacts[0];
  const found = await me.get(`/api/runs/${runId}/artifacts/${id}/download`).expect(302);
  const file = await fetch(found.headers.location as string);
  expect(await file.text()).toBe('<script>');
  expect(file.headers.get('Content-Disposition')).toContain('report.html');
  expect(file.headers.get('Content-Security-Policy')).toContain('sandbox');
  await me.get(`/api/runs/${runId}/artifacts/art_unknown/download`).expect(404);
});

test('events stream live and end with done', async () => {
  const { body } = await startRun({ ...hello, wait: 0 });
  const stream = await fetch(`${service.url}/api/runs/${body.runId}/events?logs=true`, {
    headers: { Authorization: `Bearer ${me.token}`, Accept: 'text/event-stream' },
  });
  expect(stream.headers.get('Content-Type')).toContain('text/event-stream');
  const text = stream.text();
  const job = await executor.claimJob();
  await job.report({ type: 'started' }, { type: 'log', stream: 'stdout', level: 'info', text: 'working' });
  await job.report({ type: 'finished', status: 'completed', output: {}, usage: zeroUsage });
  const names = [...(await text).matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
  expect(names).toEqual(expect.arrayContaining(['status', 'log', 'output']));
  expect(names.at(-1)).toBe('done');
  const statuses = [...(await text).matchAll(/^event: (?:status|done)\ndata: .*"status":"(\w+)"/gm)];
  expect(statuses.map(([, status]) => status)).toEqual(['pending', 'running', 'success']);
});

describe('test runs', () => {
  test('have no network, one minute, and no secrets except through an automation', async () => {
    const caller = service.createCaller();
    const manifest = { name: 'Secretive', secrets_needed: ['API_KEY'] };
    const files = { 'main.py': 'def run(): pass' };
    await caller.post('/api/secrets', { name: 'API_KEY', value: 'hunter2hunter2' }).expect(201);
    const { id } = await deployArtifact(caller, { files, manifest });
    const artifactId = await createArtifact(caller, { files, manifest });

    await caller.post('/api/test', { artifactId, inputs: {}, wait: 0 }).expect(200);
    const bare = await executor.claimJob();
    expect(bare).toMatchObject({ kind: 'test', network: 'none', limits: { wallMs: 60_000 } });
    expect(bare.secrets).toBeUndefined();
    await bare.complete({});

    const { body } = await caller.post('/api/test', { artifactId, inputs: {}, automationId: id, wait: 0 }).expect(200);
    expect(body).toEqual({ testRunId: expect.stringMatching(/^tr_/), status: 'pending' });
    const linked = await executor.claimJob();
    expect(linked).toMatchObject({ network: 'none', secrets: { API_KEY: 'hunter2hunter2' } });
    const poll = async () => (await caller.get(`/api/test-runs/${body.testRunId}`).expect(200)).body;
    expect((await poll()).status).toBe('pending');
    await linked.report(
      { type: 'started' },
      { type: 'log', stream: 'stderr', level: 'error', text: 'oh no' },
      { type: 'finished', status: 'failed', error: { code: 'exception', message: 'oh' }, usage: zeroUsage },
    );
    const failed = await waitUntil(async () => {
      const now = await poll();
      return now.status === 'error' && now;
    });
    expect(failed).toMatchObject({ error: { code: 'exception', message: 'oh' }, logs: 'oh no\n' });
  });

  test('are not listed as runs, and runs are not test runs', async () => {
    const artifactId = await createArtifact(me);
    const { body: tested } = await me.post('/api/test', { artifactId, ...hello, wait: 0 }).expect(200);
    await (await executor.claimJob()).complete({});
    await me.get(`/api/runs/${tested.testRunId}`).expect(404);
    const { body: ran } = await startRun({ ...hello, wait: 0 });
    await (await executor.claimJob()).complete({});
    await me.get(`/api/test-runs/${ran.runId}`).expect(404);
    const listed = (await me.get('/api/runs?limit=200')).body.runs.map(({ runId }: { runId: string }) => runId);
    expect(listed).toContain(ran.runId);
    expect(listed).not.toContain(tested.testRunId);
  });
});

test('the same Idempotency-Key starts one run', async () => {
  const start = () => startRun({ ...hello, wait: 0 }).set('Idempotency-Key', 'run-once');
  const first = await start().expect(200);
  const second = await start().expect(200);
  expect(second.body).toEqual(first.body);
  expect(second.headers['idempotent-replayed']).toBe('true');
  await (await executor.claimJob()).complete({});
});

test('runs over the rate limit are a 429 with Retry-After', async () => {
  const strict = await startService({
    rateLimits: { requestsPerMinute: 1_000, runsPerMinute: 2, signInsPerMinute: 10 },
  });
  try {
    const caller = strict.createCaller();
    const { id } = await deployArtifact(caller);
    const start = () => caller.post(`/api/automations/${id}/run`, { ...hello, wait: 0 });
    await start().expect(200);
    await start().expect(200);
    const refused = await start().expect(429);
    expect(refused.body.code).toBe('rate_limited');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await caller.get('/api/runs').expect(200);
  } finally {
    await strict.stop();
  }
});

test('a stale cache of an automation never decides about a run', async () => {
  const { automationId: id } = await deployArtifact(me);
  const start = (inputs: object) => me.post(`/api/automations/${id}/run`, { inputs, wait: 0 });
  const runAndGetVersion = async (inputs: object) => {
    const { body } = await start(inputs).expect(200);
    await (await executor.claimJob()).complete({});
    return (await me.get(`/api/runs/${body.runId}`).expect(200)).body.version;
  };
  expect(await runAndGetVersion({ who: 'Ada' })).toBe(1);
  expect(await runAndGetVersion({ who: 'Ada' })).toBe(1);

  const manifest = { name: 'Hello', inputs: [{ name: 'whom', type: 'text' }], outputs: ['greeting'] };
  const artifactId = await createArtifact(me, { manifest });
  await me.post(`/api/automations/${id}/update`, { artifactId }).expect(200);
  expect((await start({ who: 'Ada' }).expect(400)).body.code).toBe('invalid_inputs');
  expect(await runAndGetVersion({ whom: 'Ada' })).toBe(2);
  expect(await runAndGetVersion({ whom: 'Ada' })).toBe(2);

  await me.post(`/api/automations/${id}/rollback`, { version: 1 }).expect(200);
  expect(await runAndGetVersion({ who: 'Ada' })).toBe(1);
  await me.patch(`/api/automations/${id}`, { status: 'paused' }).expect(200);
  await start({ who: 'Ada' }).expect(409);
  await me.patch(`/api/automations/${id}`, { status: 'active' }).expect(200);
  expect(await runAndGetVersion({ who: 'Ada' })).toBe(1);
  const elsewhere = service.createCaller();
  await elsewhere.post(`/api/automations/${id}/run`, { inputs: { who: 'Ada' } }).expect(404);
  await me.delete(`/api/automations/${id}`).expect(204);
  expect((await start({ who: 'Ada' }).expect(409)).body.code).toBe('archived');
});

test('an artifact with a pattern that RE2 lacks is refused; a stored one refuses only the values that it would check', async () => {
  const inputs = [{ name: 'who', pattern: '^A' }, { name: 'greeting' }];
  const manifest = { name: 'Hello', inputs, outputs: ['greeting'] };
  const bad = { ...manifest, inputs: [{ name: 'who', pattern: '(a)\\1' }] };
  const storageKey = await uploadZip(me, await createZip({ 'main.py': helloCode }));
  const { body: refused } = await me
    .post('/api/artifacts', { manifest: bad, entrypoint: 'main.py', storageKey })
    .expect(400);
  expect(refused.details).toEqual([
    {
      path: 'manifest.inputs.0.pattern',
      message: expect.stringMatching(/backreference \("\\1"\), .* does not support/),
    },
  ]);
  const artifactId = await createArtifact(me, { manifest });
  const database = new Client({ connectionString: service.database.url });
  await database.connect();
  await database.query(
    `UPDATE artifacts SET manifest = jsonb_set(manifest::jsonb, '{inputs,0,pattern}', '"^(?=A)"') WHERE id = $1`,
    [artifactId],
  );
  await database.end();
  const { body: made } = await me.post('/api/deploy', { artifactId }).expect(201);
  await me.get(`/api/automations/${made.automationId}`).expect(200);
  const start = (inputs: object) => me.post(`/api/automations/${made.automationId}/run`, { inputs, wait: 0 });
  const { body } = await start({ who: 'Ada' }).expect(400);
  expect(body).toMatchObject({
    code: 'invalid_inputs',
    details: [{ path: 'inputs.who', message: expect.stringMatching(/lookahead.*Rewrite or remove the pattern/) }],
  });
  await start({ greeting: 'Hi' }).expect(200);
  await (await executor.claimJob()).complete({});
});
