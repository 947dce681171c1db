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
  CONNECTION_REFUSED: 'nothing is listening at the address in NATS_URL: start NATS or correct the address',
  ENOTFOUND: 'the host does not exist: correct the host name in NATS_URL',
  AUTHORIZATION_VIOLATION:
    'the server rejects the credentials: NATS_CREDS must be valid for this server and must not have been revoked',
  SERVER_OPT_NA:
    'the server does not offer TLS: configure its tls block, or remove NATS_CA and use nats:// in NATS_URL',
  TIMEOUT: 'the server did not respond in time',
};

const formatReason = (err: Error & { code?: string }): string =>
  describeCertificateProblem(err, 'NATS_CA') ??
  REASONS[err.code ?? ''] ??
  `the server is not responding (${err.code ?? err.message})`;
