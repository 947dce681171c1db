/**
 * Every secret of an installation. Each belongs to its reader, so that no reader is given another's: a volume of files
 * in docker compose, a Secret in Kubernetes, with the same names and keys.
 */
import { randomBytes } from 'node:crypto';
import {
  buildNatsAuthentication,
  createExecutorCredentials,
  createServiceCredentials,
  generateNatsSeeds,
  getExecutorKey,
  type NatsSeeds,
  services,
} from '@gantry/events';
import { buildNatsLimits } from '@gantry/platform';

/** Values by key, by the name of their reader. */
export type Secrets = Record<string, Record<string, string>>;

const ENROLMENT = 'executor-enrolment';
const SURFACES = ['worker', 'automation', 'skills'];
const OBJECT_OWNERS = ['worker-api', 'automation-api'];

const NATS_SERVER = {
  server_name: 'gantry',
  port: 4222,
  http_port: 8222,
  ...buildNatsLimits('/data'),
};

export const readers = [...services, 'postgres', 'nats', 'nats-seeds', ENROLMENT, 's3', 'grafana'] as const;
/** Read where code of strangers runs, and by no service. */
export const isExecutorReader = (reader: string): boolean => reader === ENROLMENT;

/** Keeps existing values, also those of an operator, and generates the missing ones to match. */
export function completeSecrets(existingSecrets: Secrets): Secrets {
  const secrets: Secrets = Object.fromEntries(readers.map((reader) => [reader, { ...existingSecrets[reader] }]));
  const ensureSecret = (reader: string, key: string, generate: () => string): string => {
    const values = secrets[reader] as Record<string, string>;
    values[key] ??= generate();
    return values[key];
  };

  ensureSecret('postgres', 'postgres-password', generatePassword);
  for (const surface of SURFACES) {
    const [name, chosen] = [`${surface}_api`, ensureSecret('postgres', `${surface}-password`, generatePassword)];
    ensureSecret(`${surface}-api`, 'database-url', () => `postgres://${name}:${chosen}@postgres:5432/${name}`);
  }
  ensureSecret('postgres', 'databases.sql', () => buildDatabasesSql(secrets.postgres as Record<string, string>));

  for (const service of OBJECT_OWNERS) ensureSecret(service, 'encryption-keys', generateKeyRing);
  for (const service of ['worker-api', 'skills-api']) ensureSecret(service, 'token-peppers', generateKeyRing);
  ensureSecret('worker-api', 'setup-token', generatePassword);
  const signingKey = ensureSecret('worker-api', 'object-store-signing-key', generatePassword);
  ensureSecret('automation-api', 'object-store-signing-key', () => signingKey);
  const keyId = ensureSecret('s3', 'access-key-id', () => randomBytes(10).toString('hex'));
  const secretKey = ensureSecret('s3', 'secret-access-key', generatePassword);
  ensureSecret('s3', 'identities.json', () => buildS3Identities(keyId, secretKey));
  for (const service of OBJECT_OWNERS) {
    ensureSecret(service, 's3-access-key-id', () => keyId);
    ensureSecret(service, 's3-secret-access-key', () => secretKey);
  }

  ensureSecret('grafana', 'admin-password', generatePassword);

  const seeds: NatsSeeds = JSON.parse(
    ensureSecret('nats-seeds', 'seeds.json', () => JSON.stringify(generateNatsSeeds())),
  );
  for (const service of services) ensureSecret(service, 'nats.creds', () => createServiceCredentials(seeds, service));
  ensureSecret(ENROLMENT, 'executor-key.json', () => JSON.stringify(getExecutorKey(seeds)));
  // No secret: permissions, which an upgrade may change.
  const config = `${JSON.stringify({ ...NATS_SERVER, ...buildNatsAuthentication(seeds) }, null, 2)}\n`;
  const inForce = secrets.nats?.['nats.conf'];
  secrets.nats = { 'nats.conf': inForce && findClaims(inForce) === findClaims(config) ? inForce : config };
  return secrets;
}

/** Credentials of an executor that has not started yet. */
export const createSpareExecutorCredentials = (secrets: Secrets): string =>
  createExecutorCredentials(JSON.parse(secrets[ENROLMENT]?.['executor-key.json'] ?? ''));

/** The configuration with its JWTs decoded, but for when they were signed. */
const findClaims = (config: string): string =>
  JSON.stringify(JSON.parse(config, (_, value) => (String(value).startsWith('eyJ') ? parseClaims(value) : value)));

function parseClaims(jwt: string): object {
  const { iat, jti, ...claims } = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
  return claims;
}

const generatePassword = (): string => randomBytes(32).toString('base64url');
const generateKeyRing = (): string => `v1:${randomBytes(32).toString('base64')}`;

/** For a new server: users that may enter their own database and no other. */
function buildDatabasesSql(passwords: Record<string, string>): string {
  const statements = SURFACES.flatMap((surface) => [
    `CREATE ROLE ${surface}_api LOGIN PASSWORD '${passwords[`${surface}-password`]}';`,
    `CREATE DATABASE ${surface}_api OWNER ${surface}_api;`,
    `REVOKE CONNECT ON DATABASE ${surface}_api FROM PUBLIC;`,
  ]);
  return `${statements.join('\n')}\n`;
}

/** As SeaweedFS reads it. */
const buildS3Identities = (accessKey: string, secretKey: string): string =>
  JSON.stringify({
    identities: [
      { name: 'gantry', credentials: [{ accessKey, secretKey }], actions: ['Admin', 'Read', 'Write', 'List'] },
    ],
  });
