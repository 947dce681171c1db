/** Tests an attacker with one executor's credentials, who knows all but the secrets of another executor's runs. */
import type { AddressInfo } from 'node:net';
import {
  artifactReply,
  cancelRequest,
  createOpener,
  encode,
  generateBoxKeys,
  leaseReply,
  openJob,
  type RunEvent,
  request,
  runSubjects,
  stepReply,
} from '@gantry/events';
import { captureLogs, type FakeExecutor, type FakeJob, waitUntil, zeroUsage } from '@gantry/testing';
import express from 'express';
import type { Msg } from 'nats';
import { z } from 'zod';
import { settleRuns } from './ending/settle-runs';
import type { RunEngine } from './engine';
import type { Run } from './run';
import { createRunTokens } from './run-tokens';
import { buildTestRun, startTestEngines, type TestEngines, tokenKeys } from './test/engines';

let engines: TestEngines;
let engine: RunEngine;
let run: Run;
let victim: FakeExecutor;
let thief: FakeExecutor;
let job: FakeJob;
const logs = captureLogs();

beforeAll(async () => {
  engines = await startTestEngines('worker');
});
beforeEach(async () => {
  engine = await engines.replica({ log: logs.log, givenTo: async () => ({ secrets: { KEY: 'the-secret-value' } }) });
  [victim, thief] = [await engines.executor(), await engines.executor()];
  run = await engine.submitAndWait(buildTestRun({ spec: { ...buildTestRun().spec, secrets: ['KEY'] } }));
  job = await victim.claimJob();
});
afterEach(() => engines.reset());
afterAll(() => engines.stop());

const tokens = createRunTokens('worker', tokenKeys);
const getRunRow = async () =>
  (
    await engines.pool.query(
      'SELECT status, attempt, executor_id, confirmed, lease_expires_at, output FROM runs WHERE id = $1',
      [run.id],
    )
  ).rows[0];
const listEventSeqs = async () =>
  (await engines.pool.query('SELECT seq FROM run_events WHERE run_id = $1', [run.id])).rows;

const at = Date.now();
const started: RunEvent = { seq: 1, at, type: 'started' };
const line: RunEvent = { seq: 2, at, type: 'log', stream: 'stdout', level: 'info', text: 'forged' };
const ending = (status: 'completed' | 'returned'): RunEvent => ({
  seq: 3,
  at,
  type: 'finished',
  status,
  usage: zeroUsage,
  ...(status === 'completed' && { output: 'forged' }),
});

/**
 * Collects tokens that an attacker may have: invented, of its own run, or of this run but issued to another executor.
 */
async function collectStolenTokens(): Promise<string[]> {
  const own = await engine.submitAndWait(buildTestRun());
  const { token } = await thief.claimJob();
  const ownRunToken = tokens.issue({ runId: own.id, attempt: 1, executorId: thief.id });
  return ['', 'x'.repeat(22), token, ownRunToken, job.token];
}

const publish = (token: string, events: RunEvent[]) =>
  thief.bus.js.publish(runSubjects.events('worker', thief.id, run.id), encode({ attempt: 1, token, events }));

test('it cannot end, return, start or log to another executor’s run', async () => {
  const before = await getRunRow();
  const refusals = logs.lines.length;
  const [tokensTried, forged] = [
    await collectStolenTokens(),
    [[started], [line], [ending('completed')], [ending('returned')]],
  ];
  for (const token of tokensTried) for (const events of forged) await publish(token, events);
  const listRefusals = () => logs.lines.slice(refusals).filter(({ msg }) => String(msg).includes('invalid token'));
  await waitUntil(() => listRefusals().length === tokensTried.length * forged.length);
  expect(listRefusals().every(({ level }) => level === 40)).toBe(true);
  expect(await getRunRow()).toEqual(before);
  expect(await listEventSeqs()).toEqual([]);

  await job.complete('of the victim');
  expect(await engine.waitForEnd(run, 5_000)).toMatchObject({ status: 'completed', output: 'of the victim' });
});

