import { type FakeExecutor, setupResource, waitUntil, zeroUsage } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { recordMissedTokenRuns } from './token-budget';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor: FakeExecutor = setupResource(() => api.connectExecutor());

const createToken = async (jwt: string, restrict: object) => {
  const { id, token } = await api.createToken('personal', jwt, { restrict });
  return { id, token, ...createCaller(api.url, token) };
};
const createRestrictedToken = (restrict: object) => createToken(api.owner.jwt, restrict);

/** Ends the run that an executor is given next. */
async function endNext(costUsd: number): Promise<void> {
  const job = await executor.claimJob();
  await job.report(
    { type: 'started' },
    { type: 'finished', status: 'completed', output: null, usage: { ...zeroUsage, costUsd } },
  );
}

const sumSpent = async (tokenId: string): Promise<number> => {
  const { rows } = await api.database.pool.query('SELECT usd FROM token_spending WHERE token_id = $1', [tokenId]);
  return rows[0]?.usd ?? 0;
};
const hasSpent = (tokenId: string, usd: number) => waitUntil(async () => (await sumSpent(tokenId)) >= usd);

describe('a token whose runs need approval', () => {
  test('starts a run that waits for a person, who then releases it', async () => {
    const worker = await createWorker(api);
    const agent = await createRestrictedToken({ require_approval: true });
    const { body } = await agent.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
    const run = await owner.get(`/api/runs/${body.run_id}`).expect(200);
    expect(run.body.status).toBe('pending_approval');
    const [approval] = (await owner.get(`/api/approvals?run_id=${body.run_id}`).expect(200)).body;
    expect(approval.message).toContain('token');

    const refused = await agent.post(`/api/approvals/${approval.id}/approve`, {}).expect(403);
    expect(refused.body).toMatchObject({ code: 'restricted', detail: expect.stringContaining('require_approval') });
    await agent.post(`/api/approvals/${approval.id}/link`, {}).expect(403);
    await owner.post(`/api/approvals/${approval.id}/approve`, {}).expect(200);
    await endNext(0);
    await waitUntil(async () => (await owner.get(`/api/runs/${body.run_id}`)).body.status === 'completed');
  });

  test('also when it replays a run', async () => {
    const worker = await createWorker(api);
    const started = await owner.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
    await owner.post(`/api/runs/${started.body.run_id}/cancel`, {}).expect(200);
    const agent = await createRestrictedToken({ require_approval: true });
    const { body } = await agent.post(`/api/runs/${started.body.run_id}/replay`, {}).expect(201);
    expect((await owner.get(`/api/runs/${body.run_id}`)).body.status).toBe('pending_approval');
    // A thousand at once would be a thousand approvals, or as many before the first of them counts.
    await agent.post('/api/runs/bulk/replay', { ids: [started.body.run_id] }).expect(403);
  });

  test('creates nothing that would start by itself', async () => {
    const worker = await createWorker(api);
    const agent = await createRestrictedToken({ require_approval: true });
    await agent.post('/api/workers', { name: 'By the clock', files: [] }).expect(403);
    await agent.patch(`/api/workers/${worker.id}`, { trigger: 'cron', cron: '* * * * *' }).expect(403);
    await agent.post(`/api/workers/${worker.id}/test`, { draft: {} }).expect(403);
  });
});

