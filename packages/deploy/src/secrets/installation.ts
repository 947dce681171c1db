/**
 * Every secret of an installation. Each belongs to its reader, so that nobody is given another's: a volume of files in
 * docker compose, a Secret in Kubernetes, with the same names and keys.
 */
import { randomBytes } from 'node:crypto';
import {
  executorKeyOf,
  generateNatsSeeds,
  makeExecutor,
  type NatsSeeds,
  natsAuthentication,
  serviceCredentials,
  services,
} from '@gantry/events';

/** Values by key, by the name of their reader. */
export type Secrets = Record<string, Record<string, string>>;

const ENROLMENT = 'executor-enrolment';
const SURFACES = ['worker', 'automation', 'skills'];
const OBJECT_OWNERS = ['worker-api', 'automation-api'];

const NATS_SERVER = {
  ...{ server_name: 'gantry', port: 4222, http_port: 8222 },
  /** Bounds what one publisher can make a slow reader hold. */
  max_payload: 512 * 1024,
  jetstream: { store_dir: '/data', max_memory_store: 64 << 20, max_file_store: 4 * 2 ** 30 },
};

export const readers = [...services, 'postgres', 'nats', 'nats-seeds', ENROLMENT, 's3', 'grafana'] as const;
/** Read where code of strangers runs, and by no service. */
export const readByExecutors = (reader: string): boolean => reader === ENROLMENT;

/** Keeps existing values, whoever chose them, and generates the missing ones to match. */
export function completed(kept: Secrets): Secrets {
  const secrets: Secrets = Object.fromEntries(readers.map((reader) => [reader, { ...kept[reader] }]));
  const need = (reader: string, key: string, make: () => string): string => {
    const values = secrets[reader] as Record<string, string>;
    values[key] ??= make();
    return values[key];
  };

  need('postgres', 'postgres-password', password);
  for (const surface of SURFACES) {
    const [name, chosen] = [`${surface}_api`, need('postgres', `${surface}-password`, password)];
    need(`${surface}-api`, 'database-url', () => `postgres://${name}:${chosen}@postgres:5432/${name}`);
  }
  need('postgres', 'databases.sql', () => databasesSql(secrets.postgres as Record<string, string>));

  for (const service of OBJECT_OWNERS) need(service, 'encryption-keys', keyRing);
  for (const service of ['worker-api', 'skills-api']) need(service, 'token-peppers', keyRing);
  need('worker-api', 'setup-token', password);
  const signingKey = need('worker-api', 'object-store-signing-key', password);
  need('automation-api', 'object-store-signing-key', () => signingKey);
  const keyId = need('s3', 'access-key-id', () => randomBytes(10).toString('hex'));
  const secretKey = need('s3', 'secret-access-key', password);
  need('s3', 'identities.json', () => s3Identities(keyId, secretKey));
  for (const service of OBJECT_OWNERS) {
    need(service, 's3-access-key-id', () => keyId);
    need(service, 's3-secret-access-key', () => secretKey);
  }

  need('grafana', 'admin-password', password);

  const seeds: NatsSeeds = JSON.parse(need('nats-seeds', 'seeds.json', () => JSON.stringify(generateNatsSeeds())));
  for (const service of services) need(service, 'nats.creds', () => serviceCredentials(seeds, service));
  need(ENROLMENT, 'executor-key.json', () => JSON.stringify(executorKeyOf(seeds)));
  // No secret: permissions, which an upgrade may change.
  const config = `${JSON.stringify({ ...NATS_SERVER, ...natsAuthentication(seeds) }, null, 2)}\n`;
  const inForce = secrets.nats?.['nats.conf'];
  secrets.nats = { 'nats.conf': inForce && claimsOf(inForce) === claimsOf(config) ? inForce : config };
  return secrets;
}

/** Credentials of an executor that has not started yet. */
export const spareExecutor = (secrets: Secrets): string =>
  makeExecutor(JSON.parse(secrets[ENROLMENT]?.['executor-key.json'] ?? ''));

/** The configuration with its JWTs decoded, but for when they were signed. */
const claimsOf = (config: string): string =>
  JSON.stringify(JSON.parse(config, (_, value) => (String(value).startsWith('eyJ') ? claimsIn(value) : value)));

function claimsIn(jwt: string): object {
  const { iat, jti, ...claims } = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
  return claims;
}

const password = (): string => randomBytes(32).toString('base64url');
const keyRing = (): string => `v1:${randomBytes(32).toString('base64')}`;

/** For a new server: users that may enter their own database and no other. */
function databasesSql(passwords: Record<string, string>): string {
  const statements = SURFACES.flatMap((surface) => [
    `CREATE ROLE ${surface}_api LOGIN PASSWORD '${passwords[`${surface}-password`]}';`,
    `CREATE DATABASE ${surface}_api OWNER ${surface}_api;`,
    `REVOKE CONNECT ON DATABASE ${surface}_api FROM PUBLIC;`,
  ]);
  return `${statements.join('\n')}\n`;
}

/** As SeaweedFS reads it. */
const s3Identities = (accessKey: string, secretKey: string): string =>
  JSON.stringify({
    identities: [
      { name: 'gantry', credentials: [{ accessKey, secretKey }], actions: ['Admin', 'Read', 'Write', 'List'] },
    ],
  });
