/** The configuration of our NATS server: each service has a user that may touch only the subjects it needs. */
import fs from 'node:fs';
import path from 'node:path';
import { natsPermissions } from '@gantry/events';
import { configFileOf, type NatsOptions, natsUsers } from './nats';

/** Bounds what one publisher can make a slow reader hold; the protocols keep to half of it. */
const PAYLOAD_BYTES_MAX = 512 * 1024;
const MEMORY_BYTES_MAX = 64 << 20;
const STREAM_BYTES_MAX = 4 * 2 ** 30;

export function writeNatsConfig({ dir, port, passwords }: Omit<NatsOptions, 'command'>): void {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const streams = {
    store_dir: path.join(dir, 'streams'),
    max_memory_store: MEMORY_BYTES_MAX,
    max_file_store: STREAM_BYTES_MAX,
  };
  const users = natsUsers.map((user) => ({ user, password: passwords[user], permissions: natsPermissions[user] }));
  const config = {
    host: '127.0.0.1',
    port,
    server_name: 'gantry',
    max_payload: PAYLOAD_BYTES_MAX,
    jetstream: streams,
    authorization: { users },
  };
  // Its language is a superset of JSON.
  fs.writeFileSync(configFileOf(dir), JSON.stringify(config, null, 2), { mode: 0o600 });
}