describe('a token with a budget', () => {
  test('starts runs until their cost reaches it', async () => {
    const worker = await createWorker(api);
    const agent = await createRestrictedToken({ budget_usd: 1 });
    const start = () => agent.post(`/api/workers/${worker.id}/runs`, { inputs: {} });
    for (const costUsd of [0.6, 0.5]) {
      await start().expect(201);
      await endNext(costUsd);
      await hasSpent(agent.id, costUsd);
    }
    await hasSpent(agent.id, 1.1);
    const { body } = await start().expect(403);
    expect(body).toMatchObject({ code: 'budget_exceeded', detail: expect.stringContaining('1.1000 USD') });
    await owner.get(`/api/workers/${worker.id}`).expect(200);
    const listed = (await owner.get('/auth/tokens')).body.find(({ id }: { id: string }) => id === agent.id);
    expect(listed).toMatchObject({ spent_usd: 1.1, restrict: { budget_usd: 1 } });
  });

  test('counts the cost of its child tokens, each of which has its own', async () => {
    const worker = await createWorker(api);
    const parent = await createRestrictedToken({ budget_usd: 1 });
    const [one, other] = [
      await createToken(parent.token, { budget_usd: 0.4 }),
      await createToken(parent.token, { budget_usd: 1 }),
    ];
    await one.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
    await endNext(0.5);
    await hasSpent(one.id, 0.5);
    await one.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(403);
    await other.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
    await endNext(0.5);
    await hasSpent(parent.id, 1);
    await other.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(403);
    await parent.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(403);
  });

  test('starts one of many simultaneous runs if one exhausts the budget', async () => {
    const worker = await createWorker(api);
    const agent = await createRestrictedToken({ budget_usd: 0.0000001 });
    const start = () => agent.post(`/api/workers/${worker.id}/runs`, { inputs: {} });
    const started = await Promise.all(Array.from({ length: 6 }, start));
    expect(started.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403, 403]);
    expect(started.find(({ status }) => status === 403)?.body.code).toBe('budget_exceeded');
    await endNext(0);
    await waitUntil(async () => (await start()).status === 201);
    await endNext(0.5);
    await hasSpent(agent.id, 0.5);
    await start().expect(403);
  });

  test('reserves the usual cost of the worker’s runs until the run has ended', async () => {
    const worker = await createWorker(api);
    for (const costUsd of [0.1, 0.3, 0.9]) {
      await owner.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
      await endNext(costUsd);
    }
    const agent = await createRestrictedToken({ budget_usd: 0.5 });
    const start = () => agent.post(`/api/workers/${worker.id}/runs`, { inputs: {} });
    await waitUntil(async () => {
      const { rows } = await api.database.pool.query(
        'SELECT count(*)::int AS n FROM runs WHERE subject_ref = $1 AND finished_at IS NOT NULL',
        [worker.id],
      );
      return rows[0].n === 3;
    });
    const started = await Promise.all([start(), start(), start()]);
    expect(started.map(({ status }) => status).sort()).toEqual([201, 201, 403]);
    expect(started.find(({ status }) => status === 403)?.body.detail).toContain('0.6000 USD');
    await endNext(0);
    await endNext(0);
    await waitUntil(async () => (await start()).status === 201);
    await endNext(0);
  });

  test('of zero starts nothing', async () => {
    const worker = await createWorker(api);
    await (await createRestrictedToken({ budget_usd: 0 }))
      .post(`/api/workers/${worker.id}/runs`, { inputs: {} })
      .expect(403);
  });

  test('is counted once, also if the end of the run was missed', async () => {
    const worker = await createWorker(api);
    const agent = await createRestrictedToken({ budget_usd: 9 });
    const { body } = await agent.post(`/api/workers/${worker.id}/runs`, { inputs: {} }).expect(201);
    await owner.post(`/api/runs/${body.run_id}/cancel`, {}).expect(200);
    await waitUntil(async () => {
      const { rows } = await api.database.pool.query('SELECT FROM token_runs WHERE run_id = $1', [body.run_id]);
      return rows.length === 0;
    });
    const { pool } = api.database;
    await pool.query(
      `INSERT INTO token_runs (run_id, workspace_id, budgets) VALUES ($1, $2, jsonb_build_array(jsonb_build_object('tokenId', $3::text, 'usd', 9)))`,
      [body.run_id, api.workspaceId, agent.id],
    );
    await pool.query("UPDATE runs SET cost_usd = 2, finished_at = now() - interval '1 hour' WHERE id = $1", [
      body.run_id,
    ]);
    await recordMissedTokenRuns(pool);
    await recordMissedTokenRuns(pool);
    expect(await sumSpent(agent.id)).toBe(2);
  });
});

