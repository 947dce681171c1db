/** Pages hear of changes in their workspace on any replica, and are told when they have to read everything again. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { buildChangesSubject, encode } from '@gantry/events';
import { measureLongestTurn, waitUntil } from '@gantry/testing';
import type { Response } from 'express';
import { pino } from 'pino';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { testWorkerApi } from '../test/test-worker-api';
import type { WorkerApi } from '../worker-api';
import { type ChangeHub, createChangeHub } from './change-hub';

const STREAMS_PER_TOKEN = 18;
const BLOCKED_MS_MAX = 50;

const silent = pino({ level: 'silent' });

interface Heard {
  status: number;
  text: string;
  lastId: string;
  hasEnded: boolean;
  close(): void;
}

let open: Heard[] = [];
let servers: Server[] = [];

const api = testWorkerApi();
afterEach(async () => {
  for (const stream of open) stream.close();
  open = [];
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  servers = [];
});

async function follow(token: string, lastEventId?: string, url = api.url): Promise<Heard> {
  const cut = new AbortController();
  const answer = await fetch(`${url}/api/events`, {
    headers: { Authorization: `Bearer ${token}`, ...(lastEventId && { 'Last-Event-ID': lastEventId }) },
    signal: cut.signal,
  });
  const heard: Heard = { status: answer.status, text: '', lastId: '', hasEnded: false, close: () => cut.abort() };
  open.push(heard);
  const read = async () => {
    for await (const part of answer.body as unknown as AsyncIterable<Uint8Array>) {
      heard.text += Buffer.from(part).toString();
      heard.lastId =
        heard.text
          .match(/^id: .*$/gm)
          ?.at(-1)
          ?.slice(4) ?? '';
    }
  };
  read().then(
    () => {
      heard.hasEnded = true;
    },
    () => {},
  );
  await waitUntil(() => heard.lastId !== '');
  return heard;
}

async function startReplica(): Promise<{ url: string; replica: WorkerApi }> {
  const replica = await api.replica();
  const server = createServer(replica.app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  servers.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, replica };
}

const owner = () => createCaller(api.url, api.owner.jwt);
const waitForText = (heard: Heard, text: string) =>
  waitUntil(() => heard.text.includes(text)).catch((cause) => {
    throw new Error(`${text} is not in: ${heard.text} ${heard.hasEnded ? '(it has ended)' : ''}`, { cause });
  });
const change = (noun: string, id?: string) => JSON.stringify({ noun, ...(id && { id }) });
const setSecret = (name: string) =>
  owner()
    .put(`/api/secrets/${name}`, { value: 'v' })
    .expect((res) => expect(res.status).toBeLessThan(300));

/** Waits until a change arrives as itself: resets that earlier tests have caused cover the changes before them. */
const waitForAnyChange = (heard: Heard) =>
  waitUntil(
    async () => {
      await setSecret('CHANGED_AGAIN');
      return heard.text.includes(change('secrets'));
    },
    { everyMs: 500 },
  );

test('a change is announced without its name, within a second and on every replica', async () => {
  const other = await startReplica();
  const streams = [await follow(api.owner.jwt), await follow(api.owner.jwt, undefined, other.url)];
  await setSecret('TOLD_OF');
  for (const heard of streams) {
    await waitForText(heard, change('secrets'));
    await waitForText(heard, change('audit'));
    expect(heard.text).not.toContain('TOLD_OF');
  }
});

test('a run is announced when it starts and when it ends', async () => {
  const stopServing = await api.serveRuns(() => ({ ok: true }));
  const worker = await createTestWorker(api);
  const heard = await follow(api.owner.jwt);
  const { body } = await owner().post(`/api/workers/${worker.id}/runs`, { inputs: {} });
  await waitForText(heard, change('runs', body.run_id));
  await waitUntil(async () => (await owner().get(`/api/runs/${body.run_id}`)).body.status === 'completed');
  await stopServing();
});

test('other workspaces are told nothing of it', async () => {
  const heard = await follow(api.foreign.owner.jwt);
  const before = heard.text;
  const mine = await follow(api.owner.jwt);
  await setSecret('NOT_FOR_OTHERS');
  await waitForText(mine, change('secrets'));
  expect(heard.text).toBe(before);
});

test('a stream resumes where it was interrupted', async () => {
  const first = await follow(api.owner.jwt);
  first.close();
  // It hears only what is published from now on.
  const probe = await follow(api.owner.jwt);
  await setSecret('WHILE_AWAY');
  await waitForText(probe, change('secrets'));
  const again = await follow(api.owner.jwt, first.lastId);
  await waitForText(again, change('secrets'));
  expect(again.text).not.toContain('event: reset');
});

