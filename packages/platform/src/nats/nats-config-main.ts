/**
 * `nats-config-main.js <directory> [--port <port>] [--revoke <executor>]...`
 *
 * With a port the whole configuration of a server of our own, else what another one includes: see docs/running.md.
 */
import { parseArgs } from 'node:util';
import { writeNatsAccounts, writeNatsConfig } from './nats-config';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { port: { type: 'string' }, revoke: { type: 'string', multiple: true, default: [] } },
});
const [dir] = positionals;
if (!dir) {
  process.stderr.write('Name the directory that the configuration and the credentials go to.\n');
  process.exit(64);
}
if (values.port) writeNatsConfig({ dir, port: Number(values.port) });
else writeNatsAccounts(dir, values.revoke);
