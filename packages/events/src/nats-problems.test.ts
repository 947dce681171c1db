import { catchLogs, given, givenNats, makeCa, startNatsWith, temporaryDir } from '@gantry/testing';
import { connectBus } from './bus';
import { natsProblems } from './nats-problems';

const ca = given(() => makeCa());
const stranger = given(() => makeCa());
const secured = given(
  () => {
    const { cert, key } = ca.issue('DNS:localhost');
    return startNatsWith({
      jetstream: { store_dir: temporaryDir('streams') },
      tls: { cert_file: cert, key_file: key },
    });
  },
  ({ server }) => server.stop(),
);
const plain = given(
  () => startNatsWith({}),
  ({ server }) => server.stop(),
);
const nats = givenNats();

test('a server with a certificate of our CA is accepted, and TLS required', async () => {
  const url = `tls://localhost:${secured.port}`;
  expect(await natsProblems({ url, ca: ca.pem })).toEqual([]);
  const { log } = catchLogs();
  const bus = await connectBus({ url, ca: ca.pem, name: 'test', log });
  await bus.nc.flush();
  await bus.nc.close();
});

test.each([
  [
    'another CA',
    () => ({ url: `tls://localhost:${secured.port}`, ca: stranger.pem }),
    /^NATS: its certificate is signed by a CA .* set NATS_CA/,
  ],
  [
    'no CA',
    () => ({ url: `nats://localhost:${secured.port}` }),
    /^NATS: its certificate is signed by a CA .* set NATS_CA/,
  ],
  [
    'another name',
    () => ({ url: `tls://127.0.0.1:${secured.port}`, ca: ca.pem }),
    /^NATS: its certificate is for other names: /,
  ],
  ['a server without TLS', () => ({ url: `tls://localhost:${plain.port}` }), /^NATS: it offers no TLS/],
  [
    'a server without JetStream',
    () => ({ url: `nats://localhost:${plain.port}` }),
    /^NATS runs without JetStream: add a jetstream block/,
  ],
  ['an unknown user', () => ({ url: nats.url }), /^NATS: it refuses the credentials/],
  ['a port without a server', () => ({ url: 'nats://127.0.0.1:1' }), /^NATS: nothing listens/],
])('%s is reported in a sentence', async (_what, address, sentence) => {
  expect(await natsProblems(address())).toEqual([expect.stringMatching(sentence)]);
});

test('services and executors find nothing wrong with a server as the platform configures it', async () => {
  for (const address of [nats.as('worker-api'), nats.as('skills-api'), nats.newExecutor()]) {
    expect(await natsProblems(address)).toEqual([]);
  }
});
