import { request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Bus, newId } from '@gantry/events';
import { type FakeExecutor, type FakeJob, waitUntil, zeroUsage } from '@gantry/testing';
import express from 'express';
import type { RunEngine } from '../engine';
import type { NewRun, Run } from '../run';
import { listSteps } from '../run-steps';
import { buildTestRun, startTestEngines, type TestEngines } from '../test/engines';

interface Replica {
  engine: RunEngine;
  bus: Bus;
  server: Server;
  port: number;
}

let engines: TestEngines;
let executor: FakeExecutor;
let one: Replica;
let two: Replica;

beforeAll(async () => {
  engines = await startTestEngines();
  [one, two, executor] = await Promise.all([startReplica(), startReplica(), engines.executor()]);
});

afterAll(async () => {
  for (const { server } of [one, two]) {
    server.closeAllConnections();
    server.close();
  }
  await engines.stop();
});

async function startReplica(): Promise<Replica> {
  const bus = await engines.connect('worker-api');
  const engine = await engines.replica({ bus, onSuspended: async () => ({ ref: newId('apr_') }) });
  const app = express();
  app.use('/:id', async (req, res) => {
    const include = req.query.include === 'logs' ? 'logs' : req.query.include === 'no-logs' ? 'no-logs' : 'all';
    await engine.stream(req, res, await engine.get('ws_a', req.params.id), include);
  });
  const server = app.listen(0);
  return { engine, bus, server, port: (server.address() as AddressInfo).port };
}

async function startRun(over: Partial<NewRun> = {}): Promise<{ run: Run; job: FakeJob }> {
  const run = await one.engine.submitAndWait(buildTestRun(over));
  return { run, job: await claimed() };
}

const claimed = () => executor.claimJob();

interface Reader {
  events: { id: number; type: string; text?: string; status?: string; name?: string }[];
  ended: Promise<void>;
  cut: () => void;
}

function openReader(
  replica: Replica,
  runId: string,
  options: { lastEventId?: number | string; query?: string; accept?: string } = {},
): Reader {
  const events: Reader['events'] = [];
  let response: IncomingMessage | undefined;
  const ended = new Promise<void>((resolve) => {
    const req = httpRequest(
      {
        port: replica.port,
        path: `/${runId}?${options.query ?? ''}`,
        headers: {
          Accept: options.accept ?? 'text/event-stream',
          ...(options.lastEventId !== undefined && { 'Last-Event-ID': String(options.lastEventId) }),
        },
      },
      (res) => {
        response = res;
        let rest = '';
        res.setEncoding('utf8');
        res.on('data', (chunk: string) => {
          const frames = (rest + chunk).split('\n\n');
          rest = frames.pop() ?? '';
          for (const frame of frames) {
            const id = /^id: (\d+)$/m.exec(frame)?.[1];
            const data = /^data: (.*)$/m.exec(frame)?.[1];
            if (id && data) events.push({ id: Number(id), ...JSON.parse(data) });
          }
        });
        res.on('close', resolve);
      },
    );
    req.on('error', () => resolve());
    req.end();
  });
  return { events, ended, cut: () => response?.destroy() };
}

const line = (n: number) => ({ type: 'log', stream: 'stdout', level: 'info', text: `line ${n}` }) as const;

