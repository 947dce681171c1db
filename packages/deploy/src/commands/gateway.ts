/** Renders nginx's configuration for a container and becomes nginx. */
import fs from 'node:fs';
import path from 'node:path';
import { readEnv } from '@gantry/env';
import { renderGatewayConfig } from '@gantry/platform';
import { z } from 'zod';

const limit = z.coerce.number().int().min(1).optional();

export const gatewayEnv = z.object({
  GATEWAY_DIR: z.string().default('/tmp/gateway'),
  GATEWAY_HOST: z.string().default('0.0.0.0'),
  /** `host:port`; every address that the name has is used, and it is looked up again and again. */
  WORKER_API: z.string(),
  AUTOMATION_API: z.string(),
  SKILLS_API: z.string(),
  /** Absent: those of /etc/resolv.conf. */
  GATEWAY_RESOLVER: z.string().optional(),
  /** `https` where TLS ends in front of this proxy. */
  GATEWAY_SCHEME: z.enum(['http', 'https']).optional(),
  GATEWAY_TRUSTED_PROXY: z.string().optional(),
  GATEWAY_CONNECTIONS: limit,
  GATEWAY_REQUESTS_PER_SECOND: limit,
  GATEWAY_CONNECTIONS_PER_ADDRESS: limit,
});

const NGINX = '/usr/sbin/nginx';

/** Node 24; the types are of the oldest version that `npm start` works with. */
type Execve = (file: string, args: string[], env: NodeJS.ProcessEnv) => never;

export function gateway(): void {
  const env = readEnv(gatewayEnv);
  const configFile = path.join(env.GATEWAY_DIR, 'nginx.conf');
  fs.mkdirSync(env.GATEWAY_DIR, { recursive: true });
  fs.writeFileSync(configFile, formatGatewayConfig(env, fs.readFileSync('/etc/resolv.conf', 'utf8')));
  const { execve } = process as typeof process & { execve: Execve };
  execve(NGINX, [NGINX, '-p', env.GATEWAY_DIR, '-c', configFile], {});
}

export function formatGatewayConfig(env: z.infer<typeof gatewayEnv>, resolvConf: string): string {
  return renderGatewayConfig({
    host: env.GATEWAY_HOST,
    ports: { worker: 8080, dashboard: 8081, skills: 8082 },
    upstreams: { workerApi: env.WORKER_API, automationApi: env.AUTOMATION_API, skillsApi: env.SKILLS_API },
    resolver: env.GATEWAY_RESOLVER ?? parseNameServers(resolvConf),
    log: '/dev/stdout',
    scheme: env.GATEWAY_SCHEME,
    trustedProxy: env.GATEWAY_TRUSTED_PROXY,
    connections: env.GATEWAY_CONNECTIONS,
    requestsPerSecond: env.GATEWAY_REQUESTS_PER_SECOND,
    connectionsPerAddress: env.GATEWAY_CONNECTIONS_PER_ADDRESS,
  });
}

function parseNameServers(resolvConf: string): string {
  const addresses = [...resolvConf.matchAll(/^nameserver\s+(\S+)/gm)].map(([, address = '']) => address);
  return addresses.map((address) => (address.includes(':') ? `[${address}]` : address)).join(' ');
}
