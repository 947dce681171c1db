/** Permissions are tested in packages/testing/src/security/nats-matrix.test.ts. */
import fs from 'node:fs';
import path from 'node:path';
import {
  type Bus,
  connectBus,
  createExecutorCredentials,
  INTROSPECT_SUBJECT,
  listen,
  type NatsConnectionSettings,
  request,
  runSubjects,
} from '@gantry/events';
import {
  captureLogs,
  createTemporaryDir,
  reserveFreePort,
  startTestNats,
  type TestNats,
  waitUntil,
} from '@gantry/testing';
import { connect, credsAuthenticator, ErrorCode } from 'nats';
import { z } from 'zod';
import { startAndWait } from '../supervise/process';
import { findTool } from '../tools/find-tool';
import { buildNatsSpec, buildNatsUrl, getCredsFile, getExecutorKeyFile, getSeedsFile } from './nats';
import { writeNatsAccounts, writeNatsConfig } from './nats-config';

let nats: TestNats;
const buses: Bus[] = [];
const { log } = captureLogs();

beforeAll(async () => {
  nats = await startTestNats();
});
afterAll(async () => {
  for (const bus of buses) await bus.nc.close();
  await nats.stop();
});

async function connectTestBus(address: NatsConnectionSettings): Promise<Bus> {
  const bus = await connectBus({ ...address, name: 'test', log });
  buses.push(bus);
  return bus;
}

const enter = async (creds: string) => {
  const authenticator = credsAuthenticator(Buffer.from(creds));
  const nc = await connect({ servers: new URL(nats.url).host, reconnect: false, authenticator });
  await nc.close();
};
const refused = { code: ErrorCode.AuthorizationViolation };

test('connections without credentials, or with those of another server, are refused', async () => {
  await expect(connect({ servers: new URL(nats.url).host, reconnect: false })).rejects.toMatchObject(refused);
  const other = createTemporaryDir('nats');
  writeNatsAccounts(other);
  await expect(enter(fs.readFileSync(getCredsFile(other, 'worker-api'), 'utf8'))).rejects.toMatchObject(refused);
  const key = JSON.parse(fs.readFileSync(getExecutorKeyFile(other), 'utf8'));
  await expect(enter(createExecutorCredentials(key))).rejects.toMatchObject(refused);
});

test('everyday operations of the services are allowed: streams, claims, run events, introspection', async () => {
  const [worker, automation, executor] = await Promise.all([
    connectTestBus(nats.as('worker-api')),
    connectTestBus(nats.as('automation-api')),
    connectTestBus(nats.newExecutor()),
  ]);
  const id = executor.user;

  const reply = z.object({ ok: z.boolean() });
  const anything = z.unknown();
  const answer = (bus: Bus, subject: string, queue?: string) =>
    listen(bus, subject, anything, (_, message) => void message.respond(Buffer.from('{"ok":true}')), {
      log,
      ...(queue && { queue }),
    });
  answer(automation, runSubjects.claim('automation', '*'));
  answer(automation, runSubjects.lease('automation', '*'));
  answer(worker, INTROSPECT_SUBJECT);
  answer(executor, runSubjects.inspect, 'executors');
  await Promise.all([automation.nc.flush(), worker.nc.flush(), executor.nc.flush()]);
  expect(await request(executor, runSubjects.claim('automation', id), {}, reply, 1_000)).toEqual({ ok: true });
  expect(await request(executor, runSubjects.lease('automation', id), {}, reply, 1_000)).toEqual({ ok: true });
  expect(await request(automation, INTROSPECT_SUBJECT, {}, reply, 1_000, 'worker-api')).toEqual({ ok: true });
  expect(await request(worker, runSubjects.inspect, {}, reply, 1_000)).toEqual({ ok: true });

  const heard: string[] = [];
  listen(executor, runSubjects.prepare, anything, (_, message) => void heard.push(message.subject), { log });
  await executor.nc.flush();
  worker.nc.publish(runSubjects.prepare, '{}');
  automation.nc.publish(runSubjects.prepare, '{}');
  await waitUntil(() => heard.length === 2);
  heard.length = 0;
  listen(automation, 'run.events.automation.*.run_1', anything, (_, message) => void heard.push(message.subject), {
    log,
  });
  await automation.nc.flush();
  await executor.js.publish(runSubjects.events('automation', id, 'run_1'), '{}');
  await waitUntil(() => heard.length === 1);
});

test('accounts, users and their credentials stay the same when the configuration is written again', async () => {
  const command = findTool('nats-server') ?? '';
  const options = {
    command,
    dir: createTemporaryDir('nats'),
    port: await reserveFreePort(),
    monitoringPort: await reserveFreePort(),
  };
  writeNatsConfig(options);
  const before = fs.readFileSync(getSeedsFile(options.dir), 'utf8');
  const creds = fs.readFileSync(getCredsFile(options.dir, 'skills-api'), 'utf8');
  const executor = createExecutorCredentials(JSON.parse(fs.readFileSync(getExecutorKeyFile(options.dir), 'utf8')));
  writeNatsConfig(options);
  expect(fs.readFileSync(getSeedsFile(options.dir), 'utf8')).toBe(before);
  for (const name of fs.readdirSync(options.dir)) {
    expect(fs.statSync(path.join(options.dir, name)).mode & 0o077).toBe(0);
  }
  const server = await startAndWait(buildNatsSpec(options));
  for (const each of [creds, executor]) {
    const bus = await connectBus({ url: buildNatsUrl(options), creds: each, name: 'test', log });
    await bus.nc.flush();
    await bus.nc.close();
  }
  await server.stop();
});

test('an operator’s own server can include the accounts, and refuses revoked executors', async () => {
  const command = findTool('nats-server') ?? '';
  const options = {
    command,
    dir: createTemporaryDir('nats'),
    port: await reserveFreePort(),
    monitoringPort: await reserveFreePort(),
  };
  writeNatsAccounts(options.dir);
  const key = JSON.parse(fs.readFileSync(getExecutorKeyFile(options.dir), 'utf8'));
  const [stolen, other] = [createExecutorCredentials(key), createExecutorCredentials(key)];
  const id = /[\w-]+\.([\w-]+)\./.exec(stolen)?.[1] ?? '';
  writeNatsAccounts(options.dir, [JSON.parse(Buffer.from(id, 'base64url').toString()).sub]);
  fs.writeFileSync(
    path.join(options.dir, 'nats.conf'),
    `listen: 127.0.0.1:${options.port}\nhttp: 127.0.0.1:${options.monitoringPort}\njetstream { store_dir: ${JSON.stringify(path.join(options.dir, 'streams'))} }\ninclude ./accounts.conf\n`,
  );
  const server = await startAndWait(buildNatsSpec(options));
  const servers = new URL(buildNatsUrl(options)).host;
  const opens = (creds: string) =>
    connect({ servers, reconnect: false, authenticator: credsAuthenticator(Buffer.from(creds)) });
  await expect(opens(stolen)).rejects.toMatchObject(refused);
  await (await opens(other)).close();
  const worker = await opens(fs.readFileSync(getCredsFile(options.dir, 'worker-api'), 'utf8'));
  await worker.flush();
  await worker.close();
  await server.stop();
});
