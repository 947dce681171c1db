/** Streams with a copy on each of three servers. */
import fs from 'node:fs';
import path from 'node:path';
import { findTool, natsProcess, natsUrl, startAndWait } from '@gantry/platform';
import { freePort, given, temporaryDir, until } from '@gantry/testing';
import { pino } from 'pino';
import { type Bus, connectBus, encode } from './bus';
import { alertRaised, eventSubject } from './catalogue';
import { generateNatsSeeds, natsAuthentication, serviceCredentials } from './nats-accounts';
import { consumeDurable, durableOf, EVENTS_STREAM, keepStreams } from './streams';

const log = pino({ level: 'silent' });
const SERVERS = 3;
const CONSUMER = durableOf('worker-api', alertRaised);
const DEADLINE = { deadlineMs: 20_000 };

/** Three servers that are one cluster. */
async function startCluster() {
  const command = findTool('nats-server') ?? 'nats-server';
  const seeds = generateNatsSeeds();
  const places = await Promise.all(
    Array.from({ length: SERVERS }, async (_, number) => ({
      ...{ command, dir: temporaryDir(`nats-${number}`), port: await freePort(), routePort: await freePort() },
    })),
  );
  const routes = places.map(({ routePort }) => `nats://127.0.0.1:${routePort}`);
  for (const [number, { dir, port, routePort }] of places.entries()) {
    const config = {
      ...{ host: '127.0.0.1', port, server_name: `gantry-${number}` },
      jetstream: { store_dir: path.join(dir, 'streams') },
      cluster: { name: 'gantry', host: '127.0.0.1', port: routePort, routes },
      ...natsAuthentication(seeds),
    };
    fs.writeFileSync(path.join(dir, 'nats.conf'), JSON.stringify(config));
  }
  const running = await Promise.all(places.map((place) => startAndWait(natsProcess(place))));
  const urls = places.map((place) => natsUrl(place));
  const connect = (number: number) =>
    connectBus({ url: urls[number] as string, creds: serviceCredentials(seeds, 'worker-api'), name: 'test', log });
  return {
    connect,
    kill: (number: number) => running[number]?.kill(),
    stop: () => Promise.all(running.map((server) => server.stop())),
  };
}

const cluster = given(startCluster, (one) => one.stop(), 30_000);

/** Until it is stored: a first attempt may be stored without an answer. */
const publish = (bus: Bus, id: string) =>
  until(
    () => bus.js.publish(eventSubject(alertRaised, 'worker-api'), encode({ id }), { timeout: 2_000 }).catch(() => null),
    { ...DEADLINE, what: `${id} is stored` },
  );

/** Whether the stream and the consumer that is read have an equal copy on each server. */
async function isCopied(bus: Bus): Promise<boolean> {
  const manager = await bus.nc.jetstreamManager({ checkAPI: false });
  const stream = await manager.streams.info(EVENTS_STREAM);
  const consumer = await manager.consumers.info(EVENTS_STREAM, CONSUMER);
  return [stream, consumer].every(({ cluster: group }) => {
    const others = group?.replicas ?? [];
    return others.length === SERVERS - 1 && others.every(({ current }) => current);
  });
}

test('one copy becomes three in a running installation, and a lost server takes no message along', async () => {
  const buses = await Promise.all([cluster.connect(0), cluster.connect(1)]);
  const [first, second] = buses as [Bus, Bus];
  const single = await keepStreams({ bus: first, log });
  await publish(first, 'in one copy');
  single.stop();
  const streams = await keepStreams({ bus: second, log, replicas: SERVERS });
  await until(() => isCopied(second).catch(() => false), { ...DEADLINE, what: 'three copies' });

  await first.nc.close();
  await cluster.kill(0);
  await publish(second, 'on two servers');
  const heard = new Set<string>();
  const reading = consumeDurable({
    ...{ bus: second, log, stream: EVENTS_STREAM, durable: CONSUMER, messagesMax: 10 },
    onMessage: (message) => {
      heard.add(message.json<{ id: string }>().id);
      message.ack();
    },
  });
  await until(() => heard.size === 2, { ...DEADLINE, what: 'both messages are there' });
  await reading.stop();
  streams.stop();
  await second.nc.close();
}, 60_000);

test('more copies than servers are refused with the name of the setting', async () => {
  const bus = await cluster.connect(1);
  const lines: string[] = [];
  const loud = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const streams = await keepStreams({ bus, log: loud, replicas: 5 });
  await until(() => lines.some((line) => line.includes('NATS_STREAM_REPLICAS')), DEADLINE);
  streams.stop();
  await bus.nc.close();
}, 30_000);
