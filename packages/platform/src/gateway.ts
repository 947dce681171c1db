/** nginx in front of the services: renders services/gateway/nginx.conf.template with local values. */
import fs from 'node:fs';
import path from 'node:path';
import type { ProcessSpec } from './process';
import { checkoutDir } from './shared-dir';

export interface GatewayOptions {
  /** The nginx executable. */
  command: string;
  /** Configuration, pid file and temporary files; `owner` must be able to reach it. */
  dir: string;
  host: string;
  ports: { worker: number; dashboard: number; skills: number };
  /** `host:port` of each service. */
  upstreams: { workerApi: string; automationApi: string; skillsApi: string };
  requestsPerSecond?: number;
  connectionsPerAddress?: number;
  /** Who runs it, where we are root: it needs no right of root's, unless a port below 1024 is wanted. */
  owner?: number;
}

const TEMPLATE = path.join(checkoutDir, 'services/gateway/nginx.conf.template');

/** Generous: they stop a flood, while the services count what a credential may do. */
const REQUESTS_PER_SECOND = 2_000;
const CONNECTIONS_PER_ADDRESS = 2_000;

export function renderGatewayConfig(options: GatewayOptions): string {
  const { ports, upstreams } = options;
  const values: Record<string, string | number> = {
    GATEWAY_DIR: options.dir,
    GATEWAY_HOST: options.host,
    GATEWAY_WORKER_PORT: ports.worker,
    GATEWAY_DASHBOARD_PORT: ports.dashboard,
    GATEWAY_SKILLS_PORT: ports.skills,
    WORKER_API: upstreams.workerApi,
    AUTOMATION_API: upstreams.automationApi,
    SKILLS_API: upstreams.skillsApi,
    GATEWAY_SCHEME: '$scheme',
    GATEWAY_TRUSTED_PROXY: 'unix:',
    GATEWAY_REQUESTS_PER_SECOND: options.requestsPerSecond ?? REQUESTS_PER_SECOND,
    GATEWAY_CONNECTIONS_PER_ADDRESS: options.connectionsPerAddress ?? CONNECTIONS_PER_ADDRESS,
  };
  const template = fs.readFileSync(TEMPLATE, 'utf8').replace(/^#.*\n/gm, '');
  return template.replace(/\$\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${TEMPLATE} uses \${${name}}, which has no value`);
    return String(value);
  });
}

/** Writes the configuration and says how to start nginx. */
export function gatewayProcess(options: GatewayOptions): ProcessSpec {
  const { dir, host, ports, owner } = options;
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const configFile = path.join(dir, 'nginx.conf');
  fs.writeFileSync(configFile, renderGatewayConfig(options));
  if (owner !== undefined) for (const file of [dir, configFile]) fs.chownSync(file, owner, owner);
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host;
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
    isReady: async () => (await fetch(`http://${reachable}:${ports.worker}/gateway/healthz`)).ok,
    isAlarming: (line) => /\[(error|crit|alert|emerg)\]/.test(line) && !line.includes('Connection refused'),
  };
}
