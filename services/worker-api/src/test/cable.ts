import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface Cable {
  /** The same address by way of the cable. */
  url: string;
  /** From now on no connection gets through, and open ones are cut off. */
  cut(): void;
  mend(): void;
  close(): void;
}

/** A TCP connection to a server that a test can cut. */
export async function layCable(target: string): Promise<Cable> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let whole = true;
  const server: Server = createServer((near) => {
    if (!whole) return void near.destroy();
    const far = connect(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy()).on('close', () => sockets.delete(one));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const cutOff = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: url.toString(),
    cut: () => {
      whole = false;
      cutOff();
    },
    mend: () => {
      whole = true;
    },
    close: () => {
      cutOff();
      server.close();
    },
  };
}