test('readers of the live stream see no forged events', async () => {
  const spectator = await engines.connect('spectator');
  const subjects: string[] = [];
  spectator.nc.subscribe(`run.events.worker.*.${run.id}`, {
    callback: (_, { subject }) => void subjects.push(subject),
  });
  await spectator.nc.flush();
  const chunks: string[] = [];
  const app = express().get('/', (req, res) => engine.stream(req, res, run, 'all'));
  const server = app.listen(0);
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { Accept: 'application/x-ndjson' } });
  await publish(job.token, [started, line]);
  await publish('', [started, line]);
  await waitUntil(() => subjects.length === 2);
  await job.complete('of the victim');
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    chunks.push(Buffer.from(chunk).toString());
  }
  server.close();
  expect(chunks.join('')).toContain('of the victim');
  expect(chunks.join('')).not.toContain('forged');
});

test('it cannot record a step, upload an artifact or renew the lease of another', async () => {
  const before = await getRunRow();
  for (const token of await collectStolenTokens()) {
    const held = { runId: run.id, attempt: 1, token };
    const step = { ...held, ordinal: 1, kind: 'step', name: 'charge', result: 1, startedAt: at };
    const refused = { refused: expect.stringContaining('not held') };
    expect(await request(thief.bus, runSubjects.step('worker', thief.id), step, stepReply, 2_000)).toEqual(refused);
    const artifact = { ...held, purpose: 'artifact', name: 'x', contentType: 'text/plain', size: 1 };
    const placed = await request(thief.bus, runSubjects.artifact('worker', thief.id), artifact, artifactReply, 2_000);
    expect(placed).toEqual(refused);
    const renewal = await request(
      thief.bus,
      runSubjects.lease('worker', thief.id),
      { runs: [held] },
      leaseReply,
      2_000,
    );
    expect(renewal).toEqual({ cancelled: [], lost: [run.id] });
  }
  expect(await getRunRow()).toEqual(before);
  expect(await engine.steps(run)).toEqual([]);
});

test('it cannot receive, decrypt or replay replies to another executor', async () => {
  const assertCannotSubscribe = async (subject: string) => {
    const error = await new Promise((resolve) => {
      thief.bus.nc.subscribe(subject, { callback: resolve });
    });
    expect(String(error)).toContain('Permissions Violation');
  };
  await assertCannotSubscribe(`_INBOX.${victim.id}.>`);
  await assertCannotSubscribe('_INBOX.>');
  await assertCannotSubscribe(runSubjects.claim('worker', '*'));
  await assertCannotSubscribe(`run.cancel.${victim.id}.*`);

  // Even messages that cross the server would be of no use to it.
  const spectator = await engines.connect('spectator');
  const messages: Msg[] = [];
  spectator.nc.subscribe('>', { callback: (_, message) => void messages.push(message) });
  await spectator.nc.flush();
  const other = await engine.submitAndWait(buildTestRun({ spec: { ...buildTestRun().spec, secrets: ['KEY'] } }));
  expect((await victim.claimJob()).secrets).toEqual({ KEY: 'the-secret-value' });
  await waitUntil(() => messages.some(({ subject }) => subject.startsWith('_R_.')));
  const claimIds = messages
    .filter(({ subject }) => subject.startsWith('executor.claim.'))
    .map((message) => message.json<{ claimId: string }>().claimId);
  const answers = messages.filter(({ subject, data }) => subject.startsWith('_R_.') && data.length);
  expect(answers.length).toBeGreaterThan(0);
  const open = createOpener(generateBoxKeys().privateKey);
  for (const { data } of messages) {
    const text = Buffer.from(data).toString('latin1');
    expect(text).not.toContain('the-secret-value');
    expect(text).not.toContain('http://objects/code/a');
  }
  for (const { data } of answers)
    for (const claimId of claimIds) {
      expect(() => openJob(open, { executorId: victim.id, claimId }, data)).toThrow();
    }
  expect((await engine.get('ws_a', other.id)).executorId).toBe(victim.id);
});

test('it cannot claim in another executor’s name, nor withdraw its claim', async () => {
  const refused = new Promise<string>((resolve) => {
    void (async () => {
      for await (const { permissionContext } of thief.bus.nc.status()) {
        if (permissionContext) return resolve(permissionContext.subject);
      }
    })();
  });
  thief.bus.nc.publish(runSubjects.withdraw('worker', victim.id), '{}');
  expect(await refused).toBe(runSubjects.withdraw('worker', victim.id));

  const spectator = await engines.connect('spectator');
  const claimId = new Promise<string>((resolve) => {
    spectator.nc.subscribe(runSubjects.claim('worker', victim.id), {
      callback: (_, message) => resolve(message.json<{ claimId: string }>().claimId),
    });
  });
  await spectator.nc.flush();
  const standing = victim.claim();
  // Under its own name, with the other's claim.
  thief.bus.nc.publish(runSubjects.withdraw('worker', thief.id), encode({ claimId: await claimId }));
  await thief.bus.nc.flush();
  const later = await engine.submitAndWait(buildTestRun());
  expect((await standing)?.runId).toBe(later.id);
});

