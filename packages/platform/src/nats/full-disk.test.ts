/** A real NATS server whose store is on a file system of a few megabytes. */
import path from 'node:path';
import {
  alertRaised,
  type Bus,
  connectBus,
  consumeDurable,
  createServiceCredentials,
  durableName,
  EVENTS_STREAM,
  ensureStreams,
  eventSubject,
  getStreamState,
} from '@gantry/events';
import { catchLogs, freePort, temporaryDir, until } from '@gantry/testing';
import type { LivenessTiming } from '../supervise/liveness';
import { startSupervisor } from '../supervise/supervise';
import { findTool } from '../tools/find-tool';
import { natsProcess, natsUrl } from './nats';
import { writeNatsConfig } from './nats-config';

const { log } = catchLogs();
const STORE_BYTES = 6 << 20;
/** The platform's, ten times as fast. */
const timing: LivenessTiming = {
  everyMs: 500,
  timeoutMs: 400,
  silenceMs: 2_000,
  startMs: 10_000,
  startMsMax: 20_000,
  graceMs: 200,
};

const bwrap = findTool('bwrap');
const withBwrap = bwrap ? test : test.skip;

/** The same process, with the directory of its streams on a file system of its own. */
function withSmallStore(options: Parameters<typeof natsProcess>[0]) {
  const spec = natsProcess(options);
  const mounts = ['--dev-bind', '/', '/', '--size', String(STORE_BYTES), '--tmpfs', path.join(options.dir, 'streams')];
  return { ...spec, command: bwrap as string, args: [...mounts, '--die-with-parent', spec.command, ...spec.args] };
}

/** Publishes and acknowledges until JetStream no longer answers, or has refused often without harm. */
async function fillStore(bus: Bus): Promise<void> {
  const body = Buffer.alloc(60_000, 1);
  const subject = eventSubject(alertRaised, 'worker-api');
  const reading = consumeDurable({
    bus,
    log,
    stream: EVENTS_STREAM,
    durable: durableName('worker-api', alertRaised),
    messagesMax: 20,
    onMessage: (message) => (message.seq % 2 ? message.ack() : message.nak(60_000)),
  });
  const publish = () => bus.js.publish(subject, body, { timeout: 300 }).catch(() => null);
  for (let refused = 0; refused < 300; ) {
    const outcomes = await Promise.all([publish(), publish(), publish(), publish()]);
    refused += outcomes.filter((outcome) => !outcome).length;
    if (outcomes.every((outcome) => !outcome) && !(await hasJetStream(bus))) break;
  }
  await reading.stop();
}

const hasJetStream = (bus: Bus): Promise<boolean> =>
  getStreamState(bus, EVENTS_STREAM).then(
    () => true,
    () => false,
  );

withBwrap(
  'NATS takes messages again after its disk was full, also where JetStream has stopped answering',
  async () => {
    const command = findTool('nats-server') as string;
    const options = { command, dir: temporaryDir('nats'), port: await freePort(), monitoringPort: await freePort() };
    const seeds = writeNatsConfig(options);
    const supervisor = await startSupervisor({ dir: temporaryDir('supervise'), show: () => {}, liveness: timing });
    await supervisor.start(withSmallStore(options));
    const address = { url: natsUrl(options), creds: createServiceCredentials(seeds, 'worker-api') };
    const bus = await connectBus({ ...address, name: 'test', log });
    const streams = await ensureStreams({ bus, log });
    await fillStore(bus);
    await until(() => hasJetStream(bus), { what: 'JetStream answers' });
    streams.stop();
    await bus.nc.close();
    await supervisor.stop();
  },
  90_000,
);
