/** Settings that the person who starts the platform may choose. */
import path from 'node:path';
import { checkoutDir } from '../dirs/shared-dir';
import { databases, type ServiceName, serviceNames } from '../service-names';
import type { RequiredPort } from './require-free-ports';

export type Ports = ReturnType<typeof assignPorts>;

export interface Settings {
  dataDir: string;
  /** Address of the gateway. */
  host: string;
  /** The proxy or load balancer in front of it, whose X-Forwarded-For is believed. */
  trustedProxy: string | undefined;
  ports: Ports;
  urls: { base: string; dashboard: string; skills: string };
  /** External databases and NATS. */
  externalDatabases: Partial<Record<ServiceName, string>>;
  externalNats: string | undefined;
  /** Written by nats-config-main.js. */
  natsCredentials: string | undefined;
}

const PORT = 8080;
const PORT_MAX = 65_535 - 2;
/** Internal ports begin so far above the first public one, and need so many. */
const INTERNAL_OFFSET = 100;
const INTERNAL_PORTS = 14;
/** From which Linux chooses ports of outgoing connections: one of those could hold an internal port at any time. */
const OUTGOING_MIN = 32_768;
/** Internal ports of an installation whose own would lie there or above. */
const [LOWERED_MIN, LOWERED_PORTS] = [10_240, 22_000];

/** @throws Error that says what is wrong with a variable. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const ports = assignPorts(readPort(env.GANTRY_PORT));
  const toLocalUrl = (port: number) => `http://localhost:${port}`;
  return {
    dataDir: path.resolve(checkoutDir, env.GANTRY_DATA_DIR || '.data'),
    host: env.GANTRY_HOST || '127.0.0.1',
    trustedProxy: readNetwork(env.GANTRY_TRUSTED_PROXY),
    ports,
    urls: {
      base: env.BASE_URL || toLocalUrl(ports.worker),
      dashboard: env.DASHBOARD_URL || toLocalUrl(ports.dashboard),
      skills: env.SKILLS_URL || toLocalUrl(ports.skills),
    },
    externalDatabases: Object.fromEntries(
      serviceNames.flatMap((service) => {
        const address = env[databases[service].variable];
        return address ? [[service, address]] : [];
      }),
    ),
    externalNats: env.NATS_URL || undefined,
    natsCredentials: env.NATS_URL && env.NATS_CREDENTIALS_DIR ? path.resolve(env.NATS_CREDENTIALS_DIR) : undefined,
  };
}

/** It becomes a part of nginx's configuration. */
function readNetwork(text: string | undefined): string | undefined {
  if (!text || /^[\da-f.:]+(\/\d{1,3})?$/i.test(text)) return text || undefined;
  throw new Error(`GANTRY_TRUSTED_PROXY must be an address or a network such as 10.0.0.0/8, not "${text}"`);
}

function readPort(text: string | undefined): number {
  const port = Number(text || PORT);
  if (Number.isInteger(port) && port > 0 && port <= PORT_MAX) return port;
  throw new Error(`GANTRY_PORT must be a port from 1 to ${PORT_MAX}, not "${text}"`);
}

function getFirstInternalPort(first: number): number {
  const usual = first + INTERNAL_OFFSET;
  return usual + INTERNAL_PORTS <= OUTGOING_MIN ? usual : LOWERED_MIN + (first % LOWERED_PORTS);
}

function assignPorts(first: number) {
  const internal = getFirstInternalPort(first);
  return {
    worker: first,
    dashboard: first + 1,
    skills: first + 2,
    /** On 127.0.0.1 only, all of these. */
    services: { 'worker-api': internal, 'automation-api': internal + 1, 'skills-api': internal + 2 },
    postgres: internal + 5,
    nats: internal + 6,
    natsMonitoring: internal + 7,
    metrics: {
      'worker-api': internal + 10,
      'automation-api': internal + 11,
      'skills-api': internal + 12,
      executor: internal + 13,
    },
  };
}

/** Every port that this start will listen on. */
export function listPorts({ ports, host, externalDatabases, externalNats }: Settings): RequiredPort[] {
  const local = '127.0.0.1';
  const { worker, dashboard, skills, services, metrics, postgres, nats, natsMonitoring } = ports;
  const embedded = serviceNames.some((service) => !externalDatabases[service]);
  return [
    ...[worker, dashboard, skills].map((port) => ({ port, host, name: 'gateway' })),
    ...serviceNames.map((name) => ({ port: services[name], host: local, name })),
    ...Object.entries(metrics).map(([name, port]) => ({ port, host: local, name: `metrics of ${name}` })),
    ...(embedded ? [{ port: postgres, host: local, name: 'PostgreSQL' }] : []),
    ...(externalNats
      ? []
      : [
          { port: nats, host: local, name: 'NATS' },
          { port: natsMonitoring, host: local, name: 'NATS monitoring' },
        ]),
  ];
}
