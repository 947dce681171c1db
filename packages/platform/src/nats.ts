/** A NATS server of our own, where each service may touch only the subjects that it needs. */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { natsPermissions } from '@gantry/events';
import type { ProcessSpec } from './process';

export type NatsUser = keyof typeof natsPermissions;

export const natsUsers = Object.keys(natsPermissions) as NatsUser[];

export interface NatsOptions {
  /** The nats-server executable. */
  command: string;
  /** Holds the configuration and the streams. */
  dir: string;
  port: number;
  passwords: Record<NatsUser, string>;
}

/** Bounds what one publisher can make a slow reader hold; the protocols keep to half of it. */
const PAYLOAD_BYTES_MAX = 512 * 1024;

export function natsUrl(options: Pick<NatsOptions, 'port' | 'passwords'>, user: NatsUser): string {
  return `nats://${user}:${encodeURIComponent(options.passwords[user])}@127.0.0.1:${options.port}`;
}

/** Writes the configuration and says how to start the server. */
export function natsProcess(options: NatsOptions): ProcessSpec {
  const { command, dir, port } = options;
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const configFile = path.join(dir, 'nats.conf');
  fs.writeFileSync(configFile, natsConfig(options), { mode: 0o600 });
  return {
    name: 'nats',
    command,
    args: ['-c', configFile],
    env: { PATH: process.env.PATH ?? '' },
    isReady: () => greets(port),
  };
}

export function natsConfig({ dir, port, passwords }: Pick<NatsOptions, 'dir' | 'port' | 'passwords'>): string {
  const users = natsUsers.map((user) => ({ user, password: passwords[user], permissions: natsPermissions[user] }));
  // The configuration language is a superset of JSON.
  return `${JSON.stringify(
    {
      host: '127.0.0.1',
      port,
      server_name: 'gantry',
      max_payload: PAYLOAD_BYTES_MAX,
      jetstream: { store_dir: path.join(dir, 'streams'), max_memory_store: 64 << 20, max_file_store: 4 * 2 ** 30 },
      authorization: { users },
      logtime: true,
    },
    null,
    2,
  )}\n`;
}

/** A server that accepts clients begins with a line that starts with INFO. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => end(false));
    socket.once('error', () => end(false));
    socket.once('data', (data) => end(data.toString().startsWith('INFO')));
  });
}
