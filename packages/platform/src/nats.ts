/** A NATS server of our own. Its configuration is written by nats-config.ts, which the launcher does not keep loaded. */
import path from 'node:path';
import { livenessProbes } from './liveness';
import { answers } from './probe';
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

const READY_TIMEOUT_MS = 1_000;

export const configFileOf = (dir: string): string => path.join(dir, 'nats.conf');

export function natsUrl({ port, passwords }: Pick<NatsOptions, 'port' | 'passwords'>, user: NatsUser): string {
  return `nats://${user}:${encodeURIComponent(passwords[user])}@127.0.0.1:${port}`;
}

/** How to start the server, once its configuration is written. */
export function natsProcess({ command, dir, port }: Omit<NatsOptions, 'passwords'>): ProcessSpec {
  // A server that accepts clients begins with a line that starts with INFO.
  const liveness = { ...livenessProbes.nats, port };
  return {
    name: 'nats',
    command,
    args: ['-c', configFileOf(dir)],
    env: { PATH: process.env.PATH ?? '' },
    isReady: () => answers(liveness, READY_TIMEOUT_MS),
    liveness,
    isAlarming: (line) => /\[(ERR|FTL)\]/.test(line),
  };
}