test('it resumes at another replica too, if that has been running for long enough', async () => {
  let startedBefore = -10 * 60_000;
  const hub = await createChangeHub({ bus: api.bus, log: silent, now: () => Date.now() + startedBefore });
  startedBefore = 0;
  const { lastId } = await follow(api.owner.jwt);
  const probe = await follow(api.owner.jwt);
  await setSecret('HEARD_ELSEWHERE');
  await waitForText(probe, change('secrets'));
  const written: string[] = [];
  const reader = new PassThrough().on('data', (part) => written.push(String(part)));
  hub.watch(api.workspaceId, reader as unknown as Response, lastId);
  await waitUntil(() => written.join('').includes(change('secrets')));
  expect(written.join('')).not.toContain('event: reset');
  hub.close();
});

test('a change is sent although the clock was set back before it', async () => {
  let setBackMs = 0;
  const hub = await createChangeHub({ bus: api.bus, log: silent, now: () => Date.now() - setBackMs });
  const written: string[] = [];
  const reader = new PassThrough().on('data', (part) => written.push(String(part)));
  hub.watch(api.workspaceId, reader as unknown as Response, undefined);
  setBackMs = 60_000;
  api.bus.nc.publish(buildChangesSubject('worker-api'), encode({ changes: [[api.workspaceId, 'skills', null]] }));
  await waitUntil(() => written.join('').includes(change('skills')));
  hub.close();
});

test('a position is understood by the replica that created it, whatever characters its name has', async () => {
  const read = (hub: ChangeHub, lastEventId?: string) => {
    const reader = new PassThrough();
    hub.watch(api.workspaceId, reader as unknown as Response, lastEventId);
    return String(reader.read());
  };
  for (let replica = 0; replica < 40; replica++) {
    const hub = await createChangeHub({ bus: api.bus, log: silent });
    const [, position] = /^id: (.*)$/m.exec(read(hub)) ?? [];
    expect(read(hub, position)).not.toContain('event: reset');
    hub.close();
  }
});

test('a replica that cannot know the missed changes reports that', async () => {
  const { lastId } = await follow(api.owner.jwt);
  const other = await startReplica();
  expect((await follow(api.owner.jwt, lastId, other.url)).text).toContain('event: reset');
  expect((await follow(api.owner.jwt, 'nonsense')).text).toContain('event: reset');
});

test('streams are told to reload everything if hints may have been lost', async () => {
  const heard = await follow(api.owner.jwt);
  await waitForAnyChange(heard);
  const resets = () => heard.text.match(/event: reset/g)?.length ?? 0;
  const before = resets();
  api.bus.nc.publish(buildChangesSubject('worker-api'), encode({ lost: true, changes: [] }));
  await waitUntil(() => resets() > before);
});

test('many simultaneous changes are announced as a few', async () => {
  const heard = await follow(api.owner.jwt);
  await waitForAnyChange(heard);
  const before = heard.text.length;
  const changes = Array.from({ length: 1_000 }, (_, i) => [api.workspaceId, 'automations', `aut_many${i}`]);
  api.bus.nc.publish(buildChangesSubject('worker-api'), encode({ changes }));
  await waitForText(heard, change('automations'));
  expect(heard.text.slice(before).match(/event: change/g)?.length).toBeLessThan(60);
});

test('almost the maximum of streams of an address block no other request', async () => {
  const tokens = await Promise.all(Array.from({ length: 5 }, () => api.createToken('personal', api.owner.jwt)));
  const streams = await Promise.all(
    tokens.flatMap(({ token }) => Array.from({ length: STREAMS_PER_TOKEN }, () => follow(token))),
  );
  let name = 0;
  const changeSecret = async () => {
    const sizes = streams.map(({ text }) => text.length);
    await setSecret(`HEARD_BY_ALL_${++name}`);
    await waitUntil(() => streams.every(({ text }, at) => text.length > (sizes[at] ?? 0)));
  };
  // Warm up: compiling does not count.
  await changeSecret();
  const blockedMs = await measureLongestTurn(changeSecret, BLOCKED_MS_MAX);
  expect(blockedMs ?? 0).toBeLessThanOrEqual(BLOCKED_MS_MAX);
});

test('a stream ends when its reader is removed from the workspace', async () => {
  const person = await api.addMember('viewer');
  const heard = await follow(person.jwt);
  expect(heard.status).toBe(200);
  await owner().remove(`/api/workspaces/${api.workspaceId}/members/${person.userId}`).expect(204);
  await waitUntil(() => heard.hasEnded);
});

test('a replica that stops ends its streams at once', async () => {
  const other = await startReplica();
  const heard = await follow(api.owner.jwt, undefined, other.url);
  await other.replica.drain();
  await waitUntil(() => heard.hasEnded);
});
