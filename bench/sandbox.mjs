// The sandbox alone, without NATS or a service: sealed children of a zygote beside a cold bubblewrap for each run.
//   node bench/sandbox.mjs [runs]
// As root the sandboxes belong to another uid. Needs a build (npm run build).
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, quantile } from './measure/stats.mjs';

const require = createRequire(import.meta.url);
const dist = '../services/executor/dist';
const { prepareLayout, removeOwn } = require(`${dist}/sandbox/layout.js`);
const { findInterpreter } = require(`${dist}/runners/python/interpreter.js`);
const { prepareCgroups, openCgroups } = require(`${dist}/sandbox/cgroup.js`);
const { startSandbox } = require(`${dist}/sandbox/sandbox.js`);
const { runInChild } = require(`${dist}/runners/python/run-in-child.js`);

const runs = Number(process.argv[2] ?? 300);
const owner = process.getuid() === 0 ? { uid: 64_738, gid: 64_738 } : null;
const base = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-bench-sandbox-'));
fs.chmodSync(base, 0o755);
if (owner) prepareCgroups(owner.uid, owner.gid);
const layout = prepareLayout(path.join(base, 'x'), owner);
const interpreter = findInterpreter(process.env.PYTHON);
const settings = {
  ...layout,
  bwrap: process.env.BWRAP ?? 'bwrap',
  python: interpreter.executable,
  readOnlyPaths: ['/usr', ...interpreter.prefixes],
  slots: 4,
  cgroups: openCgroups(),
  runAs: owner,
  recycleForks: 1e9,
  recycleMs: 1e9,
};

const source = 'def run(a, b):\n    return a + b\n';
const code = createHash('sha256').update(source).digest('hex');
fs.mkdirSync(path.join(layout.storeDir, code));
fs.writeFileSync(path.join(layout.storeDir, code, 'main.py'), source);
fs.chmodSync(path.join(layout.storeDir, code), 0o755);

const limits = { wallMs: 10_000, memoryBytes: 256 << 20, processes: 32 };
const hooks = {
  onStream() {},
  onLog() {},
  onProgress() {},
  onCost() {},
  openArtifact: async () => ({ refused: 'no' }),
};

async function once(sandbox, isolation, n) {
  const spec = {
    code,
    deps: null,
    egress: false,
    tmpBytes: 64 << 20,
    cpuSeconds: 10,
    limits: { DATA: limits.memoryBytes, NPROC: 32, FSIZE: 64 << 20 },
  };
  const job = { op: 'run', entrypoint: 'main.py', inputs: { a: 1, b: n }, outputBytes: 1 << 20 };
  const began = performance.now();
  const child = await sandbox.acquire(isolation, spec);
  const { outcome } = await runInChild(child, { spec, job, limits }, hooks);
  if (outcome.kind !== 'returned') throw new Error(JSON.stringify(outcome));
  return performance.now() - began;
}

/** CPU of this process, of what it has waited for (cold sandboxes), and of the zygote and its children. */
function cpuMs(sandbox) {
  const of = (pid) => {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const ticks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number);
    return ticks.reduce((sum, one) => sum + one, 0) * 10;
  };
  return of(process.pid) + of(sandbox.pool.current.pid);
}

async function sustained(sandbox, isolation, count) {
  const began = performance.now();
  const from = cpuMs(sandbox);
  let n = 0;
  await Promise.all(
    [1, 2, 3, 4].map(async () => {
      while (n < count) await once(sandbox, isolation, n++);
    }),
  );
  const ms = performance.now() - began;
  return { perSecond: (n / ms) * 1000, cpu: (cpuMs(sandbox) - from) / n };
}

const sandbox = await startSandbox(settings, 'zygote');
for (let n = 0; n < 20; n++) await once(sandbox, 'zygote', n);
const warm = [];
const cold = [];
for (let n = 0; n < runs; n++) {
  await sandbox.pool.full();
  await sleep(3);
  warm.push(await once(sandbox, 'zygote', n));
  if (n % 4 === 0) cold.push(await once(sandbox, 'process', n));
}
const row = (name, times, { perSecond, cpu }) =>
  console.log(
    `${name.padEnd(28)} p50 ${quantile(times, 0.5).toFixed(2).padStart(7)} ms   p99 ${quantile(times, 0.99).toFixed(2).padStart(7)} ms   ${perSecond.toFixed(0).padStart(4)} runs/s   ${cpu.toFixed(1).padStart(5)} CPU ms per run`,
  );
console.log(`${os.cpus().length} cores, Python ${interpreter.version}, cgroups ${settings.cgroups?.version ?? 'none'}`);
row('sealed children of a zygote', warm, await sustained(sandbox, 'zygote', runs * 4));
row('cold bubblewrap', cold, await sustained(sandbox, 'process', Math.ceil(runs / 2)));
console.log(`latency, cold to sealed: ${(median(cold) / median(warm)).toFixed(0)} times`);
await sandbox.stop();
removeOwn(layout);
fs.rmSync(base, { recursive: true, force: true });
process.exit(0);
