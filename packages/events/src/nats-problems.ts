/** Checks whether a process can use NATS, and otherwise names the reason and the remedy. */
import { describeCertificateProblem } from '@gantry/env';
import { connect } from 'nats';
import { buildConnectionOptions } from './bus';
import type { NatsConnectionSettings } from './nats-connection-settings';

const CONNECT_TIMEOUT_MS = 2_000;
const NO_JETSTREAM = 'NATS runs without JetStream: add a jetstream block with a store_dir to its configuration';

/** @returns a sentence for each problem, without addresses; empty if NATS is usable */
export async function checkNats(address: NatsConnectionSettings): Promise<string[]> {
  try {
    const nc = await connect({ ...buildConnectionOptions(address), timeout: CONNECT_TIMEOUT_MS, reconnect: false });
    const problems = nc.info?.jetstream ? [] : [NO_JETSTREAM];
    await nc.close();
    return problems;
  } catch (err) {
    return [`NATS: ${formatReason(err as Error & { code?: string })}`];
  }
}

const REASONS: Record<string, string> = {
  CONNECTION_REFUSED: 'nothing listens at the address in NATS_URL: start it, or correct the address',
  ENOTFOUND: 'there is no such host: correct the name in NATS_URL',
  AUTHORIZATION_VIOLATION: 'it refuses the credentials: NATS_CREDS must be for this server, and must not be revoked',
  SERVER_OPT_NA: 'it offers no TLS: configure its tls block, or remove NATS_CA and write nats:// in NATS_URL',
  TIMEOUT: 'it did not answer in time',
};

const formatReason = (err: Error & { code?: string }): string =>
  describeCertificateProblem(err, 'NATS_CA') ??
  REASONS[err.code ?? ''] ??
  `it does not answer (${err.code ?? err.message})`;
