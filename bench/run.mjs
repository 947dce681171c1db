/**
 * Measures Gantry beside what it is compared with, in one run:
 *
 *   npm run bench [-- --runs 400 --seconds 30 --growth 5000 --idle 60]
 *
 * Starts a platform of its own (free port, temporary data) and prints medians and ratios. Nothing here asserts: machines
 * differ, ratios hold.
 */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, deploy } from './measure/client.mjs';
import { IMPORTS } from './measure/imports.mjs';
import { parseOptions } from './measure/options.mjs';
import { startPlatform } from './measure/platform.mjs';
import { byKind, processTree } from './measure/processes.mjs';
import { median, printLatencies, quantile, round, timed, timeInterleaved } from './measure/stats.mjs';
import { zipOf } from './measure/zip.mjs';

/** What a start needed for a moment is given back by then. */
const IDLE_MS = 20_000;

const options = parseOptions({ runs: 400, clients: 10, seconds: 30, growth: 5_000, idle: 60 });

const MANIFEST = {
  name: 'Add',
  inputs: [
    { name: 'a', type: 'integer' },
    { name: 'b', type: 'integer' },
  ],
  outputs: ['sum'],
};
const CODE = 'def run(a, b):\n    return {"sum": a + b}\n';
const SCRIPT = 'import json, sys\ni = json.load(sys.stdin)\njson.dump({"sum": i["a"] + i["b"]}, sys.stdout)\n';

const platform = await startPlatform();
const script = path.join(platform.dir, 'add.py');
writeFileSync(script, SCRIPT);
try {
  const { local } = platform;
  const id = await deploy(local, await zipOf({ 'main.py': CODE }), MANIFEST);
  const importing = await deploy(local, await zipOf({ 'main.py': `${IMPORTS}${CODE}` }), MANIFEST);
  const runnerOf = (automation) => async (call, a) => {
    const url = `${local.dashboard_url}/api/automations/${automation}/run`;
    const answer = await call('POST', url, { inputs: { a, b: 1 }, wait: 10 });
    if (answer.result?.outputs?.sum !== a + 1) throw new Error(JSON.stringify(answer));
  };
  const run = runnerOf(id);
  await sleep(IDLE_MS);
  await memoryIdle(platform);
  if (options.idle) await cpuIdle(platform);
  await sustained('First seconds after the start, while V8 still compiles', run, local, platform);
  await latency({ run, runImporting: runnerOf(importing) }, local, id);
  await sustained('Sustained', run, local, platform);
  await growth(run, local, platform);
} finally {
  await platform.stop();
}

function bareScript(a) {
  return new Promise((resolve, reject) => {
    const child = execFile('/usr/bin/python3', [script], (err, stdout) => {
      if (err || JSON.parse(stdout).sum !== a + 1) reject(err ?? new Error(stdout));
      else resolve();
    });
    child.stdin.end(JSON.stringify({ a, b: 1 }));
  });
}

async function latency({ run, runImporting }, local, id) {
  const call = createClient(local.token);
  const steps = {
    'bare /usr/bin/python3, same JSON': (i) => bareScript(i),
    'run and wait, through the gateway': (i) => run(call, i),
    'the same of a module with imports': (i) => runImporting(call, i),
    '  of it: gateway and service, no work (GET /healthz)': () => call('GET', `${local.dashboard_url}/healthz`),
    '  of it: with credential, validation, one read (GET automation)': () =>
      call('GET', `${local.dashboard_url}/api/automations/${id}`),
  };
  const ms = await timeInterleaved(steps, options.runs);
  console.log('\nLatency, one client, interleaved');
  printLatencies(ms);
  const [bare, gantry, importing] = Object.values(ms);
  console.log(
    `run and wait / bare script: ${round(median(gantry) / median(bare))} at p50; p99 is ${round(quantile(gantry, 0.99) / median(gantry))} x p50`,
  );
  console.log(`with imports / without: ${round(median(importing) / median(gantry))} at p50`);
}

async function sustained(title, run, local, platform) {
  const { seconds } = options;
  const before = byKind(processTree(platform.pid));
  const ownBefore = process.cpuUsage();
  const latencies = [];
  const began = performance.now();
  const until = began + seconds * 1000;
  await Promise.all(
    Array.from({ length: options.clients }, async () => {
      const call = createClient(local.token);
      for (let i = 0; performance.now() < until; i++) latencies.push(await timed(() => run(call, i)));
    }),
  );
  const took = (performance.now() - began) / 1000;
  const own = process.cpuUsage(ownBefore);
  const after = byKind(processTree(platform.pid));
  console.log(
    `\n${title}, ${options.clients} clients, ${round(took, 1)} s: ${round(latencies.length / took, 1)} runs/s`,
  );
  printLatencies({ 'run and wait': latencies });
  const perRun = Object.fromEntries(
    Object.entries(after).map(([kind, { cpuMs }]) => [
      kind,
      round((cpuMs - (before[kind]?.cpuMs ?? 0)) / latencies.length),
    ]),
  );
  perRun['this client'] = round((own.user + own.system) / 1000 / latencies.length);
  console.log('CPU ms per run, by process');
  console.table(perRun);
}

async function memoryIdle(platform) {
  const kinds = byKind(processTree(platform.pid));
  const total = { processes: 0, rssMB: 0, pssMB: 0 };
  for (const kind of Object.values(kinds)) for (const name of Object.keys(total)) total[name] += kind[name];
  console.log('\nMemory of the idle platform (PSS shares pages out among those who use them)');
  console.table(
    Object.fromEntries(
      Object.entries({ ...kinds, total }).map(([kind, { processes, rssMB, pssMB }]) => [
        kind,
        { processes, 'RSS MB': round(rssMB, 0), 'PSS MB': round(pssMB, 0) },
      ]),
    ),
  );
}

async function cpuIdle(platform) {
  const seconds = options.idle;
  const before = byKind(processTree(platform.pid));
  await sleep(seconds * 1000);
  const after = byKind(processTree(platform.pid));
  const percent = {};
  for (const [kind, { cpuMs }] of Object.entries(after))
    percent[kind] = (cpuMs - (before[kind]?.cpuMs ?? 0)) / seconds / 10;
  percent.total = Object.values(percent).reduce((sum, one) => sum + one, 0);
  console.log(`\nCPU of the idle platform over ${seconds} s, % of one core`);
  console.table(Object.fromEntries(Object.entries(percent).map(([kind, value]) => [kind, round(value)])));
}

async function growth(run, local, platform) {
  const count = options.growth;
  const executorMb = () => byKind(processTree(platform.pid)).executor?.rssMB ?? 0;
  const sizes = [];
  for (let done = 0; done <= count; done += 500) {
    sizes.push(round(executorMb(), 1));
    if (done === count) break;
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const call = createClient(local.token);
        for (let i = 0; i < 50; i++) await run(call, i);
      }),
    );
  }
  console.log(`\nExecutor over ${count} runs, RSS in MB every 500: ${sizes.join(' ')}`);
}
