import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  createDatabase,
  createTemporaryDir,
  startTestNats,
  type TestDatabase,
  type TestNats,
  waitUntil,
} from '@gantry/testing';
import type { PubAck } from 'nats';
import { Pool } from 'pg';
import { pino } from 'pino';
import { type Bus, connectBus, encode } from './bus';
import { alertRaised, buildEventSubject } from './catalogue';
import { type Consumer, consumeEvent, consumeWithSingleHandler } from './consumer';
import { enqueue, type Relay, startRelay } from './outbox';
import { buildDurableName, EVENTS_STREAM, ensureStreams } from './streams';

const log = pino({ level: 'silent' });
let database: TestDatabase;
let nats: TestNats;
let pool: Pool;
let bus: Bus;
let relay: Relay;
let consumer: Consumer | undefined;

beforeEach(async () => {
  [database, nats] = await Promise.all([createDatabase('automation-api'), startTestNats()]);
  pool = new Pool({ connectionString: database.url });
  bus = await connectBus({ ...nats.as('worker-api'), name: 'test', log });
  relay = startRelay({ pool, bus, service: 'worker-api', log });
});

afterEach(async () => {
  await consumer?.stop();
  consumer = undefined;
  await relay.stop();
  await bus.nc.close();
  await pool.end();
  await nats.stop();
  await database.drop();
});

async function startConsumer(handle?: () => void): Promise<string[]> {
  const ids: string[] = [];
  consumer = consumeWithSingleHandler({
    bus,
    pool,
    service: 'worker-api',
    event: alertRaised,
    handle: async (_tx, { data }) => {
      handle?.();
      ids.push(data.alertId);
    },
    log,
  });
  return ids;
}

const alert = { type: 'run.failed', runId: null, subjectId: null };
const subject = buildEventSubject(alertRaised, 'worker-api');

async function enqueueAlert(alertId: string, end: 'COMMIT' | 'ROLLBACK') {
  const tx = await pool.connect();
  await tx.query('BEGIN');
  await enqueue(tx, alertRaised, 'ws_a', { ...alert, alertId });
  await tx.query(end);
  tx.release();
  relay.kick();
}

test('a rolled-back event is never published', async () => {
  const ids = await startConsumer();
  await enqueueAlert('rolled back', 'ROLLBACK');
  await enqueueAlert('committed', 'COMMIT');
  await waitUntil(() => ids.length);
  expect(ids).toEqual(['committed']);
});

test('an event whose handler failed is redelivered; a handled one never is', async () => {
  let failures = 1;
  const ids = await startConsumer(() => {
    if (failures-- > 0) throw new Error('not now');
  });
  await enqueueAlert('one', 'COMMIT');
  await waitUntil(() => ids.length);
  // The handler has been called; its transaction commits a moment later.
  const handled = await waitUntil(async () => (await pool.query('SELECT event_id FROM inbox')).rows[0]);
  await bus.js.publish(
    subject,
    encode({ id: handled.event_id, workspaceid: 'ws_a', data: { ...alert, alertId: 'one' } }),
  );
  await enqueueAlert('two', 'COMMIT');
  await waitUntil(() => ids.includes('two'));
  expect(ids).toEqual(['one', 'two']);
});

test('an event that violates its schema is dropped and does not block the next', async () => {
  const ids = await startConsumer();
  await bus.js.publish(subject, encode({ id: 'evt_x', workspaceid: 'ws_a', data: { ...alert, alertId: 7 } }));
  await bus.js.publish(subject, Buffer.from('not json'));
  await enqueueAlert('good', 'COMMIT');
  await waitUntil(() => ids.length);
  expect(ids).toEqual(['good']);
});

test('events committed while NATS is down arrive once when it is back', async () => {
  const ids = await startConsumer();
  await nats.kill();
  for (const id of ['a', 'b', 'c']) await enqueueAlert(id, 'COMMIT');
  await nats.restart();
  await waitUntil(() => ids.length >= 3);
  expect(ids.sort()).toEqual(['a', 'b', 'c']);
});

