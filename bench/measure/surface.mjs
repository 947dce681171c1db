/** The worker surface of a checkout, as a process of its own that measures itself when its parent asks. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';

const { createSurface, createLogger, readOperations } = createRequire(import.meta.url)(
  path.join(process.argv[2], 'packages/http/dist/index.js'),
);
const openapiFile = path.join(process.argv[2], 'packages/openapi/dist/worker.json');
const UNLIMITED = 1e9;
const PRINCIPAL = { kind: 'personal_token', userId: 'usr_1', tokenId: 'tok_1', workspaceId: 'ws_1', role: 'owner' };

const respond = () => ({ status: 200, body: {} });
const handlers = readOperations(openapiFile).map(({ id, idempotent }) => [
  id,
  idempotent ? { create: respond, assertVisible: respond } : respond,
]);
const app = createSurface({
  openapiFile,
  operations: Object.fromEntries(handlers),
  authenticate: async () => ({ ...PRINCIPAL, memberships: { ws_1: 'owner' }, emailVerified: true }),
  errorShape: 'detail',
  pool: { query: async () => ({ rows: [] }) },
  hasher: { hash: String },
  log: createLogger('bench', 'silent'),
  rateLimits: { requestsPerMinute: UNLIMITED, runsPerMinute: UNLIMITED, signInsPerMinute: UNLIMITED },
});
const server = createServer(app).listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

const MEASUREMENTS = {
  cpu: () => cpu(),
  memory: () => {
    global.gc();
    const { rss, heapUsed } = process.memoryUsage();
    return { rssMB: Math.round(rss / 2 ** 20), heapMB: Math.round(heapUsed / 2 ** 20) };
  },
};

process.on('message', async (what) => process.send(await MEASUREMENTS[what]()));

function cpu() {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000 };
}
