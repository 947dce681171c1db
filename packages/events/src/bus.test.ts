import net, { type AddressInfo } from 'node:net';
import { captureLogs, setupNats, setupResource, waitUntil } from '@gantry/testing';
import { connectBus } from './bus';

const nats = setupNats();

/** Accepts connections to NATS, and forwards them only while it is open. */
const proxy = setupResource(
  async () => {
    const sockets = new Set<net.Socket>();
    const state = { accepted: 0, isOpen: false };
    const server = net.createServer((client) => {
      state.accepted++;
      sockets.add(client.on('error', () => {}));
      if (!state.isOpen) return;
      const upstream = net.connect(Number(new URL(nats.url).port), '127.0.0.1');
      sockets.add(upstream.on('error', () => {}));
      client.pipe(upstream).pipe(client);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { state, server, sockets, port: (server.address() as AddressInfo).port };
  },
  async ({ server, sockets }) => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  },
);

/** More attempts than the client's default timeout of 20 s each would fit into the minute of `waitUntil`. */
const ATTEMPTS = 5;

test('an unresponsive address is retried within seconds', async () => {
  const { log } = captureLogs();
  const { creds } = nats.as('worker-api');
  const connecting = connectBus({ url: `nats://127.0.0.1:${proxy.port}`, creds, name: 'test', log });
  await waitUntil(() => proxy.state.accepted >= ATTEMPTS, { what: 'another attempt' });
  proxy.state.isOpen = true;
  const bus = await connecting;
  await bus.nc.flush();
  await bus.nc.close();
});
