/**
 * The accounts and users of the NATS server, derived from a few seeds: an operator, three accounts and their users.
 *
 * Services share one account, which owns JetStream. Executors have a separate one, because NATS does not check a reply
 * subject against publish permissions: JetStream would acknowledge a run event to `$JS.API.STREAM.PURGE.EVENTS`. Only
 * `crossAccountSubjects` lead out of the executors' account, and replies lead back into it.
 *
 * Executors are created without involving the server: it accepts every user signed with the executors' key. The name in
 * their subjects is their public key, which an attacker cannot choose.
 */
import { type Service, services } from './catalogue';
import { formatCredentials, signJwt } from './nats-jwt';
import { createKey, type NKey, parseSeed } from './nkey';
import { buildExecutorPermissions, crossAccountSubjects, type NatsPermissions, natsPermissions } from './permissions';

/** The holder of these seeds can create any user. */
export interface NatsSeeds {
  operator: string;
  systemAccount: string;
  servicesAccount: string;
  executorsAccount: string;
  /** A key for each role: a user signed with it has the permissions that its account grants to that role. */
  signers: Record<Service | 'executor', string>;
  users: Record<Service, string>;
}

/** The holder of this key can create executors, and nothing else. */
export interface ExecutorKey {
  /** Public key of the executors' account. */
  account: string;
  seed: string;
}

export function generateNatsSeeds(): NatsSeeds {
  return {
    operator: createKey('operator').seed,
    systemAccount: createKey('account').seed,
    servicesAccount: createKey('account').seed,
    executorsAccount: createKey('account').seed,
    signers: Object.fromEntries(
      [...services, 'executor'].map((role) => [role, createKey('account').seed]),
    ) as NatsSeeds['signers'],
    users: Object.fromEntries(services.map((service) => [service, createKey('user').seed])) as NatsSeeds['users'],
  };
}

const UNLIMITED = -1;
const LIMITS = {
  subs: UNLIMITED,
  data: UNLIMITED,
  payload: UNLIMITED,
  conn: UNLIMITED,
  leaf: 0,
  imports: UNLIMITED,
  exports: UNLIMITED,
  wildcards: true,
};
/** Within the server's own limits. */
const JETSTREAM_LIMITS = {
  mem_storage: UNLIMITED,
  disk_storage: UNLIMITED,
  streams: UNLIMITED,
  consumer: UNLIMITED,
  max_ack_pending: UNLIMITED,
};
const USER_LIMITS = { subs: UNLIMITED, data: UNLIMITED, payload: UNLIMITED };

/** Template that the server replaces with the user's public key. */
const SUBJECT = '{{subject()}}';
const NS_PER_S = 1_000_000_000;
/** Longer than an inspection may take. */
const REPLY_TTL_S = 30;

/**
 * Permissions are in the account: a JWT with a service's permissions would exceed the server's limit on a client's
 * control line.
 */
const buildSigningKey = (
  seeds: NatsSeeds,
  role: Service | 'executor',
  permissions: NatsPermissions,
  templateOverrides: object = {},
) => ({
  kind: 'user_scope',
  key: parseSeed(seeds.signers[role]).publicKey,
  role,
  template: {
    pub: { allow: permissions.publish },
    sub: { allow: permissions.subscribe },
    ...USER_LIMITS,
    ...templateOverrides,
  },
});

/**
 * Builds a part of the configuration of a NATS server.
 * @param revoked executors whose existing credentials are no longer accepted
 */
export function buildNatsAuthentication(seeds: NatsSeeds, revoked: string[] = []) {
  const operator = parseSeed(seeds.operator);
  const [system, servicesAccountKey, executorsAccountKey] = [
    parseSeed(seeds.systemAccount).publicKey,
    parseSeed(seeds.servicesAccount).publicKey,
    parseSeed(seeds.executorsAccount).publicKey,
  ];
  const buildAccount = (sub: string, name: string, claims: object): [string, string] => {
    const nats = { type: 'account' as const, limits: LIMITS, default_permissions: { pub: {}, sub: {} }, ...claims };
    return [sub, signJwt(operator, { name, sub, nats })];
  };
  const requestExports = [
    ...crossAccountSubjects.toServices.map((subject) => ({ name: subject, subject, type: 'service' })),
    ...crossAccountSubjects.toExecutors.map((subject) => ({ name: subject, subject, type: 'stream' })),
  ];
  const inspectionExports = crossAccountSubjects.askedOfExecutors.map((subject) => ({
    name: subject,
    subject,
    type: 'service',
  }));
  const toImports = (owner: string, exports: typeof requestExports) =>
    exports.map((each) => ({ ...each, account: owner }));
  const now = Math.floor(Date.now() / 1000);

  return {
    operator: signJwt(operator, {
      name: 'gantry',
      sub: operator.publicKey,
      nats: { type: 'operator', system_account: system },
    }),
    system_account: system,
    resolver: 'MEMORY',
    resolver_preload: Object.fromEntries([
      buildAccount(system, 'system', {}),
      buildAccount(servicesAccountKey, 'services', {
        limits: { ...LIMITS, ...JETSTREAM_LIMITS },
        exports: requestExports,
        imports: toImports(executorsAccountKey, inspectionExports),
        signing_keys: services.map((service) => buildSigningKey(seeds, service, natsPermissions[service])),
      }),
      buildAccount(executorsAccountKey, 'executors', {
        exports: inspectionExports,
        imports: toImports(servicesAccountKey, requestExports),
        signing_keys: [
          buildSigningKey(seeds, 'executor', buildExecutorPermissions(SUBJECT), {
            resp: { max: 1, ttl: REPLY_TTL_S * NS_PER_S },
          }),
        ],
        ...(revoked.length && { revocations: Object.fromEntries(revoked.map((user) => [user, now])) }),
      }),
    ]),
  };
}

export function createServiceCredentials(seeds: NatsSeeds, service: Service): string {
  const issuer_account = parseSeed(seeds.servicesAccount).publicKey;
  return createUserCredentials(parseSeed(seeds.signers[service]), service, parseSeed(seeds.users[service]), {
    issuer_account,
  });
}

export const getExecutorKey = (seeds: NatsSeeds): ExecutorKey => ({
  account: parseSeed(seeds.executorsAccount).publicKey,
  seed: seeds.signers.executor,
});

/** Creates an executor. The account defines the permissions of its signing key; its JWT carries none. */
export function createExecutorCredentials({ account, seed }: ExecutorKey): string {
  const keys = createKey('user');
  return createUserCredentials(parseSeed(seed), keys.publicKey, keys, { issuer_account: account });
}

export function createUserCredentials(issuer: NKey, name: string, keys: NKey, claims: object): string {
  const jwt = signJwt(issuer, { name, sub: keys.publicKey, nats: { ...claims, type: 'user' } });
  return formatCredentials(jwt, keys);
}