test('events that a restarted server has lost are published again, and received once', async () => {
  const streams = await ensureStreams({ bus, log });
  for (const id of ['a', 'b']) await enqueueAlert(id, 'COMMIT');
  await waitUntil(async () => (await pool.query('SELECT FROM published_events')).rowCount === 2);
  expect((await pool.query('SELECT FROM outbox')).rowCount).toBe(0);
  await nats.loseStore();
  const ids = await startConsumer();
  await waitUntil(() => ids.length >= 2);
  await enqueueAlert('c', 'COMMIT');
  await waitUntil(() => ids.includes('c'));
  expect(ids).toEqual(['a', 'b', 'c']);

  await nats.loseStore();
  await enqueueAlert('d', 'COMMIT');
  await waitUntil(() => ids.includes('d'));
  expect(ids).toEqual(['a', 'b', 'c', 'd']);
  streams.stop();
});

const findStoreFile = (end: string): string => {
  const files = fs.readdirSync(nats.storeDir, { recursive: true, encoding: 'utf8' });
  return path.join(nats.storeDir, files.find((name) => name.endsWith(`${EVENTS_STREAM}/${end}`)) as string);
};

/** The server empties the file before it writes it. */
async function killWhileWritingConsumer(): Promise<void> {
  await nats.kill();
  fs.truncateSync(findStoreFile(`obs/${buildDurableName('worker-api', alertRaised)}/meta.inf`));
}

/** Publishes through this function from now on. */
async function replaceStore(store: Bus['store'], database = pool): Promise<void> {
  await relay.stop();
  const changed: Bus = Object.assign(Object.create(bus), { store });
  relay = startRelay({ pool: database, bus: changed, service: 'worker-api', log });
}

test('a backlog of thousands, as after a restart of NATS, is published in batches', async () => {
  let unstored = 0;
  let most = 0;
  // As in production, the statement keeps a plan that was made when the outbox had a single event.
  const options = '-c plan_cache_mode=force_generic_plan';
  const planned = new Pool({ connectionString: database.url, max: 1, options });
  await relay.stop();
  await enqueueAlert('one', 'COMMIT');
  await pool.query('VACUUM ANALYZE outbox');
  await replaceStore(async (...message) => {
    most = Math.max(most, ++unstored);
    const stored = await bus.store(...message);
    unstored--;
    return stored;
  }, planned);
  await waitUntil(async () => (await pool.query('SELECT FROM published_events')).rowCount === 1);
  await pool.query(`INSERT INTO outbox (id, type, workspace_id, data)
    SELECT 'evt_' || n, 'alert.raised.v1', 'ws_a', '{}' FROM generate_series(1, 3000) n`);
  await waitUntil(async () => (await pool.query('SELECT FROM published_events')).rowCount === 3001);
  expect(most).toBe(200);
  await relay.stop();
  await planned.end();
});

test('a relay holds one connection while NATS takes long, however many events are committed meanwhile', async () => {
  let finish = () => {};
  const stored = new Promise<PubAck>((resolve) => {
    finish = () => resolve({ stream: EVENTS_STREAM, domain: '', seq: 1, duplicate: false });
  });
  let publications = 0;
  await replaceStore(() => {
    publications++;
    return stored;
  });
  await enqueueAlert('first', 'COMMIT');
  await waitUntil(() => publications === 1);
  for (let n = 0; n < 5; n++) {
    await enqueueAlert(`${n} meanwhile`, 'COMMIT');
    await setTimeout(150);
  }
  const isOneBusy = () => pool.totalCount - pool.idleCount === 1;
  // Polling for work needs one too, for a moment.
  await waitUntil(isOneBusy).finally(finish);
  await waitUntil(() => publications === 6);
});

test('no event is lost if the server is killed while it writes a consumer', async () => {
  await enqueueAlert('stored', 'COMMIT');
  await waitUntil(async () => (await pool.query('SELECT FROM published_events')).rowCount);
  await killWhileWritingConsumer();
  await enqueueAlert('waiting', 'COMMIT');
  await nats.restart();
  const streams = await ensureStreams({ bus, log });
  const ids = await startConsumer();
  await waitUntil(() => ids.length >= 2);
  streams.stop();
  expect(ids.sort()).toEqual(['stored', 'waiting']);
});

