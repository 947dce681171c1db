/**
 * What validation costs beside another checkout that has been built:   node bench/validation.mjs --before ../other [--rounds 20]
 *
 * Each side is a process with the worker surface alone: no database, and handlers that answer at once. Both get the same
 * requests in turns. CPU is that of the process, with everything that a request costs it.
 */
import { fork } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from './measure/client.mjs';
import { parseOptions } from './measure/options.mjs';
import { median, round } from './measure/stats.mjs';

const options = parseOptions({ before: undefined, rounds: 20 });
if (!options.before) throw new Error('--before names a checkout to compare with');

const PER_ROUND = 200;
const FILES = Array.from({ length: 10 }, (_, n) => ({ path: `part_${n}.py`, content: 'x = 1\n'.repeat(150) }));
const REQUESTS = {
  'GET, a path alone': ['GET', '/api/workers/price-watch'],
  'GET, five parameters': ['GET', '/api/runs?worker_id=price-watch&status=failed&trigger=schedule&limit=20&offset=40'],
  'POST, a small body': ['POST', '/api/workers/price-watch/runs', { inputs: { url: 'https://example.com' } }],
  'POST, a body of 9 KB': ['POST', '/api/workers', { name: 'Price watch', files: FILES }],
};

const here = fileURLToPath(new URL('..', import.meta.url));
const sides = { before: path.resolve(options.before), after: here };
const running = {};
for (const [side, checkout] of Object.entries(sides)) running[side] = await start(checkout);
try {
  const cpu = {};
  for (let n = 0; n < options.rounds; n++) {
    // Forth and back, so that neither always comes after the other.
    for (const side of n % 2 ? ['after', 'before'] : ['before', 'after']) {
      for (const [name, request] of Object.entries(REQUESTS)) {
        const spent = await cpuMsPerRequest(running[side], request);
        cpu[name] ??= { before: [], after: [] };
        cpu[name][side].push(spent);
      }
    }
  }
  console.log(`\nCPU ms per request, medians of ${options.rounds} rounds of ${PER_ROUND}`);
  console.table(
    Object.fromEntries(
      Object.entries(cpu).map(([name, { before, after }]) => [
        name,
        {
          before: round(median(before), 3),
          after: round(median(after), 3),
          more: round(median(after) - median(before), 3),
        },
      ]),
    ),
  );
  const rows = {};
  for (const side of Object.keys(sides))
    rows[side] = { ...running[side].started, ...(await running[side].measure('memory')) };
  console.table(rows);
} finally {
  for (const { child } of Object.values(running)) child.kill();
}

async function start(checkout) {
  const began = performance.now();
  const child = fork(new URL('measure/surface.mjs', import.meta.url), [checkout], { execArgv: ['--expose-gc'] });
  const receive = () => new Promise((resolve) => child.once('message', resolve));
  const measure = (what) => {
    const received = receive();
    child.send(what);
    return received;
  };
  const { port } = await receive();
  const readyMs = performance.now() - began;
  const { rssMB } = await measure('memory');
  const started = { 'ready ms': round(readyMs, 0), 'RSS MB when ready': rssMB };
  const side = { child, measure, started, address: `http://127.0.0.1:${port}`, call: createClient('bench') };
  // Each loads or compiles what none before has needed.
  for (const [name, request] of Object.entries(REQUESTS))
    started[`CPU ms, first ${name}`] = round(await cpuMsPerRequest(side, request, 1), 0);
  return side;
}

async function cpuMsPerRequest({ call, address, measure }, [method, url, body], count = PER_ROUND) {
  const { cpuMs: before } = await measure('cpu');
  for (let n = 0; n < count; n++) await call(method, address + url, body);
  const { cpuMs: after } = await measure('cpu');
  return (after - before) / count;
}
