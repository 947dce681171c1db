/** A NATS server of our own. Its configuration is written by nats-config.ts, which the launcher does not keep loaded. */
import net from 'node:net';
import path from 'node:path';
import type { ProcessSpec } from './process';

export const natsUsers = ['worker-api', 'automation-api', 'skills-api', 'executor'] as const;
export type NatsUser = (typeof natsUsers)[number];
export type NatsPasswords = Record<NatsUser, string>;

export interface NatsOptions {
  /** The nats-server executable. */
  command: string;
  /** Holds the configuration and the streams. */
  dir: string;
  port: number;
  passwords: NatsPasswords;
}

export const configFileOf = (dir: string): string => path.join(dir, 'nats.conf');

export function natsUrl({ port, passwords }: Pick<NatsOptions, 'port' | 'passwords'>, user: NatsUser): string {
  return `nats://${user}:${encodeURIComponent(passwords[user])}@127.0.0.1:${port}`;
}

/** How to start the server, once its configuration is written. */
export function natsProcess({ command, dir, port }: Omit<NatsOptions, 'passwords'>): ProcessSpec {
  return {
    name: 'nats',
    command,
    args: ['-c', configFileOf(dir)],
    env: { PATH: process.env.PATH ?? '' },
    isReady: () => greets(port),
    isAlarming: (line) => /\[(ERR|FTL)\]/.test(line),
  };
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