test('it cannot stop another’s run, publish a purge, or answer identity requests', async () => {
  const spectator = await engines.connect('spectator');
  const subjects: string[] = [];
  spectator.nc.subscribe('>', { callback: (_, { subject }) => void subjects.push(subject) });
  const stopped: Msg[] = [];
  victim.bus.nc.subscribe(runSubjects.cancel(victim.id, '*'), { callback: (_, message) => void stopped.push(message) });
  await Promise.all([spectator.nc.flush(), victim.bus.nc.flush()]);
  const forbidden = [
    runSubjects.cancel(victim.id, run.id),
    'events.worker-api.workspace.purged.v1',
    'answer.worker-api.automation-api.x',
    '_INBOX.automation-api.x',
    '_INBOX.worker-api.x',
    `_INBOX.${victim.id}.x`,
  ];
  for (const subject of forbidden) {
    thief.bus.nc.publish(subject, '{}');
    // Make JetStream, or a service, publish it instead.
    thief.bus.nc.publish(runSubjects.events('worker', thief.id, 'run_x'), '{}', { reply: subject });
    thief.bus.nc.publish(runSubjects.claim('worker', thief.id), '{}', { reply: subject });
    thief.bus.nc.publish(runSubjects.lease('worker', thief.id), '{"runs":[]}', { reply: subject });
  }
  await request(thief.bus, runSubjects.lease('worker', thief.id), { runs: [] }, z.unknown(), 2_000);
  await waitUntil(() => subjects.filter((subject) => subject.startsWith('run.lease.')).length > forbidden.length);
  expect(subjects.filter((subject) => forbidden.includes(subject))).toEqual([]);
  // JetStream acknowledges to any reply subject. That is no cancel: it has no token.
  expect(stopped.filter((message) => cancelRequest.safeParse(message.json()).success)).toEqual([]);
});

test('even with a valid token, only the executor that holds the run can end it', async () => {
  const noUsageFields = { costUsd: 0, cpuMs: null, maxRssBytes: null, at: new Date(), seq: 1_000_003 };
  const end = { runId: run.id, attempt: 1, from: 'running', status: 'completed', output: 1, ...noUsageFields } as const;
  const begun = { runId: run.id, attempt: 1, executorId: thief.id };
  expect(await settleRuns(engines.pool, 'worker', [], [{ ...end, executorId: thief.id }], [begun])).toEqual([]);
  expect(await getRunRow()).toMatchObject({ status: 'running', confirmed: false });
  expect(await settleRuns(engines.pool, 'worker', [], [{ ...end, executorId: victim.id }], [])).toHaveLength(1);
});

test('tokens survive key rotation, but not the removal of their key', async () => {
  const to = { runId: 'run_1', attempt: 1, executorId: 'one' };
  const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const before = createRunTokens('worker', { current: 'v1', keys: new Map([['v1', oldKey]]) });
  const between = createRunTokens('worker', {
    current: 'v2',
    keys: new Map([
      ['v1', oldKey],
      ['v2', newKey],
    ]),
  });
  const after = createRunTokens('worker', { current: 'v2', keys: new Map([['v2', newKey]]) });
  const token = before.issue(to);
  expect(between.isValid({ ...to, token })).toBe(true);
  expect(after.isValid({ ...to, token })).toBe(false);
  expect(after.isValid({ ...to, token: between.issue(to) })).toBe(true);
  for (const other of [{ runId: 'run_2' }, { attempt: 2 }, { executorId: 'two' }]) {
    expect(before.isValid({ ...to, ...other, token })).toBe(false);
  }
  const elsewhere = createRunTokens('automation', { current: 'v1', keys: new Map([['v1', oldKey]]) });
  expect(elsewhere.isValid({ ...to, token })).toBe(false);
});