describe('a token for one worker', () => {
  /** Returns the outcome of a run that calls that worker. */
  async function callTo(workerId: string, start: () => Promise<{ body: { run_id: string } }>) {
    const { run_id: runId } = (await start()).body;
    const job = await executor.claimJob();
    const step = { ordinal: 1, kind: 'call' as const, name: workerId };
    const suspension = { kind: 'call' as const, step, workerId, inputs: {} };
    await job.report({ type: 'started' }, { type: 'finished', status: 'suspended', suspension, usage: zeroUsage });
    return waitUntil(async () => {
      const { body } = await owner.get(`/api/runs/${runId}`).expect(200);
      return body.status === 'failed' || body.waiting_for?.kind === 'call' ? body : null;
    });
  }
  const refusal = { status: 'failed', error: expect.stringContaining('does not allow that worker') };
  const listRuns = async (id: string) => (await owner.get(`/api/workers/${id}/runs`).expect(200)).body;

  test('starts no other one by a call of the code that it runs, nor by one that it calls', async () => {
    const [own, second, other] = [await createWorker(api), await createWorker(api), await createWorker(api)];
    const agent = await createRestrictedToken({ workers: [own.id, second.id] });
    const start = () => agent.post(`/api/workers/${own.id}/runs`, { inputs: {} }).expect(201);
    expect(await callTo(other.id, start)).toMatchObject(refusal);
    const parent = await callTo(second.id, start);
    expect(parent.waiting_for).toMatchObject({ kind: 'call' });
    const child = async () => ({ body: { run_id: parent.waiting_for.run_id } });
    expect(await callTo(other.id, child)).toMatchObject(refusal);
    await endNext(0);
    expect(await listRuns(other.id)).toEqual([]);
  });

  test('starts no other one by code that it wrote, whichever credential starts that', async () => {
    const [own, other] = [await createWorker(api), await createWorker(api)];
    const agent = await createRestrictedToken({ workers: [own.id] });
    const start = () => owner.post(`/api/workers/${own.id}/runs`, { inputs: {} }).expect(201);
    const write = (by: typeof agent | typeof owner, text: string) =>
      by.put(`/api/workers/${own.id}/files`, { files: [{ path: 'main.py', content: text }] }).expect(200);
    await write(agent, 'def run(): return 1');
    expect(await callTo(other.id, start)).toMatchObject(refusal);
    await owner.patch(`/api/workers/${own.id}`, { limits: { timeout_seconds: 30 } }).expect(200);
    expect(await callTo(other.id, start)).toMatchObject(refusal);
    expect(await listRuns(other.id)).toEqual([]);
    await write(owner, 'def run(): return 2');
    expect((await callTo(other.id, start)).waiting_for).toMatchObject({ kind: 'call' });
    await endNext(0);
    await endNext(0);
  });

  test('writes no context that other workers read', async () => {
    for (const name of ['shared', 'its-own']) await owner.post('/api/contexts', { name, writeable: true }).expect(201);
    const contexts = ['shared', 'its-own'];
    const [own] = [await createWorker(api, { contexts }), await createWorker(api, { contexts: ['shared'] })];
    const agent = await createRestrictedToken({ workers: [own.id] });
    const writeable = async (by: typeof owner) => {
      await by.post(`/api/workers/${own.id}/runs`, { inputs: {} }).expect(201);
      const job = await executor.claimJob();
      await job.complete(null);
      return job.contexts?.filter((context) => context.writeable).map(({ name }) => name);
    };
    expect(await writeable(agent)).toEqual(['its-own']);
    expect(await writeable(owner)).toEqual(contexts);
  });
  describe('and what is made from code that it wrote', () => {
    const write = (text: string) => ({ files: [{ path: 'main.py', content: text }] });
    const byAgent = (path: string, body: object) =>
      request(api.url)
        .post(path)
        .set({ Authorization: `Bearer ${api.owner.jwt}`, 'x-svc-agent': 'chat' })
        .send(body);
    const getScope = async (runId: string) => (await api.deps.engine.get(api.workspaceId, runId)).spec.onlyWorkers;

    /** A worker with code of the token, and a completed run. */
    async function createOwn() {
      const own = await createWorker(api, { network: 'none' });
      const agent = await createRestrictedToken({ workers: [own.id] });
      await agent.put(`/api/workers/${own.id}/files`, write('def run(): return 1')).expect(200);
      return { ...own, runId: await runOwn(own.id) };
    }
    async function runOwn(id: string): Promise<string> {
      const { body } = await owner.post(`/api/workers/${id}/runs`, { inputs: {} }).expect(201);
      await endNext(0);
      await waitUntil(async () => (await owner.get(`/api/runs/${body.run_id}`)).body.status === 'completed');
      return body.run_id;
    }
    async function rehearse(id: string, { body: made }: { body: { id: string } }) {
      await endNext(0);
      const path = `/api/workers/${id}/candidates/${made.id}`;
      const ready = await waitUntil(async () => {
        await api.repairLoop.tick();
        const { body } = await owner.get(path).expect(200);
        return body.status === 'ready' && body;
      });
      return { path, rehearsal: ready.cases[0].rehearsal_run_id };
    }

    test('a test of a draft reaches no other worker either, unless a person wrote its files', async () => {
      const { id } = await createOwn();
      const testDraft = async (send: typeof byAgent, draft: object) => {
        const { body } = await send(`/api/workers/${id}/test`, { draft }).expect(201);
        await endNext(0);
        return getScope(body.run_id);
      };
      expect(await testDraft(owner.post, { limits: { timeout_seconds: 9 } })).toEqual([id]);
      expect(await testDraft(byAgent, write('def run(): return 2'))).toEqual([id]);
      expect(await testDraft(owner.post, write('def run(): return 2'))).toBeUndefined();
    });

    test('nor does a candidate of other settings, and the version that it becomes', async () => {
      const { id } = await createOwn();
      const change = { limits: { timeout_seconds: 9 } };
      const { path, rehearsal } = await rehearse(id, await owner.post(`/api/workers/${id}/candidates`, change));
      expect(await getScope(rehearsal)).toEqual([id]);
      await owner.post(`${path}/promote`).expect(200);
      expect(await getScope(await runOwn(id))).toEqual([id]);
    });

    test('nor does a candidate of an agent, until a person approves its code', async () => {
      const { id } = await createOwn();
      const propose = (text: string) =>
        byAgent(`/api/workers/${id}/candidates`, { ...write(text), last_successful: 1 });
      const one = await rehearse(id, await propose('def run(): return 2'));
      expect(await getScope(one.rehearsal)).toEqual([id]);
      await byAgent(`${one.path}/promote`, {}).expect(200);
      expect(await getScope(await runOwn(id))).toEqual([id]);

      const other = await rehearse(id, await propose('def run(): return 3'));
      expect(await getScope(other.rehearsal)).toEqual([id]);
      await owner.post(`${other.path}/promote`).expect(200);
      expect(await getScope(await runOwn(id))).toBeUndefined();
    });

    test('an edit by an agent does not extend it', async () => {
      const { id } = await createOwn();
      const headers = { Authorization: `Bearer ${api.owner.jwt}`, 'x-svc-agent': 'chat' };
      const path = `/api/workers/${id}/files`;
      await request(api.url).put(path).set(headers).send(write('def run(): return 2')).expect(200);
      expect(await getScope(await runOwn(id))).toEqual([id]);
    });

    test('a candidate with files of a person has all that the worker has', async () => {
      const { id } = await createOwn();
      const change = write('def run(): return 2');
      const { path, rehearsal } = await rehearse(id, await owner.post(`/api/workers/${id}/candidates`, change));
      expect(await getScope(rehearsal)).toBeUndefined();
      await owner.post(`${path}/promote`).expect(200);
      expect(await getScope(await runOwn(id))).toBeUndefined();
    });
  });
});
