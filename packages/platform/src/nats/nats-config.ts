/** The configuration of a NATS server, and the credentials of those who may enter it. */
import fs from 'node:fs';
import path from 'node:path';
import {
  buildNatsAuthentication,
  createServiceCredentials,
  generateNatsSeeds,
  getExecutorKey,
  type NatsSeeds,
  services,
} from '@gantry/events';
import {
  getAccountsFile,
  getConfigFile,
  getCredsFile,
  getExecutorKeyFile,
  getSeedsFile,
  type NatsOptions,
} from './nats';

/** Limits of a server, here and in containers. */
export const buildNatsLimits = (storeDir: string) => ({
  /** Bounds what one publisher can make a slow reader hold; the protocols keep to half of it. */
  max_payload: 512 * 1024,
  jetstream: { store_dir: storeDir, max_memory_store: 64 << 20, max_file_store: 4 * 2 ** 30 },
});

/**
 * Writes what the server has to know of accounts, and each user's credentials. The seeds are made the first time and
 * kept: with others, streams and executors would be strangers.
 */
export function writeNatsAccounts(dir: string, revoked: string[] = []): NatsSeeds {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const seeds = readSeeds(dir) ?? generateNatsSeeds();
  const write = (file: string, text: string) => fs.writeFileSync(file, text, { mode: 0o600 });
  write(getSeedsFile(dir), JSON.stringify(seeds, null, 2));
  write(getAccountsFile(dir), formatNatsConfig(buildNatsAuthentication(seeds, revoked)));
  for (const service of services) write(getCredsFile(dir, service), createServiceCredentials(seeds, service));
  write(getExecutorKeyFile(dir), JSON.stringify(getExecutorKey(seeds)));
  return seeds;
}

export function writeNatsConfig({ dir, port, monitoringPort }: Omit<NatsOptions, 'command'>): NatsSeeds {
  const seeds = writeNatsAccounts(dir);
  const config = {
    host: '127.0.0.1',
    port,
    http: `127.0.0.1:${monitoringPort}`,
    server_name: 'gantry',
    ...buildNatsLimits(path.join(dir, 'streams')),
    ...buildNatsAuthentication(seeds),
  };
  fs.writeFileSync(getConfigFile(dir), formatNatsConfig(config), { mode: 0o600 });
  return seeds;
}

function readSeeds(dir: string): NatsSeeds | undefined {
  try {
    return JSON.parse(fs.readFileSync(getSeedsFile(dir), 'utf8'));
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw err;
  }
}

/** Its language is a superset of JSON. */
const formatNatsConfig = (config: object): string => `${JSON.stringify(config, null, 2)}\n`;
