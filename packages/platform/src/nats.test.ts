import {
  type Bus,
  connectBus,
  INTROSPECT_SUBJECT,
  listen,
  natsPermissions,
  request,
  runSubjects,
} from '@gantry/events';
import { catchLogs, startTestNats, type TestNats, until } from '@gantry/testing';
import { connect, ErrorCode } from 'nats';
import { z } from 'zod';
import type { NatsUser } from './nats';

let nats: TestNats;
const buses: Bus[] = [];

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(async () => {
  for (const bus of buses) await bus.nc.close();
  await nats.stop();
});

async function busOf(user: NatsUser): Promise<Bus> {
  const bus = await connectBus({ url: nats.url(user), name: user, log: catchLogs().log });
  buses.push(bus);
  return bus;
}

/** Resolves with the subject that the server refuses. */
async function refusal(bus: Bus): Promise<string> {
  for await (const status of bus.nc.status()) {
    if (status.permissionContext) return status.permissionContext.subject;
  }
  throw new Error('the connection ended without a refusal');
}

test.each([runSubjects.hint('automation'), INTROSPECT_SUBJECT, 'run.finished.v1', 'executor.claim.automation.x'])(
  'a stolen executor cannot publish %s',
  async (subject) => {
    const executor = await busOf('executor');
    const refused = refusal(executor);
    executor.nc.publish(subject, '{}');
    expect(await refused).toBe(subject);
  },
);

test.each(['>', 'run.finished.v1', INTROSPECT_SUBJECT, runSubjects.claim('automation')])(
  'a stolen executor cannot listen to %s',
  async (subject) => {
    const executor = await busOf('executor');
    const subscription = executor.nc.subscribe(subject);
    const listening = (async () => {
      for await (const _ of subscription);
    })();
    await expect(listening).rejects.toMatchObject({ code: ErrorCode.PermissionsViolation });
  },
);

test('no service can answer for worker-api who somebody is', async () => {
  const automation = await busOf('automation-api');
  const refused = refusal(automation);
  automation.nc.subscribe(INTROSPECT_SUBJECT, { callback: () => {} });
  expect(await refused).toBe(INTROSPECT_SUBJECT);
});

test('nobody enters without a password, or with another user’s', async () => {
  const { host } = new URL(nats.url('executor'));
  const refused = { code: ErrorCode.AuthorizationViolation };
  await expect(connect({ servers: host, reconnect: false })).rejects.toMatchObject(refused);
  const stolen = { user: 'worker-api', pass: new URL(nats.url('executor')).password };
  await expect(connect({ servers: host, reconnect: false, ...stolen })).rejects.toMatchObject(refused);
});

test('what the services do every day is allowed: streams, claims, run events, introspection', async () => {
  const { log } = catchLogs();
  const [worker, automation, executor] = await Promise.all([
    busOf('worker-api'),
    busOf('automation-api'),
    busOf('executor'),
  ]);

  const reply = z.object({ ok: z.boolean() });
  const anything = z.unknown();
  const answer = (bus: Bus, subject: string) =>
    listen(bus, subject, anything, (_, message) => void message.respond(Buffer.from('{"ok":true}')), { log });
  answer(automation, runSubjects.claim('automation'));
  answer(automation, runSubjects.lease('automation'));
  answer(worker, INTROSPECT_SUBJECT);
  await Promise.all([automation.nc.flush(), worker.nc.flush()]);
  expect(await request(executor, runSubjects.claim('automation'), {}, reply, 1_000)).toEqual({ ok: true });
  expect(await request(executor, runSubjects.lease('automation'), {}, reply, 1_000)).toEqual({ ok: true });
  expect(await request(automation, INTROSPECT_SUBJECT, {}, reply, 1_000)).toEqual({ ok: true });

  const heard: string[] = [];
  listen(automation, 'run.events.automation.*', anything, (_, message) => void heard.push(message.subject), { log });
  await automation.nc.flush();
  await executor.js.publish(runSubjects.events('automation', 'run_1'), '{}');
  await until(() => heard.length === 1);
});

test('every user of the table exists in the server', async () => {
  for (const user of Object.keys(natsPermissions) as NatsUser[]) {
    await expect((await busOf(user)).nc.flush()).resolves.toBeUndefined();
  }
});
