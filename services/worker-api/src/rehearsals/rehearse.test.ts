import { connectBus } from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import { pino } from 'pino';
import { createRunnables, type Runnable } from '../runs/runnable';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { rehearseNow } from '../test/rehearse-now';
import { testWorkerApi } from '../test/test-worker-api';
import { getWorker } from '../workers/worker-repository';

const api = testWorkerApi();
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const loadWorker = ({ id }: { id: string }) => getWorker(api.deps.prisma, api.workspaceId, id);
const asked = { inputs: { name: 'Ada' }, of: null, createdBy: null };

/** A run of the worker that has ended. */
async function recordRun(id: string, body: object) {
  const { run_id: runId } = (await me.post(`/api/workers/${id}/runs`, body).expect(201)).body;
  await (await executor.claimJob()).complete('recorded');
  return waitUntil(async () => {
    const run = await api.deps.engine.get(api.workspaceId, runId);
    return run.finishedAt && run;
  });
}

test('a rehearsal is a test with the version of its worker, and is listed only on request', async () => {
  const made = await createWorker(api, { limits: { concurrency: 1 }, approvals: { required: true } });
  const worker = await loadWorker(made);
  const run = await rehearseNow(api.deps, { worker, ...asked });
  expect(run.id).toMatch(/^tr_/);
  expect(run).toMatchObject({ kind: 'test', trigger: 'rehearsal', version: 1, priority: -50, slotKey: null });
  expect(run.spec.rehearsal).toEqual({ of: null });
  const job = await executor.claimJob();
  expect(job).toMatchObject({ runId: run.id, kind: 'test', inputs: { name: 'Ada' } });
  await job.complete({ greeting: 'hello Ada' });
  const { body } = await waitUntil(async () => {
    const answer = await me.get(`/api/runs/${run.id}`).expect(200);
    return answer.body.completed_at && answer;
  });
  expect(body).toMatchObject({ trigger: 'rehearsal', worker_version: 1, status: 'completed' });
  const listRuns = async (query: string) => (await me.get(`/api/runs?worker_id=${made.id}${query}`).expect(200)).body;
  expect(await listRuns('')).toEqual([]);
  expect(await listRuns('&trigger=rehearsal')).toMatchObject([{ id: run.id }]);
});

test('its end is published to this service alone', async () => {
  const spectator = await connectBus({ ...api.nats.spectator, name: 'test', log: pino({ level: 'silent' }) });
  const heard: { subject: string; data: Record<string, unknown> }[] = [];
  spectator.nc.subscribe('events.>', {
    callback: (_err, { subject, data }) => void heard.push({ subject, data: JSON.parse(data.toString()).data }),
  });
  await spectator.nc.flush();
  const worker = await loadWorker(await createWorker(api));
  const run = await rehearseNow(api.deps, { worker, ...asked });
  await (await executor.claimJob()).complete({ greeting: 'hello Ada' });
  const told = await waitUntil(() => heard.find(({ data }) => data.runId === run.id));
  expect(told).toEqual({
    subject: 'events.worker-api.rehearsal.finished.v1',
    data: { runId: run.id, subjectId: worker.uid, status: 'completed' },
  });
  await spectator.nc.close();
});

test('inputs of a recorded run are used again, with its files', async () => {
  const inputs = [{ name: 'name' }, { name: 'table', type: 'file' }];
  const made = await createWorker(api, { inputs });
  const table = { name: 'a.csv', content_base64: 'YQ==' };
  const of = await recordRun(made.id, { inputs: { name: 'Ada', table } });
  const worker = await loadWorker(made);
  const run = await rehearseNow(api.deps, { worker, inputs: of.inputs, of, createdBy: 'usr_1' });
  expect(run.spec).toMatchObject({ files: of.spec.files, rehearsal: { of: of.id } });
  expect(run.parentRunId).toBe(of.id);
  expect(run.inputs).toEqual(of.inputs);
  await (await executor.claimJob()).complete(null);
});

test('code that no person has read gets no value of a secret or connection, and sends nothing', async () => {
  await me.put('/api/secrets/PLAIN', { value: 'never-to-be-seen-1' }).expect(201);
  await me.put('/api/secrets/BOUND', { value: 'never-to-be-seen-2', hosts: ['api.example.com'] }).expect(201);
  await me.put('/api/secrets/SHOWN', { value: 'never-to-be-seen-3', hosts: ['api.example.com'] }).expect(201);
  const key = {
    app: 'acme',
    label: 'Acme',
    value: 'never-to-be-seen-4',
    hosts: ['api.example.com'],
    visibility: 'workspace',
  };
  await me.post('/api/connections', key).expect(201);
  const secrets = ['PLAIN', 'BOUND', 'SHOWN'];
  const made = await createWorker(api, { secrets, connections: ['acme'], expose: ['SHOWN'], in_body: ['BOUND'] });
  const worker = await loadWorker(made);
  const of = await recordRun(made.id, { inputs: { name: 'Ada' } });
  for (const recorded of [of, null]) {
    await rehearseNow(api.deps, { worker, ...asked, of: recorded, isUnread: true });
    const job = await executor.claimJob();
    expect(job).toMatchObject({ rehearsal: { isUnread: true }, network: 'egress' });
    const placeholder = expect.stringMatching(/^gph_/);
    expect(job.secrets).toEqual({ PLAIN: placeholder, SHOWN: placeholder });
    expect(job.credentials).toMatchObject([
      { kind: 'connection', name: 'acme', value: placeholder },
      { kind: 'secret', name: 'BOUND', value: placeholder },
    ]);
    expect(JSON.stringify(job)).not.toContain('never-to-be-seen');
    await job.complete(null);
  }
});

test('code that no person has read gets no package that no person has approved', async () => {
  const worker = await loadWorker(await createWorker(api, { python_dependencies: ['approved'] }));
  const runnable = await createRunnables().get(api.deps.pool, worker.uid, 1);
  const withPackages = (...packages: string[]) => ({
    ...runnable,
    definition: { ...runnable.definition, python_dependencies: packages },
  });
  const rehearseUnread = (draft: Runnable) => rehearseNow(api.deps, { worker, ...asked, draft, isUnread: true });
  await expect(rehearseUnread(withPackages('approved', 'chosen'))).rejects.toMatchObject({
    code: 'version_not_approved',
    detail: 'this version needs packages that no person has approved: chosen',
  });
  await rehearseUnread(withPackages('approved'));
  await (await executor.claimJob()).complete(null);
});

test('paused workers rehearse, archived ones do not, and runs of other workers are no record', async () => {
  const made = await createWorker(api);
  await me.post(`/api/workers/${made.id}/pause`).expect(200);
  const paused = await loadWorker(made);
  await rehearseNow(api.deps, { worker: paused, ...asked });
  await (await executor.claimJob()).complete(null);
  const archived = { ...paused, status: 'archived' as const };
  await expect(rehearseNow(api.deps, { worker: archived, ...asked })).rejects.toMatchObject({ code: 'archived' });
  const other = await createWorker(api);
  const of = await recordRun(other.id, { inputs: { name: 'Ada' } });
  await expect(rehearseNow(api.deps, { worker: paused, ...asked, of })).rejects.toThrow('of the same worker');
  const wrong = rehearseNow(api.deps, { worker: paused, ...asked, inputs: { nam: 'Ada' } });
  await expect(wrong).rejects.toMatchObject({ code: 'invalid_inputs' });
});
