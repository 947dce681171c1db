/** nginx in front of the services: renders services/gateway/nginx.conf.template with local values. */
import fs from 'node:fs';
import path from 'node:path';
import { checkoutDir } from '../dirs/shared-dir';
import { livenessProbes } from '../supervise/liveness';
import { isHealthy } from '../supervise/probe';
import type { ProcessSpec } from '../supervise/process';

export interface GatewayOptions {
  /** The nginx executable. */
  command: string;
  /** Configuration, pid file and temporary files: nginx's prefix. `owner` must be able to reach it. */
  dir: string;
  host: string;
  ports: { worker: number; dashboard: number; skills: number };
  /** `host:port` of each service. */
  upstreams: { workerApi: string; automationApi: string; skillsApi: string };
  /** Looks the names of services up while nginx runs. Absent: they are addresses that stay as they are. */
  resolver?: string;
  /** `https` where TLS ends in front of this. */
  scheme?: 'http' | 'https';
  /** File for refusals and failures; default a file in `dir`. */
  log?: string;
  /** Addresses or networks whose X-Forwarded-For is trusted. */
  trustedProxy?: string;
  requestsPerSecond?: number;
  /** In all; a request that is passed on holds two of them. */
  connections?: number;
  connectionsPerAddress?: number;
  /** User id that nginx runs as where we are root: it needs no right of root's, unless a port below 1024 is wanted. */
  owner?: number;
}

const TEMPLATES = path.join(checkoutDir, 'services/gateway');

/** Generous: they stop a flood, while the services count what a credential may do. */
const REQUESTS_PER_SECOND = 2_000;
const CONNECTIONS = 8_192;
/** For nginx itself: listening sockets, logs, what it reads the clock from. */
const OWN_FILES = 64;
/** Well above the streams that the services allow to one address. */
const CONNECTIONS_PER_ADDRESS = 512;
/** So that no address alone takes more than a quarter of all connections, of which each of its requests holds two. */
const ADDRESSES_MIN = 8;

const READY_TIMEOUT_MS = 1_000;

/** File of the requests that nginx refused or could not pass on. */
export const getGatewayLogFile = (dir: string): string => path.join(dir, LOG);
const LOG = 'requests.log';

/** nginx can't raise its limit of open files above the hard limit of the process that starts it. */
function clampConnections(requestedConnections: number): number {
  const limits = fs.existsSync('/proc/self/limits') ? fs.readFileSync('/proc/self/limits', 'utf8') : '';
  const hard = Number(/^Max open files\s+\d+\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  return Math.min(requestedConnections, hard - OWN_FILES);
}

export function renderGatewayConfig(options: Omit<GatewayOptions, 'command' | 'dir'>): string {
  const { ports, upstreams } = options;
  const connections = clampConnections(options.connections ?? CONNECTIONS);
  const perAddress = Math.min(CONNECTIONS_PER_ADDRESS, Math.floor(connections / ADDRESSES_MIN));
  const values: Record<string, string | number | undefined> = {
    GATEWAY_SERVICES: readTemplate(options.resolver ? 'names.conf.template' : 'addresses.conf.template').trim(),
    GATEWAY_RESOLVER: options.resolver,
    GATEWAY_HOST: options.host,
    GATEWAY_WORKER_PORT: ports.worker,
    GATEWAY_DASHBOARD_PORT: ports.dashboard,
    GATEWAY_SKILLS_PORT: ports.skills,
    WORKER_API: upstreams.workerApi,
    AUTOMATION_API: upstreams.automationApi,
    SKILLS_API: upstreams.skillsApi,
    GATEWAY_SCHEME: options.scheme ?? '$scheme',
    GATEWAY_TRUSTED_PROXY: options.trustedProxy ?? 'unix:',
    GATEWAY_CONNECTIONS: connections,
    GATEWAY_OPEN_FILES: connections + OWN_FILES,
    GATEWAY_REQUESTS_PER_SECOND: options.requestsPerSecond ?? REQUESTS_PER_SECOND,
    GATEWAY_CONNECTIONS_PER_ADDRESS: options.connectionsPerAddress ?? perAddress,
    GATEWAY_LOG: options.log ?? LOG,
  };
  const fill = (text: string): string =>
    text.replace(/\$\{(\w+)\}/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`the gateway's template uses \${${name}}, which has no value`);
      return fill(String(value));
    });
  return fill(readTemplate('nginx.conf.template'));
}

const readTemplate = (name: string): string =>
  fs.readFileSync(path.join(TEMPLATES, name), 'utf8').replace(/^#.*\n/gm, '');

/** Writes the configuration and says how to start nginx. */
export function buildGatewaySpec(options: GatewayOptions): ProcessSpec {
  const { dir, host, ports, owner } = options;
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const configFile = path.join(dir, 'nginx.conf');
  fs.writeFileSync(configFile, renderGatewayConfig(options));
  if (owner !== undefined) for (const file of [dir, configFile]) fs.chownSync(file, owner, owner);
  const liveness = { ...livenessProbes.gateway, host, port: ports.worker };
  return {
    name: 'gateway',
    command: options.command,
    args: ['-p', dir, '-c', configFile],
    env: { PATH: process.env.PATH ?? '' },
    uid: owner,
    gid: owner,
    // Lets requests under way finish.
    stopSignal: 'SIGQUIT',
    stopTimeoutMs: 3_000,
    isReady: () => isHealthy(liveness, READY_TIMEOUT_MS),
    liveness,
    isAlarming: (line) => /\[(error|crit|alert|emerg)\]/.test(line),
    ownLogs: [getGatewayLogFile(dir)],
  };
}
