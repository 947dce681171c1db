/**
 * `nats-config-main.js <directory> [--port <port> --monitoring-port <port>] [--revoke <executor>]...`
 *
 * With ports the whole configuration of a server of our own, else what another one includes: see docs/running.md.
 */
import { parseArgs } from 'node:util';
import { writeNatsAccounts, writeNatsConfig } from './nats-config';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string' },
    'monitoring-port': { type: 'string' },
    revoke: { type: 'string', multiple: true, default: [] },
  },
});
const [dir] = positionals;
if (!dir) {
  process.stderr.write('Specify the directory for the configuration and credentials.\n');
  process.exit(64);
}
const monitoringPort = values['monitoring-port'];
if (values.port && monitoringPort) {
  writeNatsConfig({ dir, port: Number(values.port), monitoringPort: Number(monitoringPort) });
} else {
  writeNatsAccounts(dir, values.revoke);
}
