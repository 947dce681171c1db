/** A server that can be frozen: it goes on accepting connections and bytes, and answers nothing. */
import net from 'node:net';
import { createDatabase, type Template } from './database';
import { setupResource } from './setup-resource';

export interface FreezableProxy {
  /** Leads to the server of the given one. */
  url: string;
  freeze(): void;
  /** For new connections: what was sent meanwhile is lost. */
  thaw(): void;
  stop(): Promise<void>;
}

export async function startFreezableProxy(url: string): Promise<FreezableProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<net.Socket>();
  let isFrozen = false;
  const pipeUnlessFrozen = (from: net.Socket, to: net.Socket) => {
    sockets.add(from);
    from.on('data', (bytes) => isFrozen || to.write(bytes));
    from.on('error', () => to.destroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname);
    pipeUnlessFrozen(client, upstream);
    pipeUnlessFrozen(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as net.AddressInfo).port);
  return {
    url: through.href,
    freeze: () => {
      isFrozen = true;
    },
    thaw: () => {
      isFrozen = false;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sets up a database behind such a server, which is thawed after each test. */
export function setupFreezableDatabase(template: Template): FreezableProxy {
  const database = setupResource(
    () => createDatabase(template),
    ({ drop }) => drop(),
  );
  const server = setupResource(
    () => startFreezableProxy(database.url),
    ({ stop }) => stop(),
  );
  afterEach(() => server.thaw());
  return server;
}
