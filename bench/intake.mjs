/**
 * What a start costs while runs go on:   node bench/intake.mjs [--clients 16] [--seconds 5] [--rounds 5] [--before <checkout>]
 *
 * Webhooks and API starts of a worker, answered once the run is stored, beside the least that could do it: node:http and one
 * insert. With --before, a platform of another checkout takes its turns in the same run. Between rounds all queued runs end.
 */
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient } from './measure/client.mjs';
import { connectDatabase, openPool } from './measure/database.mjs';
import { parseOptions } from './measure/options.mjs';
import { byKind, processTree } from './measure/processes.mjs';
import { median, quantile, round, timed } from './measure/stats.mjs';

const options = parseOptions({ clients: 16, seconds: 5, rounds: 5, before: undefined });
/** V8 has compiled what it will, and schemas are compiled. */
const IDLE_MS = 20_000;
const WORKER = {
  name: 'Hello',
  trigger: 'webhook',
  inputs: [{ name: 'name', type: 'text' }],
  files: [{ path: 'main.py', content: 'def run(name="world"):\n    return {"greeting": f"hello {name}"}\n' }],
};
const BODY = { name: 'x' };

const here = fileURLToPath(new URL('..', import.meta.url));
const platforms = [];
const measured = {};
try {
  if (options.before) platforms.push(await open('before', options.before));
  platforms.push(await open(options.before ? 'after' : 'gantry', here));
  const bare = await bareServer(platforms.at(-1));
  await sleep(IDLE_MS);
  for (let turn = 0; turn <= options.rounds; turn++) {
    // Forth and back, so that none always comes after the same other.
    for (const one of turn % 2 ? platforms.toReversed() : platforms) {
      for (const [way, start] of Object.entries(one.ways)) await measure(turn, `${one.name}, ${way}`, one, start);
    }
    await measure(turn, 'node:http and one insert', platforms.at(-1), bare.start);
  }
  bare.close();
  report();
} finally {
  for (const { platform, database } of platforms) {
    await database.end();
    await platform.stop();
  }
}

async function open(name, checkout) {
  const { startPlatform } = await import(`${checkout}/bench/measure/platform.mjs`);
  const platform = await startPlatform();
  const { base_url: url, token } = platform.local;
  const worker = await createClient(token)('POST', `${url}/api/workers`, WORKER);
  const { pathname, search } = new URL(worker.webhook_url);
  const ways = {
    webhook: (call) => call('POST', url + pathname + search, BODY),
    'API start': (call) => call('POST', `${url}/api/workers/${worker.id}/runs`, { inputs: BODY }),
  };
  return { name, platform, ways, database: await connectDatabase(platform, 'worker_api') };
}

/** In this process, so that its CPU counts as the client's. */
async function bareServer({ platform }) {
  const pool = openPool(platform, 'worker_api');
  await pool.query(
    'CREATE TABLE bare_starts (id bigserial PRIMARY KEY, inputs json, created_at timestamptz DEFAULT now())',
  );
  const server = http.createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const inputs = JSON.stringify(JSON.parse(Buffer.concat(chunks)));
    const { rows } = await pool.query('INSERT INTO bare_starts (inputs) VALUES ($1) RETURNING id', [inputs]);
    res.end(JSON.stringify(rows[0]));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  return {
    start: (call) => call('POST', url, BODY),
    close: () => {
      server.closeAllConnections();
      server.close();
      void pool.end();
    },
  };
}

async function measure(turn, name, { platform, database }, start) {
  const ms = [];
  const before = byKind(processTree(platform.pid));
  const began = performance.now();
  const until = began + options.seconds * 1_000;
  await Promise.all(
    Array.from({ length: options.clients }, async () => {
      const call = createClient(platform.local.token);
      while (performance.now() < until) ms.push(await timed(() => start(call)));
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  const after = byKind(processTree(platform.pid));
  const cpuMs = (kind) => (after[kind].cpuMs - before[kind].cpuMs) / ms.length;
  await allEnded(database);
  // The first turn warms up.
  if (!turn) return;
  measured[name] ??= [];
  measured[name].push({
    'starts/s': ms.length / seconds,
    'p50 ms': median(ms),
    'p99 ms': quantile(ms, 0.99),
    'CPU ms, worker-api': cpuMs('worker-api'),
    'CPU ms, postgres': cpuMs('postgres'),
  });
}

async function allEnded(database) {
  for (;;) {
    const { rows } = await database.query(
      "SELECT EXISTS (SELECT FROM runs WHERE status IN ('queued', 'running')) AS busy",
    );
    if (!rows[0].busy) return;
    await sleep(200);
  }
}

function report() {
  console.log(`\n${options.clients} clients; medians of ${options.rounds} rounds`);
  console.table(
    Object.fromEntries(
      Object.entries(measured).map(([name, rounds]) => [
        name,
        Object.fromEntries(
          Object.keys(rounds[0]).map((column) => [column, round(median(rounds.map((one) => one[column])))]),
        ),
      ]),
    ),
  );
}
