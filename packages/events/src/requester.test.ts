import { setupNats, setupResource } from '@gantry/testing';
import type { NatsError } from 'nats';
import { pino } from 'pino';
import { connectBus, encode } from './bus';
import { alertRaised, buildEventSubject } from './catalogue';
import { runSubjects } from './run-protocol';
import { EVENTS_STREAM, ensureStreams, getRunEventsStreamName } from './streams';

const log = pino({ level: 'silent' });
const nats = setupNats();
/** Connects with permissions that no service has. */
const connectSpectator = () => connectBus({ ...nats.spectator, name: 'spectator', log });
const [requester, responder] = [
  setupResource(connectSpectator, (one) => one.nc.close()),
  setupResource(connectSpectator, (one) => one.nc.close()),
];

test('each request gets its own reply, in whatever order replies arrive', async () => {
  const questions: { text: string; respond: (text: string) => void }[] = [];
  responder.nc.subscribe('answered', {
    callback: (_err, message) => {
      questions.push({ text: message.string(), respond: (text) => message.respond(Buffer.from(text)) });
      if (questions.length === 20) for (const { text, respond } of questions.reverse()) respond(text);
    },
  });
  await responder.nc.flush();
  const texts = Array.from({ length: 20 }, (_, n) => `question ${n}`);
  const replies = await Promise.all(texts.map((text) => requester.request('answered', Buffer.from(text), 5_000)));
  expect(replies.map((reply) => reply.string())).toEqual(texts);
});

test('a request distinguishes no responders, a timeout and a closed connection', async () => {
  const { nc, request } = await connectSpectator();
  const requestText = (subject: string, text: string, timeoutMs = 5_000) => request(subject, encode(text), timeoutMs);
  await expect(requestText('unheard', 'anybody?')).rejects.toMatchObject({ code: '503' });
  responder.nc.subscribe('ignored', { callback: () => {} });
  await responder.nc.flush();
  await expect(requestText('ignored', 'anybody?', 50)).rejects.toMatchObject({ code: 'TIMEOUT' });
  const pending = requestText('ignored', 'still?', 60_000);
  await Promise.all([nc.close(), expect(pending).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })]);
  await expect(requestText('ignored', 'too late')).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
});

test('unconfirmed messages fail at once when the connection is lost, and other requests keep waiting', async () => {
  const { nc, request, store } = await connectSpectator();
  responder.nc.subscribe('unconfirmed', { callback: () => {} });
  await responder.nc.flush();
  const unconfirmed = store('unconfirmed', encode(1), 'evt_1', 600_000);
  const pending = request('unconfirmed', encode(2), 600_000);
  await nc.flush();
  await Promise.all([nc.reconnect(), expect(unconfirmed).rejects.toMatchObject({ code: 'DISCONNECT' })]);
  await Promise.all([nc.close(), expect(pending).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })]);
});

test('JetStream stores one id once, and a refusal differs from a missing stream', async () => {
  const streams = await ensureStreams({ bus: requester, log });
  const subject = buildEventSubject(alertRaised, 'worker-api');
  const store = (id: string) => requester.store(subject, encode({ id }), id, 5_000);
  const stored = await store('evt_1');
  expect(stored).toMatchObject({ stream: EVENTS_STREAM });
  expect(stored.duplicate).toBeFalsy();
  expect(await store('evt_1')).toMatchObject({ seq: stored.seq, duplicate: true });

  const stream = getRunEventsStreamName('automation');
  const manager = await requester.nc.jetstreamManager({ checkAPI: false });
  const { config } = await manager.streams.info(stream);
  await manager.streams.update(stream, { ...config, max_bytes: 10_000 });
  const fill = async () => {
    const report = runSubjects.events('automation', 'an-executor', 'run_1');
    for (let n = 0; ; n++) await requester.store(report, Buffer.alloc(900), `fill ${n}`, 5_000);
  };
  await expect(fill()).rejects.toMatchObject({ api_error: { description: 'maximum bytes exceeded' } });
  streams.stop();
  await manager.streams.delete(EVENTS_STREAM);
  const refusal = await store('evt_2').catch((err: NatsError) => ({ code: err.code, refusedBy: err.api_error }));
  expect(refusal).toEqual({ code: '503', refusedBy: undefined });
});
