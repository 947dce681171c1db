/** A real NATS server whose store is on a file system of a few megabytes. */
import fs from 'node:fs';
import path from 'node:path';
import {
  alertRaised,
  type Bus,
  buildDurableName,
  buildEventSubject,
  connectBus,
  consumeDurable,
  createServiceCredentials,
  EVENTS_STREAM,
  ensureStreams,
  getStreamState,
} from '@gantry/events';
import {
  captureLogs,
  createSmallDisk,
  createTemporaryDir,
  reserveFreePort,
  type SmallDisk,
  waitUntil,
} from '@gantry/testing';
import type { LivenessTiming } from '../supervise/liveness';
import { startSupervisor } from '../supervise/supervise';
import { findTool } from '../tools/find-tool';
import { buildNatsSpec, buildNatsUrl } from './nats';
import { writeNatsConfig } from './nats-config';

const { log } = captureLogs();
const STORE_BYTES = 24 << 20;
/** The platform's, ten times as fast. */
const timing: LivenessTiming = {
  everyMs: 500,
  timeoutMs: 400,
  silenceMs: 2_000,
  startMs: 10_000,
  startMsMax: 20_000,
  graceMs: 200,
};

const withBwrap = findTool('bwrap') ? test : test.skip;

let disk: SmallDisk | undefined;
afterAll(() => disk?.remove());

const subject = buildEventSubject(alertRaised, 'worker-api');
const publish = (bus: Bus, body: Buffer) => bus.js.publish(subject, body, { timeout: 300 });
const LARGE = Buffer.alloc(60_000, 1);
const AFTERWARDS = Buffer.from('published afterwards');

/** Publishes until JetStream no longer answers, or has refused often without harm. */
async function publishUntilRefused(bus: Bus): Promise<void> {
  const isAccepted = () =>
    publish(bus, LARGE).then(
      () => true,
      () => false,
    );
  for (let refused = 0; refused < 100; ) {
    const outcomes = await Promise.all([isAccepted(), isAccepted(), isAccepted(), isAccepted()]);
    refused += outcomes.filter((accepted) => !accepted).length;
    if (!outcomes.some(Boolean) && !(await hasJetStream(bus))) break;
  }
}

const hasJetStream = (bus: Bus): Promise<boolean> =>
  getStreamState(bus, EVENTS_STREAM).then(
    () => true,
    () => false,
  );

withBwrap(
  'NATS accepts and delivers messages again after its disk was full, also where JetStream has stopped answering',
  async () => {
    const command = findTool('nats-server') as string;
    const options = {
      command,
      dir: createTemporaryDir('nats'),
      port: await reserveFreePort(),
      monitoringPort: await reserveFreePort(),
    };
    const seeds = writeNatsConfig(options);
    disk = await createSmallDisk(STORE_BYTES);
    // A server that replaces another one finds the store that the full disk has left.
    fs.symlinkSync(disk.dir, path.join(options.dir, 'streams'));
    const supervisor = await startSupervisor({
      dir: createTemporaryDir('supervise'),
      show: () => {},
      liveness: timing,
    });
    await supervisor.start(buildNatsSpec(options));
    const address = { url: buildNatsUrl(options), creds: createServiceCredentials(seeds, 'worker-api') };
    const bus = await connectBus({ ...address, name: 'test', log });
    const streams = await ensureStreams({ bus, log });
    let delivered = false;
    const reading = consumeDurable({
      bus,
      log,
      stream: EVENTS_STREAM,
      durable: buildDurableName('worker-api', alertRaised),
      messagesMax: 20,
      onMessage: (message) => {
        delivered ||= AFTERWARDS.equals(message.data);
        // Some stay, so that the store is not emptied.
        return message.seq % 2 ? message.ack() : message.nak(60_000);
      },
    });
    for (let i = 0; i < 20; i++) await publish(bus, LARGE);

    const free = disk.fill();
    await publishUntilRefused(bus);
    free();
    await waitUntil(() => publish(bus, AFTERWARDS), { what: 'a message is accepted' });
    await waitUntil(() => delivered, { what: 'it is delivered' });

    await reading.stop();
    streams.stop();
    await bus.nc.close();
    await supervisor.stop();
  },
);