test('a reader that reconnects three times to either replica gets each event once and in order', async () => {
  const { run, job } = await startRun();
  await job.report({ type: 'started' });
  const seen: Reader['events'] = [];
  let written = 0;
  for (let leg = 0; leg < 4; leg++) {
    const reader = openReader(leg % 2 ? two : one, run.id, leg ? { lastEventId: seen.at(-1)?.id } : {});
    for (let n = 0; n < 25; n++) {
      await job.report(line(written++));
      // In the middle of the leg, without a pause, so that slow machines pass too.
      if (n === 12 && leg < 3) {
        await waitUntil(() => reader.events.length > 3);
        reader.cut();
        await reader.ended;
      }
    }
    if (leg === 3) {
      await job.report({ type: 'finished', status: 'completed', output: 1, usage: zeroUsage });
      await reader.ended;
    }
    seen.push(...reader.events);
  }
  expect(seen.filter((e) => e.type === 'log').map((e) => e.text)).toEqual(
    Array.from({ length: 100 }, (_, n) => `line ${n}`),
  );
  expect(seen.slice(-2).map((e) => e.type)).toEqual(['output', 'done']);
  const ids = seen.map((e) => e.id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
});

test('logs can be excluded or streamed alone, and an ended run is streamed from the table', async () => {
  const { run, job } = await startRun();
  await job.report({ type: 'started' }, line(1), { type: 'progress', fraction: 0.5, message: 'half' });
  await job.report({
    type: 'finished',
    status: 'failed',
    error: { code: 'exception', message: 'no' },
    usage: zeroUsage,
  });
  await two.engine.waitForEnd(run, 5_000);
  const types = async (query: string) => {
    const reader = openReader(two, run.id, { query });
    await reader.ended;
    return reader.events.map((event) => event.type);
  };
  expect(await types('')).toEqual(['status', 'log', 'progress', 'status', 'done']);
  expect(await types('include=no-logs')).toEqual(['status', 'progress', 'status', 'done']);
  expect(await types('include=logs')).toEqual(['log', 'done']);
});

test.each(['99999999999999999999999', '-3', 'x'])(
  'an invalid Last-Event-ID, such as %s, starts at the beginning',
  async (id) => {
    const { run, job } = await startRun();
    await job.report({ type: 'started' }, { type: 'finished', status: 'completed', output: 1, usage: zeroUsage });
    await two.engine.waitForEnd(run, 5_000);
    const reader = openReader(two, run.id, { lastEventId: id });
    await reader.ended;
    expect(reader.events.at(0)?.type).toBe('status');
    expect(reader.events.at(-1)?.type).toBe('done');
  },
);

test('a client that receives `done` finds the run ended', async () => {
  const { run, job } = await startRun();
  const reader = openReader(two, run.id);
  await job.complete(5);
  await reader.ended;
  expect(reader.events.at(-1)?.type).toBe('done');
  expect(await one.engine.get('ws_a', run.id)).toMatchObject({ status: 'completed', output: 5 });
});

test('a run with a sleep, an approval and a retry is streamed without gaps over three reconnects', async () => {
  const { run, job } = await startRun({ retry: { max: 1, backoffMs: 10, factor: 1, backoffMsMax: 10 } });
  const seen: Reader['events'] = [];
  let reader = openReader(one, run.id);
  /** Disconnects after a matching event, and reconnects to another replica. */
  const reconnect = async (replica: Replica, after: (event: Reader['events'][number]) => boolean) => {
    await waitUntil(() => reader.events.some(after));
    reader.cut();
    await reader.ended;
    seen.push(...reader.events);
    reader = openReader(replica, run.id, { lastEventId: seen.at(-1)?.id });
  };

  const step = { ordinal: 1, kind: 'step', name: 'charge' } as const;
  await job.report({ type: 'started' }, line(1), { type: 'step', ...step, durationMs: 3 });
  await reconnect(two, ({ type }) => type === 'step');
  const sleep = { ordinal: 2, kind: 'sleep', name: 'sleep' } as const;
  const asleep = { kind: 'sleep', step: sleep, wakeAt: Date.now() } as const;
  await job.report(line(2), { type: 'finished', status: 'suspended', suspension: asleep, usage: zeroUsage });

  const second = await claimed();
  const approve = { ordinal: 3, kind: 'approve', name: 'ok' } as const;
  const asked = { title: 'ok?', message: null, data: null, form: null, expiresInSeconds: null };
  await second.report({ type: 'started' }, line(3));
  await reconnect(one, ({ text }) => text === 'line 3');
  const asking = { kind: 'approve', step: approve, ...asked } as const;
  await second.report({ type: 'finished', status: 'suspended', suspension: asking, usage: zeroUsage });
  await waitUntil(() => reader.events.some(({ status }) => status === 'pending_approval'));
  await engines.tx(async (tx) => {
    await one.engine.appendEventInTransaction(tx, run.id, {
      type: 'approval',
      data: { approval_id: 'apr_1', status: 'approved' },
    });
    await one.engine.resumeInTransaction(tx, run.id, { from: 'pending_approval', step: { ordinal: 3, result: 'yes' } });
  });
  await reconnect(two, ({ type }) => type === 'approval');

  const third = await claimed();
  const error = { code: 'exception', message: 'no' } as const;
  await third.report({ type: 'started' }, line(4), { type: 'finished', status: 'failed', error, usage: zeroUsage });
  const fourth = await claimed();
  await fourth.report({ type: 'started' }, line(5));
  await fourth.report({ type: 'finished', status: 'completed', output: 1, usage: zeroUsage });
  await reader.ended;
  seen.push(...reader.events);

  expect(seen.map(({ type, status, text, name }) => text ?? name ?? status ?? type)).toEqual([
    ...['running', 'line 1', 'charge', 'line 2', 'queued', 'Resumed: the sleep is over.', 'sleep'],
    ...['running', 'line 3', 'pending_approval', 'approved', 'Resumed.', 'ok', 'queued'],
    ...['running', 'line 4', 'queued', 'Resumed: retrying after an error.'],
    ...['running', 'line 5', 'output', 'completed'],
  ]);
  const ids = seen.map((e) => e.id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  // A later reader gets the same events.
  const late = openReader(one, run.id, { lastEventId: 0 });
  await late.ended;
  expect(late.events.map(({ id }) => id)).toEqual(ids.filter((id) => id > 0));
});

test('many readers of one run get every event, and cost the replica as much as one', async () => {
  const { run, job } = await startRun();
  await job.report({ type: 'started' });
  const readers = Array.from({ length: 150 }, () => openReader(two, run.id));
  await waitUntil(() => readers.every(({ events }) => events.some(({ id }) => id > 0)));
  const before = two.bus.nc.stats().inMsgs;
  for (let n = 0; n < 40; n++) await job.report(line(n));
  // Others join in the middle, one of them with an invented number.
  readers.push(...Array.from({ length: 20 }, () => openReader(two, run.id)));
  const invalidReader = openReader(two, run.id, { lastEventId: 999_999_999 });
  for (let n = 40; n < 80; n++) await job.report(line(n));
  await job.report({ type: 'finished', status: 'completed', output: 1, usage: zeroUsage });
  await Promise.all([...readers, invalidReader].map(({ ended }) => ended));
  const expected = Array.from({ length: 80 }, (_, n) => `line ${n}`);
  for (const { events } of readers) {
    expect(events.flatMap(({ text }) => text ?? [])).toEqual(expected);
    expect(events.at(-1)?.type).toBe('done');
  }
  // Each of 81 reports is heard by the readers' subscription and by ingestion, which replicas share.
  expect(two.bus.nc.stats().inMsgs - before).toBeLessThan(81 * 4);
  expect(invalidReader.events.filter(({ text }) => text)).toEqual([]);
});

test('context changes are for the service and are not streamed', async () => {
  const { run, job } = await startRun();
  const digest = 'b'.repeat(64);
  const change = { name: 'notes', from: digest, size: 3, sha256: digest };
  const key = `ws_a/runs/${run.id}/1/pack`;
  await job.report(
    { type: 'started' },
    { type: 'context', ...change, key },
    { type: 'context', ...change, key: 'ws_b/contexts/theirs' },
    { type: 'finished', status: 'completed', output: 1, usage: zeroUsage },
  );
  const ended = await one.engine.waitForEnd(run, 5_000);
  const reader = openReader(two, run.id);
  await reader.ended;
  expect(reader.events.map(({ type }) => type)).toEqual(['status', 'output', 'done']);
  expect(await one.engine.contextChanges(ended)).toEqual([{ ...change, key }]);
});

test('both formats have the same fields; a line adds the number of its event', async () => {
  const { run, job } = await startRun();
  const file = { name: 'a.txt', contentType: 'text/plain', size: 1, sha256: 'b'.repeat(64) };
  const artifact = { artifactId: 'art_1', ...file, key: `ws_a/runs/${run.id}/1/a` };
  await job.report({ type: 'started' }, { type: 'artifact', ...artifact });
  await job.report({ type: 'finished', status: 'completed', output: 1, usage: zeroUsage });
  await one.engine.waitForEnd(run, 5_000);
  const getStreamText = async (accept: string) => {
    const answer = await fetch(`http://127.0.0.1:${two.port}/${run.id}`, { headers: { Accept: accept } });
    return (await answer.text()).trim();
  };
  const lines = (await getStreamText('application/x-ndjson')).split('\n').map((text) => JSON.parse(text));
  expect(lines).toMatchObject([
    { id: 1_000_001, type: 'status' },
    { id: 1_000_002, type: 'artifact', artifact_id: 'art_1', name: 'a.txt' },
    { id: 1_000_003, type: 'output', output: 1 },
    { id: 1_000_004, type: 'done' },
  ]);
  const frames = (await getStreamText('text/event-stream')).split('\n\n').map((frame) => {
    const [, id, data = ''] = /^id: (\d+)\nevent: \w+\ndata: (.*)$/.exec(frame) ?? [];
    return { id: Number(id), ...JSON.parse(data) };
  });
  expect(frames).toEqual(lines);
});

test('an unstarted run is reported as queued once, and a status is never repeated', async () => {
  const run = await one.engine.submitAndWait(buildTestRun());
  const reader = openReader(one, run.id);
  await waitUntil(() => reader.events.length > 0);
  reader.cut();
  await reader.ended;
  const resumed = openReader(two, run.id, { lastEventId: 0 });
  const job = await claimed();
  await job.report({ type: 'started' });
  await waitUntil(() => resumed.events.length > 0);
  const later = openReader(two, run.id);
  await job.report({ type: 'finished', status: 'completed', output: 1, usage: zeroUsage });
  await Promise.all([resumed.ended, later.ended]);
  expect(reader.events.map(({ status }) => status)).toEqual(['queued']);
  for (const { events } of [resumed, later]) {
    expect(events.map(({ type, status }) => status ?? type)).toEqual(['running', 'output', 'completed']);
  }
});

test('after `done` there is nothing to resume, HEAD has no body, and JSON is not acceptable', async () => {
  const { run, job } = await startRun();
  await job.report({ type: 'started' }, { type: 'finished', status: 'completed', output: 1, usage: zeroUsage });
  await two.engine.waitForEnd(run, 5_000);
  const answer = (headers: Record<string, string>, method = 'GET') =>
    fetch(`http://127.0.0.1:${two.port}/${run.id}`, { method, headers });
  const after = (id: number) => answer({ 'Last-Event-ID': String(id) });
  expect([(await after(1_000_003)).status, (await after(1_000_004)).status]).toEqual([204, 204]);
  expect(await (await after(1_000_002)).text()).toContain('event: done');
  const head = await answer({}, 'HEAD');
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  expect((await answer({ Accept: 'application/json' })).status).toBe(406);
  expect((await answer({ Accept: 'text/html, */*;q=0.1' })).status).toBe(200);
});

test('a step has the same duration in its event and in the run', async () => {
  const { run, job } = await startRun();
  await job.report({ type: 'started' });
  await job.step(1, 'charge', 5, { startedAt: Date.now() - 90, durationMs: 70 });
  const sleep = { ordinal: 2, kind: 'sleep', name: 'sleep' } as const;
  const asleep = { kind: 'sleep', step: sleep, wakeAt: Date.now() } as const;
  await job.report({ type: 'step', ordinal: 1, kind: 'step', name: 'charge', durationMs: 70 });
  await job.report({ type: 'finished', status: 'suspended', suspension: asleep, usage: zeroUsage });
  const second = await claimed();
  await second.complete(1);
  const reader = openReader(two, run.id);
  await reader.ended;
  const told = reader.events.filter(({ type }) => type === 'step') as unknown as { duration_ms: number }[];
  const steps = await listSteps(engines.pool, run.id);
  const durations = steps.map(({ startedAt, finishedAt }) => Number(finishedAt) - Number(startedAt));
  expect(told.map(({ duration_ms }) => duration_ms)).toEqual(durations);
  expect(durations[0]).toBe(70);
});

test('the stream of a run whose events were deleted reports its end once', async () => {
  const { run, job } = await startRun();
  await job.report({ type: 'started' }, { type: 'log', stream: 'stdout', level: 'info', text: 'long ago' });
  await job.complete({ n: 7 });
  await waitUntil(async () => (await one.engine.get('ws_a', run.id)).status === 'completed');
  // The first report may be written after the end, by another replica.
  const LOGGED = "SELECT FROM run_events WHERE run_id = $1 AND type = 'log'";
  await waitUntil(async () => (await engines.pool.query(LOGGED, [run.id])).rowCount === 1);
  await engines.pool.query('DELETE FROM run_events WHERE run_id = $1', [run.id]);
  const reader = openReader(one, run.id);
  await reader.ended;
  expect(reader.events).toMatchObject([
    { type: 'output', output: { n: 7 } },
    { type: 'done', status: 'completed' },
  ]);
  const again = await fetch(`http://localhost:${one.port}/${run.id}`, {
    headers: { 'Last-Event-ID': String(reader.events.at(-1)?.id) },
  });
  expect(again.status).toBe(204);
});
