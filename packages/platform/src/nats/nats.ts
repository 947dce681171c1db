/**
 * A NATS server of our own. Its configuration is written by nats-config.ts, which the launcher does not keep loaded.
 */
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { livenessProbes } from '../supervise/liveness';
import { isHealthy } from '../supervise/probe';
import type { ProcessSpec } from '../supervise/process';

export interface NatsOptions {
  /** The nats-server executable. */
  command: string;
  /** Holds the configuration, the credentials and the streams. */
  dir: string;
  port: number;
  /** The port of its HTTP monitoring, on 127.0.0.1. */
  monitoringPort: number;
}

const READY_TIMEOUT_MS = 1_000;

export const getConfigFile = (dir: string): string => path.join(dir, 'nats.conf');
/** The part that another server's configuration includes. */
export const getAccountsFile = (dir: string): string => path.join(dir, 'accounts.conf');
/** Seeds of all users and accounts, generated once. */
export const getSeedsFile = (dir: string): string => path.join(dir, 'seeds.json');
export const getCredsFile = (dir: string, service: string): string => path.join(dir, `${service}.creds`);
/** Makes executors: see the executor's enrol.ts. */
export const getExecutorKeyFile = (dir: string): string => path.join(dir, 'executor-key.json');

export const buildNatsUrl = ({ port }: Pick<NatsOptions, 'port'>): string => `nats://127.0.0.1:${port}`;

/** The process of the server; its configuration must be written before it starts. */
export function buildNatsSpec({ command, dir, monitoringPort }: Omit<NatsOptions, 'port'>): ProcessSpec {
  const liveness = { ...livenessProbes.nats, port: monitoringPort };
  return {
    name: 'nats',
    command,
    args: ['-c', getConfigFile(dir)],
    // On both of two cores, Go's scheduler spends a fifth of the server's time searching for work.
    env: { PATH: process.env.PATH ?? '', GOMAXPROCS: String(Math.ceil(availableParallelism() / 2)) },
    isReady: () => isHealthy(liveness, READY_TIMEOUT_MS),
    liveness,
    isAlarming: (line) => /\[(ERR|FTL)\]/.test(line),
  };
}
