/** docker-compose.yml, as far as it can be judged without a daemon; `npm run test:compose` runs it. */
import fs from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { completeSecrets } from './secrets/installation-secrets';
import { environmentSchemas } from './test/environment-schemas';

const root = path.resolve(__dirname, '../../..');

interface Service {
  image: string;
  build?: { target: string };
  environment?: Record<string, string | null>;
  volumes?: string[];
  networks?: string[];
  network_mode?: string;
  ports?: string[];
  profiles?: string[];
  depends_on?: Record<string, { condition: string }>;
  security_opt?: string[];
  cap_drop?: string[];
  healthcheck?: { test?: string[] };
  [key: string]: unknown;
}
const compose: {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
} = parse(fs.readFileSync(path.join(root, 'docker-compose.yml'), 'utf8'), { merge: true });
const services = Object.entries(compose.services);
const dockerfile = fs.readFileSync(path.join(root, 'Dockerfile'), 'utf8');

/** Variables that an image sets. */
const inImage = new Set([...dockerfile.matchAll(/\b([A-Z][A-Z0-9_]+)="?[^\s"]/g)].map(([, name = '']) => name));
const stripFileSuffix = (variable: string) => variable.replace(/_FILE$/, '');

/** By the image, or by what else is in the file. */
const SETTLED = [
  ...['NODE_ENV', 'HOST', 'NATS_CREDS', 'NATS_CA', 'BWRAP', 'PYTHON', 'EXECUTOR_UID', 'EXECUTOR_GID'],
  ...['EXECUTOR_ALLOW_ROOT', 'EXECUTOR_UNSANDBOXED', 'GATEWAY_DIR', 'GATEWAY_HOST', 'GATEWAY_RESOLVER'],
];

describe.each(Object.entries(environmentSchemas))('the environment of %s', (name, schema) => {
  const environment = compose.services[name]?.environment ?? {};
  const set = Object.keys(environment).map(stripFileSuffix);

  test('contains no variable that the service does not know', () => {
    const known = [...Object.keys(schema.shape), 'EXECUTOR_STOCK'];
    expect(set.filter((variable) => !known.includes(variable))).toEqual([]);
  });

  test('contains every variable that the service requires', () => {
    const required = schema.safeParse({}).error?.issues.map(({ path: [variable] }) => String(variable)) ?? [];
    const given = Object.entries(environment).flatMap(([variable, value]) =>
      value === null ? [] : [stripFileSuffix(variable)],
    );
    expect(required.filter((variable) => !given.includes(variable) && !inImage.has(variable))).toEqual([]);
  });

  test('lets the operator set every other variable', () => {
    const optional = Object.keys(schema.shape).filter((variable) => !SETTLED.includes(variable));
    expect(optional.filter((variable) => !set.includes(variable) && !inImage.has(variable))).toEqual([]);
  });
});

test('every file that a variable names is a generated secret, in a volume of that service', () => {
  const made = completeSecrets({});
  for (const [name, { environment = {}, volumes = [] }] of services) {
    const mounts = volumes.map((volume) => volume.split(':')).filter(([source]) => source?.startsWith('secrets-'));
    for (const [variable, file] of Object.entries(environment)) {
      if (!variable.endsWith('_FILE') || !file) continue;
      const mount = mounts.find(([, place = '']) => path.dirname(file) === place);
      const reader = mount?.[0]?.replace('secrets-', '') ?? `a volume at ${file}`;
      expect({ name, reader, keys: Object.keys(made[reader] ?? {}) }).toMatchObject({
        keys: expect.arrayContaining([path.basename(file)]),
      });
    }
  }
});

test('no container is given the secrets of another, and only the one that generates them may write', () => {
  const holders = services.flatMap(([name, { volumes = [] }]) =>
    volumes.filter((volume) => volume.startsWith('secrets-')).map((volume) => ({ name, volume: volume.split(':') })),
  );
  const others = holders.filter(({ name }) => name !== 'generate');
  expect(others.filter(({ volume: [, , mode] }) => mode !== 'ro,nocopy')).toEqual([]);
  const listAllowedOwners = (name: string) => [name.replace(/^migrate-/, '').replace(/^setup$/, 'worker-api')];
  expect(
    others.filter(
      ({ name, volume: [source = ''] }) => !listAllowedOwners(name).includes(source.slice('secrets-'.length)),
    ),
  ).toEqual([]);
});

test('no password is written in the file', () => {
  const texts = services.flatMap(([, { environment = {} }]) => Object.entries(environment));
  const secret = /(PASSWORD|SECRET|TOKEN|PEPPERS|KEYS?|CREDS|DATABASE_URL)$/;
  expect(texts.filter(([variable, value]) => secret.test(variable) && value !== null)).toEqual([]);
});

test('only the gateway is published, and by default to this machine alone', () => {
  const published = services.filter(([, { ports, profiles }]) => ports && !profiles);
  expect(published.map(([name]) => name)).toEqual(['gateway']);
  for (const [, { ports = [] }] of services) {
    for (const port of ports) expect(port).toMatch(/^\$\{GANTRY_HOST:-127\.0\.0\.1\}:/);
  }
});

test('executors reach NATS, the object store and the internet, and only the services reach their databases', () => {
  const beside = (name: string) => {
    const networks = compose.services[name]?.networks ?? [];
    return services
      .filter(
        ([other, { networks: theirs = [], profiles }]) =>
          other !== name && !profiles && theirs.some((each) => networks.includes(each)),
      )
      .map(([other]) => other)
      .sort();
  };
  expect(beside('executor')).toEqual(['automation-api', 'nats', 'worker-api']);
  const apis = ['automation-api', 'skills-api', 'worker-api'];
  expect(beside('postgres')).toEqual([...apis, ...apis.map((name) => `migrate-${name}`)].sort());
});

test('every container restarts by itself, is bounded, and has only the privileges that it needs', () => {
  for (const [name, service] of services) {
    expect({ name, ...service }).toMatchObject({
      restart: expect.stringMatching(/^(unless-stopped|on-failure:\d)$/),
      cap_drop: ['ALL'],
      security_opt: expect.arrayContaining([expect.stringMatching(/^no-new-privileges:true$/)]),
      logging: { options: { 'max-size': expect.any(String) } },
    });
    if (service.restart === 'unless-stopped')
      expect({ name, ...service }).toMatchObject({ mem_limit: expect.any(String) });
    if (name !== 'postgres') expect({ name, ...service }).toMatchObject({ read_only: true });
  }
});

test('a container starts only once the containers that it depends on are healthy or have completed', () => {
  for (const [name, { depends_on = {} }] of services) {
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const once = String(compose.services[other]?.restart).startsWith('on-failure');
      expect({ name, other, condition }).toEqual({
        name,
        other,
        condition: once ? 'service_completed_successfully' : 'service_healthy',
      });
    }
  }
});

test('NATS is probed through JetStream', () => {
  expect(compose.services.nats?.healthcheck?.test).toContain('http://127.0.0.1:8222/jsz');
});

test('networks, volumes and targets that are used are defined', () => {
  const targets = [...dockerfile.matchAll(/^FROM \S+ AS (\S+)$/gm)].map(([, target]) => target);
  for (const [, { build, networks = [], volumes = [] }] of services) {
    expect([...targets, undefined]).toContain(build?.target);
    expect(Object.keys(compose.networks)).toEqual(expect.arrayContaining(networks));
    const named = volumes.map((volume) => volume.split(':')[0] ?? '').filter((source) => /^[a-z]/.test(source));
    expect(Object.keys(compose.volumes)).toEqual(expect.arrayContaining(named));
  }
});
