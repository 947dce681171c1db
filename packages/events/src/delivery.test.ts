import fs from 'node:fs';
import path from 'node:path';
import { createDatabase, startTestNats, type TestDatabase, type TestNats, temporaryDir, until } from '@gantry/testing';
import { Pool } from 'pg';
import { pino } from 'pino';
import { type Bus, connectBus, encode } from './bus';
import { alertRaised, eventSubject } from './catalogue';
import { type Consumer, consume, consumeBy } from './consumer';
import { enqueue, type Relay, startRelay } from './outbox';
import { durableOf, EVENTS_STREAM, keepStreams } from './streams';

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

async function heard(handle?: () => void): Promise<string[]> {
  const ids: string[] = [];
  consumer = consume({
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
const subject = eventSubject(alertRaised, 'worker-api');

async function announce(alertId: string, end: 'COMMIT' | 'ROLLBACK') {
  const tx = await pool.connect();
  await tx.query('BEGIN');
  await enqueue(tx, alertRaised, 'ws_a', { ...alert, alertId });
  await tx.query(end);
  tx.release();
  relay.kick();
}

test('a rolled-back event is never published', async () => {
  const ids = await heard();
  await announce('rolled back', 'ROLLBACK');
  await announce('committed', 'COMMIT');
  await until(() => ids.length);
  expect(ids).toEqual(['committed']);
});

test('an event whose handler failed is redelivered; a handled one never is', async () => {
  let failures = 1;
  const ids = await heard(() => {
    if (failures-- > 0) throw new Error('not now');
  });
  await announce('one', 'COMMIT');
  await until(() => ids.length);
  // The handler has been called; its transaction commits a moment later.
  const handled = await until(async () => (await pool.query('SELECT event_id FROM inbox')).rows[0]);
  await bus.js.publish(
    subject,
    encode({ id: handled.event_id, workspaceid: 'ws_a', data: { ...alert, alertId: 'one' } }),
  );
  await announce('two', 'COMMIT');
  await until(() => ids.includes('two'));
  expect(ids).toEqual(['one', 'two']);
});

test('an event that violates its schema is dropped and does not block the next', async () => {
  const ids = await heard();
  await bus.js.publish(subject, encode({ id: 'evt_x', workspaceid: 'ws_a', data: { ...alert, alertId: 7 } }));
  await bus.js.publish(subject, Buffer.from('not json'));
  await announce('good', 'COMMIT');
  await until(() => ids.length);
  expect(ids).toEqual(['good']);
});

test('events committed while NATS is down arrive once when it is back', async () => {
  const ids = await heard();
  await nats.kill();
  for (const id of ['a', 'b', 'c']) await announce(id, 'COMMIT');
  await nats.restart();
  await until(() => ids.length >= 3);
  expect(ids.sort()).toEqual(['a', 'b', 'c']);
});

test('events that a restarted server has lost are published again, and received once', async () => {
  const streams = await keepStreams({ bus, log });
  for (const id of ['a', 'b']) await announce(id, 'COMMIT');
  await until(async () => (await pool.query('SELECT FROM published_events')).rowCount === 2);
  expect((await pool.query('SELECT FROM outbox')).rowCount).toBe(0);
  await nats.loseStore();
  const ids = await heard();
  await until(() => ids.length >= 2);
  await announce('c', 'COMMIT');
  await until(() => ids.includes('c'));
  expect(ids).toEqual(['a', 'b', 'c']);

  await nats.loseStore();
  await announce('d', 'COMMIT');
  await until(() => ids.includes('d'));
  expect(ids).toEqual(['a', 'b', 'c', 'd']);
  streams.stop();
});

const storedFile = (end: string): string => {
  const files = fs.readdirSync(nats.storeDir, { recursive: true, encoding: 'utf8' });
  return path.join(nats.storeDir, files.find((name) => name.endsWith(`${EVENTS_STREAM}/${end}`)) as string);
};

/** The server empties the file before it writes it. */
async function killWhileWritingConsumer(): Promise<void> {
  await nats.kill();
  fs.truncateSync(storedFile(`obs/${durableOf('worker-api', alertRaised)}/meta.inf`));
}

test('no event is lost if the server is killed while it writes a consumer', async () => {
  await announce('stored', 'COMMIT');
  await until(async () => (await pool.query('SELECT FROM published_events')).rowCount);
  await killWhileWritingConsumer();
  await announce('waiting', 'COMMIT');
  await nats.restart();
  const streams = await keepStreams({ bus, log });
  const ids = await heard();
  await until(() => ids.length >= 2);
  streams.stop();
  expect(ids.sort()).toEqual(['stored', 'waiting']);
});

test('an event that reaches a server before its consumers exist is published again', async () => {
  await announce('before', 'COMMIT');
  await until(async () => (await pool.query('SELECT FROM published_events')).rowCount);
  const tx = await pool.connect();
  await tx.query('BEGIN');
  await tx.query('LOCK TABLE outbox');
  await enqueue(tx, alertRaised, 'ws_a', { ...alert, alertId: 'in between' });
  const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'outbox'::regclass`;
  await until(async () => (await tx.query(waiting)).rowCount);
  const killed = bus.nc.info?.server_id;
  await killWhileWritingConsumer();
  await nats.restart();
  await until(async () => bus.nc.info?.server_id !== killed && (await bus.nc.rtt()));
  await tx.query('COMMIT');
  tx.release();
  await until(async () => (await pool.query('SELECT FROM published_events')).rowCount === 2);
  const streams = await keepStreams({ bus, log });
  const ids = await heard();
  await until(() => ids.includes('in between'));
  streams.stop();
  expect(ids.sort()).toEqual(['before', 'in between']);
});

test('no event is lost if a killed server kept a consumer's position but not the messages before it', async () => {
  const messages = storedFile('msgs');
  const before = path.join(temporaryDir('messages'), 'before');
  fs.cpSync(messages, before, { recursive: true });
  const streams = await keepStreams({ bus, log });
  const ids = await heard();
  for (const id of ['a', 'b', 'c']) await announce(id, 'COMMIT');
  // After two bytes for the format, the file starts with the acknowledged sequences: of the consumer, of the stream.
  const position = storedFile(`obs/${durableOf('worker-api', alertRaised)}/o.dat`);
  await until(() => fs.readFileSync(position).subarray(2, 4).equals(Buffer.of(3, 3)));
  await nats.kill();
  fs.rmSync(messages, { recursive: true });
  fs.renameSync(before, messages);
  // As if they were older than the retention: nothing is published again under their sequence numbers.
  await pool.query('DELETE FROM published_events');
  await nats.restart();
  await announce('d', 'COMMIT');
  await until(() => ids.includes('d'));
  streams.stop();
  expect(ids).toEqual(['a', 'b', 'c', 'd']);
});

test('every reaction handles an event once, even if one fails at first', async () => {
  const heardBy: Record<string, string[]> = { steady: [], late: [] };
  let failures = 1;
  consumer = consumeBy({
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
  await announce('tok_a', 'COMMIT');
  await until(() => heardBy.late?.length);
  expect(heardBy).toEqual({ steady: ['tok_a'], late: ['tok_a'] });
});

test('a second consumer of an event in one process is refused: each would miss events of the other', async () => {
  await heard();
  const second = () => consume({ bus, pool, service: 'worker-api', event: alertRaised, handle: async () => {}, log });
  expect(second).toThrow('already has a consumer');
});

test('events that wait for the first start's streams are published without a warning', async () => {
  await relay.stop();
  await nats.loseStore();
  await until(() => bus.nc.flush().then(() => true));
  const warn = jest.fn();
  const debug = jest.fn();
  relay = startRelay({
    pool,
    bus,
    service: 'worker-api',
    log: Object.assign(pino({ level: 'silent' }), { warn, debug }),
  });
  await announce('alr_early', 'COMMIT');
  await until(() => debug.mock.calls.length > 0);
  const streams = await keepStreams({ bus, log });
  await until(async () => (await pool.query('SELECT FROM outbox')).rows.length === 0);
  streams.stop();
  expect(warn).not.toHaveBeenCalled();
});
