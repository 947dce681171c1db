import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runSubjects, upsertClosure, type WorkspaceClosure } from '@gantry/events';
import { waitUntil, zeroUsage } from '@gantry/testing';
import express from 'express';
import type { RunEngine } from '../engine';
import { buildTestRun, startTestEngines, type TestEngines } from '../test/engines';
import { buildSleep, startCallingReplica } from '../test/suspensions';

const CLOSED = 'ws_closed';
const closedWorkspace = { workspaceId: CLOSED };
const slot = { key: 'wrk_closed', limit: 5 };

let engines: TestEngines;
beforeAll(async () => {
  engines = await startTestEngines();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const write = (closure: Pick<WorkspaceClosure, 'restored'>) =>
  upsertClosure(engines.pool, { workspaceId: CLOSED, purgeAt: 7e12, ...closure });
const close = () => write({ restored: false });
const restore = () => write({ restored: true });
const getStatus = async (id: string) =>
  (await engines.pool.query('SELECT status FROM runs WHERE id = $1', [id])).rows[0].status;

/** Waits until the replica has checked for due runs twice. */
async function waitForTwoSweeps(engine: RunEngine): Promise<void> {
  for (let n = 0; n < 2; n++) {
    const due = await engine.submitAndWait(buildTestRun());
    await engines.pool.query(
      `UPDATE runs SET status = 'suspended', suspension = '{"kind":"retry","error":null}', wake_at = now() WHERE id = $1`,
      [due.id],
    );
    await waitUntil(async () => (await getStatus(due.id)) === 'queued');
    await engine.cancel('ws_a', due.id);
  }
}

test('queued runs of a closed workspace stay queued, hide no others, and run after a restore', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const queued = await engine.submitAndWait(buildTestRun(closedWorkspace));
  const slotted = await engine.submitAndWait(buildTestRun({ ...closedWorkspace, slot }));
  await close();
  const [free, limited] = [
    await engine.submitAndWait(buildTestRun()),
    await engine.submitAndWait(buildTestRun({ slot: { key: 'wrk_1', limit: 1 } })),
  ];
  const others = [await executor.claimJob(), await executor.claimJob()].map(({ runId }) => runId);
  expect(others.sort()).toEqual([free.id, limited.id].sort());
  // With only runs of closed workspaces queued, a run goes straight to the waiting executor.
  const waiting = executor.claim();
  const next = await engine.submitAndWait(buildTestRun());
  expect((await waiting)?.runId).toBe(next.id);
  expect([await getStatus(queued.id), await getStatus(slotted.id)]).toEqual(['queued', 'queued']);
  await restore();
  const handedOut = [await executor.claimJob(), await executor.claimJob()].map(({ runId }) => runId);
  expect(handedOut.sort()).toEqual([queued.id, slotted.id].sort());
});

test('sleeping and retrying runs are not woken until the workspace is restored', async () => {
  const engine = await startCallingReplica(engines);
  const executor = await engines.executor();
  const retry = { max: 1, backoffMs: 60_000, factor: 1, backoffMsMax: 60_000 };
  const asleep = await engine.submitAndWait(buildTestRun(closedWorkspace));
  await (await executor.claimJob()).suspend(buildSleep(1, 60_000));
  const failing = await engine.submitAndWait(buildTestRun({ ...closedWorkspace, retry }));
  const error = { code: 'exception' as const, message: 'x' };
  await (await executor.claimJob()).report(
    { type: 'started' },
    { type: 'finished', status: 'failed', error, usage: zeroUsage },
  );
  const statuses = async () => [await getStatus(asleep.id), await getStatus(failing.id)];
  await waitUntil(async () => (await statuses()).join() === 'suspended,suspended');
  await close();
  await engines.pool.query('UPDATE runs SET wake_at = now() WHERE workspace_id = $1', [CLOSED]);
  await waitForTwoSweeps(engine);
  expect(await statuses()).toEqual(['suspended', 'suspended']);
  await restore();
  const woken = [await executor.claimJob(), await executor.claimJob()].map(({ runId }) => runId);
  expect(woken.sort()).toEqual([asleep.id, failing.id].sort());
});

test('no run is created in a closed workspace, not even for a waiting executor', async () => {
  const engine = await engines.replica();
  const executor = await engines.executor();
  await close();
  const waiting = executor.claim();
  const refused = { code: 'workspace_deleted', status: 409 };
  await expect(engine.submitAndWait(buildTestRun(closedWorkspace))).rejects.toMatchObject(refused);
  await expect(engine.submitAndWait(buildTestRun(closedWorkspace), 1_000)).rejects.toMatchObject(refused);
  await expect(
    engines.tx((tx) => engine.submitInTransaction(tx, buildTestRun({ ...closedWorkspace, held: true }))),
  ).rejects.toMatchObject(refused);
  const scheduledFor = new Date();
  expect(
    await engines.tx((tx) => engine.submitInTransaction(tx, buildTestRun({ ...closedWorkspace, scheduledFor }))),
  ).toBeNull();
  const own = await engine.submitAndWait(buildTestRun());
  expect((await waiting)?.runId).toBe(own.id);
  expect((await engines.pool.query('SELECT 1 FROM runs WHERE workspace_id = $1', [CLOSED])).rowCount).toBe(0);
});

test('executors are asked to stop active runs, including those claimed a moment too late', async () => {
  const engine = await engines.replica();
  const executor = await engines.executor();
  const { nc } = executor.bus;
  const cancelSubjects: string[] = [];
  nc.subscribe(runSubjects.cancel(executor.id, '*'), { callback: (_err, { subject }) => cancelSubjects.push(subject) });
  await nc.flush();
  const waiting = executor.claim();
  const run = await engine.submitAndWait(buildTestRun(closedWorkspace));
  const job = await waiting;
  await close();
  await waitUntil(() => cancelSubjects.includes(runSubjects.cancel(executor.id, run.id)));
  expect(job && (await executor.renew(job)).cancelled).toEqual([run.id]);
  // As if a claim had read before the deletion and written after it.
  const late = await engine.submitAndWait(buildTestRun());
  await executor.claimJob();
  await engines.pool.query('UPDATE runs SET workspace_id = $2 WHERE id = $1', [late.id, CLOSED]);
  await waitUntil(() => cancelSubjects.includes(runSubjects.cancel(executor.id, late.id)));
  await job?.report({ type: 'started' }, { type: 'finished', status: 'cancelled', usage: zeroUsage });
  await waitUntil(async () => (await getStatus(run.id)) === 'cancelled');
});

describe('streams', () => {
  let server: Server;
  let engine: RunEngine;

  /** Resolves when the stream has started; `ended` when it has ended. */
  function openStream(runId: string): Promise<{ ended: Promise<string> }> {
    return new Promise((resolve) => {
      request({ port: (server.address() as AddressInfo).port, path: `/${runId}` }, (res) => {
        let text = '';
        res.on('data', (chunk) => {
          text += chunk;
        });
        resolve({ ended: new Promise((resolveEnded) => res.once('close', () => resolveEnded(text))) });
      }).end();
    });
  }

  beforeEach(async () => {
    engine = await engines.replica();
    const app = express();
    app.get('/:id', async (req, res) => engine.stream(req, res, await engine.get(CLOSED, req.params.id), 'all'));
    server = app.listen(0);
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  test('an open stream ends without `done`, and so does a later one', async () => {
    const run = await engine.submitAndWait(buildTestRun(closedWorkspace));
    const stream = await openStream(run.id);
    await close();
    expect(await stream.ended).not.toContain('done');
    expect(await (await openStream(run.id)).ended).not.toContain('done');
  });
});