test('an event that reaches a server before its consumers exist is published again', async () => {
  await enqueueAlert('before', 'COMMIT');
  await waitUntil(async () => (await pool.query('SELECT FROM published_events')).rowCount);
  const tx = await pool.connect();
  await tx.query('BEGIN');
  await tx.query('LOCK TABLE outbox');
  await enqueue(tx, alertRaised, 'ws_a', { ...alert, alertId: 'in between' });
  // A round that has found the server unchanged, and waits to take the event.
  relay.kick();
  const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'outbox'::regclass AND mode = 'RowExclusiveLock'`;
  await waitUntil(async () => (await tx.query(waiting)).rowCount);
  const killed = bus.nc.info?.server_id;
  await killWhileWritingConsumer();
  await nats.restart();
  await waitUntil(async () => bus.nc.info?.server_id !== killed && (await bus.nc.rtt()));
  await tx.query('COMMIT');
  tx.release();
  await waitUntil(async () => (await pool.query('SELECT FROM published_events')).rowCount === 2);
  const streams = await ensureStreams({ bus, log });
  const ids = await startConsumer();
  await waitUntil(() => ids.includes('in between'));
  streams.stop();
  expect(ids.sort()).toEqual(['before', 'in between']);
});

test('no event is lost if a killed server kept the position of a consumer but not the messages before it', async () => {
  const messages = findStoreFile('msgs');
  const before = path.join(createTemporaryDir('messages'), 'before');
  fs.cpSync(messages, before, { recursive: true });
  const streams = await ensureStreams({ bus, log });
  const ids = await startConsumer();
  for (const id of ['a', 'b', 'c']) await enqueueAlert(id, 'COMMIT');
  // After two bytes for the format, the file starts with the acknowledged sequences: of the consumer, of the stream.
  const position = findStoreFile(`obs/${buildDurableName('worker-api', alertRaised)}/o.dat`);
  await waitUntil(() => fs.readFileSync(position).subarray(2, 4).equals(Buffer.of(3, 3)));
  await nats.kill();
  fs.rmSync(messages, { recursive: true });
  fs.renameSync(before, messages);
  // As if they were older than the retention: nothing is published again under their sequence numbers.
  await pool.query('DELETE FROM published_events');
  await nats.restart();
  await enqueueAlert('d', 'COMMIT');
  await waitUntil(() => ids.includes('d'));
  streams.stop();
  expect(ids).toEqual(['a', 'b', 'c', 'd']);
});

test('every reaction handles an event once, even if one fails at first', async () => {
  const heardBy: Record<string, string[]> = { steady: [], late: [] };
  let failures = 1;
  consumer = consumeEvent({
    bus,
    pool,
    service: 'worker-api',
    event: alertRaised,
    reactions: [
      { name: 'steady', handle: async (_tx, { data }) => void heardBy.steady?.push(data.alertId) },
      {
        name: 'late',
        handle: async (_tx, { data }) => {
          if (failures-- > 0) throw new Error('not now');
          heardBy.late?.push(data.alertId);
        },
      },
      { name: 'indifferent', wants: () => false, handle: () => Promise.reject(new Error('was not wanted')) },
    ],
    log,
  });
  await enqueueAlert('tok_a', 'COMMIT');
  await waitUntil(() => heardBy.late?.length);
  expect(heardBy).toEqual({ steady: ['tok_a'], late: ['tok_a'] });
});

test('a second consumer of an event in one process is refused: each would miss events of the other', async () => {
  await startConsumer();
  const second = () =>
    consumeWithSingleHandler({ bus, pool, service: 'worker-api', event: alertRaised, handle: async () => {}, log });
  expect(second).toThrow('already has a consumer');
});

/** Starts a relay while no event can be published, and then prepares the streams, as worker-api does. */
async function expectNoWarning(): Promise<void> {
  const warn = jest.fn();
  const debug = jest.fn();
  const silent = Object.assign(pino({ level: 'silent' }), { warn, debug });
  relay = startRelay({ pool, bus, service: 'worker-api', log: silent });
  await enqueueAlert('alr_early', 'COMMIT');
  await waitUntil(() => debug.mock.calls.length > 0);
  const streams = await ensureStreams({ bus, log });
  await waitUntil(async () => (await pool.query('SELECT FROM outbox')).rows.length === 0);
  streams.stop();
  expect(warn).not.toHaveBeenCalled();
}

test('events that wait for the streams of the first start are published without a warning', async () => {
  await relay.stop();
  await nats.loseStore();
  await waitUntil(() => bus.nc.flush().then(() => true));
  await expectNoWarning();
});

test('events that wait for a stream to open, whose consumers exist, are published without a warning', async () => {
  await relay.stop();
  const manager = await bus.nc.jetstreamManager({ checkAPI: false });
  await manager.streams.update(EVENTS_STREAM, { max_msg_size: 1 });
  await expectNoWarning();
});
