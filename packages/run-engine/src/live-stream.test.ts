import { request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Bus, connectBus, ensureStreams } from '@gantry/events';
import {
  createDatabase,
  fakeExecutor,
  noUsage,
  startTestNats,
  type TestDatabase,
  type TestNats,
  until,
} from '@gantry/testing';
import express from 'express';
import { Pool } from 'pg';
import { pino } from 'pino';
import { type RunEngine, startRunEngine } from './engine';
import type { NewRun } from './run';

const log = pino({ level: 'silent' });

let database: TestDatabase;
let nats: TestNats;
let executorBus: Bus;
const replicas: { engine: RunEngine; server: Server; port: number; pool: Pool; bus: Bus }[] = [];

beforeAll(async () => {
  [database, nats] = await Promise.all([createDatabase('automation-api'), startTestNats()]);
  executorBus = await connectBus({ url: nats.url('executor'), name: 'executor', log });
  for (let i = 0; i < 2; i++) replicas.push(await startReplica());
});

afterAll(async () => {
  await executorBus.nc.close();
  for (const { engine, server, pool, bus } of replicas) {
    server.closeAllConnections();
    server.close();
    await engine.drain();
    await engine.stop();
    await bus.nc.close();
    await pool.end();
  }
  await nats.stop();
  await database.drop();
});

async function startReplica() {
  const bus = await connectBus({ url: nats.url('automation-api'), name: 'automation-api', log });
  await ensureStreams(bus);
  const pool = new Pool({ connectionString: database.url, max: 4 });
  const engine = await startRunEngine({
    source: 'automation',
    pool,
    bus,
    objects: { presignGet: async () => 'http://objects' } as unknown as Parameters<typeof startRunEngine>[0]['objects'],
    relay: { kick: () => {}, stop: async () => {} },
    secretsOf: async () => ({}),
    log,
  });
  const app = express();
  app.get('/:id', async (req, res) => {
    const include = req.query.include === 'logs' ? 'logs' : req.query.include === 'no-logs' ? 'no-logs' : 'all';
    await engine.stream(req, res, await engine.get('ws_a', req.params.id), include);
  });
  const server = app.listen(0);
  return { engine, server, pool, bus, port: (server.address() as AddressInfo).port };
}

const newRun: NewRun = {
  workspaceId: 'ws_a',
  subjectId: 'aut_1',
  kind: 'run',
  trigger: 'api',
  version: 1,
  inputs: {},
  createdBy: null,
  spec: {
    code: { digest: 'a'.repeat(64), key: 'k', size: 1 },
    entrypoint: 'main.py',
    dependencies: [],
    outputs: [],
    secrets: [],
    files: [],
    limits: {
      wallMs: 1,
      cpuSeconds: 1,
      memoryBytes: 64 << 20,
      processes: 1,
      tmpBytes: 1 << 20,
      outputBytes: 1,
      logBytes: 1,
      artifactBytes: 1,
    },
    network: 'none',
    isolation: 'zygote',
  },
};

async function startedRun() {
  const engine = replicas[0]?.engine as RunEngine;
  const run = await engine.submit(newRun);
  const job = await until(() => fakeExecutor(executorBus, 'automation').claim());
  return { run, job };
}

interface Reader {
  events: { id: number; type: string; text?: string }[];
  ended: Promise<void>;
  cut: () => void;
}

function read(
  replica: number,
  runId: string,
  options: { lastEventId?: number; query?: string; accept?: string } = {},
): Reader {
  const events: Reader['events'] = [];
  let response: IncomingMessage | undefined;
  const ended = new Promise<void>((resolve) => {
    const req = httpRequest(
      {
        port: replicas[replica]?.port,
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

test('a reader that is cut off three times and comes back on either replica gets each event once and in order', async () => {
  const { run, job } = await startedRun();
  await job.report({ type: 'started' });
  const seen: Reader['events'] = [];
  let written = 0;
  for (let leg = 0; leg < 4; leg++) {
    const reader = read(leg % 2, run.id, leg ? { lastEventId: seen.at(-1)?.id } : {});
    for (let n = 0; n < 25; n++) {
      await job.report(line(written++));
      // Somewhere inside the leg, without a pause that a slow machine could fall behind of.
      if (n === 12 && leg < 3) {
        await until(() => reader.events.length > 3);
        reader.cut();
        await reader.ended;
      }
    }
    if (leg === 3) {
      await job.report({ type: 'finished', status: 'completed', output: 1, usage: noUsage });
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

test('logs can be left out, or read alone, and a run that has ended is told from the table', async () => {
  const { run, job } = await startedRun();
  await job.report({ type: 'started' }, line(1), { type: 'progress', fraction: 0.5, message: 'half' });
  await job.report({ type: 'finished', status: 'failed', error: { code: 'exception', message: 'no' }, usage: noUsage });
  await replicas[1]?.engine.waitForEnd(run, 5_000);
  const types = async (query: string) => {
    const reader = read(1, run.id, { query });
    await reader.ended;
    return reader.events.map((event) => event.type);
  };
  expect(await types('')).toEqual(['status', 'log', 'progress', 'status', 'done']);
  expect(await types('include=no-logs')).toEqual(['status', 'progress', 'status', 'done']);
  expect(await types('include=logs')).toEqual(['log', 'done']);
});

test('whoever sees `done` finds the run ended', async () => {
  const { run, job } = await startedRun();
  const reader = read(1, run.id);
  await job.complete(5);
  await reader.ended;
  expect(reader.events.at(-1)?.type).toBe('done');
  expect(await replicas[0]?.engine.get('ws_a', run.id)).toMatchObject({ status: 'completed', output: 5 });
});
