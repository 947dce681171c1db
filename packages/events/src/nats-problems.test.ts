import { captureLogs, createCa, createTemporaryDir, setupNats, setupResource, startNatsServer } from '@gantry/testing';
import { connectBus } from './bus';
import { checkNats } from './nats-problems';

const ca = setupResource(() => createCa());
const otherCa = setupResource(() => createCa());
const tlsServer = setupResource(
  () => {
    const { cert, key } = ca.issue('DNS:localhost');
    return startNatsServer({
      jetstream: { store_dir: createTemporaryDir('streams') },
      tls: { cert_file: cert, key_file: key },
    });
  },
  ({ server }) => server.stop(),
);
const plainServer = setupResource(
  () => startNatsServer({}),
  ({ server }) => server.stop(),
);
const nats = setupNats();

test('a server with a certificate of our CA is accepted, and TLS required', async () => {
  const url = `tls://localhost:${tlsServer.port}`;
  expect(await checkNats({ url, ca: ca.pem })).toEqual([]);
  const { log } = captureLogs();
  const bus = await connectBus({ url, ca: ca.pem, name: 'test', log });
  await bus.nc.flush();
  await bus.nc.close();
});

test.each([
  [
    'another CA',
    () => ({ url: `tls://localhost:${tlsServer.port}`, ca: otherCa.pem }),
    /^NATS: its certificate is signed by a CA .* set NATS_CA/,
  ],
  [
    'no CA',
    () => ({ url: `nats://localhost:${tlsServer.port}` }),
    /^NATS: its certificate is signed by a CA .* set NATS_CA/,
  ],
  [
    'another name',
    () => ({ url: `tls://127.0.0.1:${tlsServer.port}`, ca: ca.pem }),
    /^NATS: its certificate is for other names: /,
  ],
  [
    'a server without TLS',
    () => ({ url: `tls://localhost:${plainServer.port}` }),
    /^NATS: the server does not offer TLS/,
  ],
  [
    'a server without JetStream',
    () => ({ url: `nats://localhost:${plainServer.port}` }),
    /^NATS runs without JetStream: add a jetstream block/,
  ],
  ['an unknown user', () => ({ url: nats.url }), /^NATS: the server rejects the credentials/],
  ['a port without a server', () => ({ url: 'nats://127.0.0.1:1' }), /^NATS: nothing is listening/],
])('%s is reported in a sentence', async (_what, address, pattern) => {
  expect(await checkNats(address())).toEqual([expect.stringMatching(pattern)]);
});

test('services and executors find nothing wrong with a server as the platform configures it', async () => {
  for (const address of [nats.as('worker-api'), nats.as('skills-api'), nats.newExecutor()]) {
    expect(await checkNats(address)).toEqual([]);
  }
});
