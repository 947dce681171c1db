// The sandbox alone, without NATS or a service: sealed children of a zygote, warm sandboxes, and a cold bubblewrap for each run.
//   node bench/sandbox.mjs [runs]
// As root the sandboxes belong to another uid. Needs a build (npm run build).
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { IMPORTS } from './measure/imports.mjs';
import { processTree } from './measure/processes.mjs';
import { median, quantile } from './measure/stats.mjs';

const require = createRequire(import.meta.url);
const dist = '../services/executor/dist';
const { prepareLayout, removeOwnDirectory } = require(`${dist}/sandbox/layout.js`);
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
  warmBytes: 512 << 20,
  cgroups: openCgroups(),
  runAs: owner,
  recycleForks: 1e9,
  recycleMs: 1e9,
};

const TRIVIAL = 'def run(a, b):\n    return a + b\n';
const SOURCES = { trivial: TRIVIAL, imports: `${IMPORTS}${TRIVIAL}` };

function put(source) {
  const digest = createHash('sha256').update(source).digest('hex');
  const directory = path.join(layout.storeDir, digest);
  fs.mkdirSync(directory);
  fs.writeFileSync(path.join(directory, 'main.py'), source);
  fs.chmodSync(directory, 0o755);
  return digest;
}

const limits = { wallMs: 10_000, memoryBytes: 256 << 20, processes: 32 };
const hooks = {
  onStream() {},
  onLog() {},
  onProgress() {},
  onCost() {},
  openArtifact: async () => ({ refused: 'no' }),
};

async function once(sandbox, mode, code, n) {
  const spec = {
    code,
    deps: null,
    egress: false,
    tmpBytes: 64 << 20,
    cpuSeconds: 10,
    limits: { DATA: limits.memoryBytes, NPROC: 33, FSIZE: 64 << 20 },
  };
  const job = { op: 'run', entrypoint: 'main.py', inputs: { a: 1, b: n }, outputBytes: 1 << 20 };
  const began = performance.now();
  const child =
    (mode === 'warm' && (await warmChild(sandbox, spec))) ||
    (await sandbox.acquire(mode === 'process' ? mode : 'zygote', spec));
  const { outcome } = await runInChild(child, { spec, job, limits }, hooks);
  if (outcome.kind !== 'returned') throw new Error(mode + JSON.stringify(outcome));
  return performance.now() - began;
}

let fresh = 0;
async function warmChild(sandbox, spec) {
  const request = { workspaceId: 'w', spec, entrypoint: 'main.py', secretNames: [], pin: async () => () => {} };
  const { child: expected, reason } = sandbox.acquireWarm({ ...request, ...limits });
  if (reason) throw new Error(reason);
  const child = await expected;
  if (!child) fresh++;
  return child;
}

/** CPU of this process, of all below it, and of those that they have waited for. */
const cpuMs = () =>
  processTree(process.pid).reduce((sum, { cpuMs: own, childrenCpuMs }) => sum + own + childrenCpuMs, 0);

async function sustained(sandbox, mode, code, count) {
  const began = performance.now();
  const from = cpuMs();
  let n = 0;
  fresh = 0;
  await Promise.all(
    [1, 2, 3, 4].map(async () => {
      while (n < count) await once(sandbox, mode, code, n++);
    }),
  );
  const ms = performance.now() - began;
  return { perSecond: (n / ms) * 1000, cpu: (cpuMs() - from) / n, fresh: fresh / n };
}

const sandbox = await startSandbox(settings, 'zygote');
console.log(`${os.cpus().length} cores, Python ${interpreter.version}, cgroups ${settings.cgroups?.version ?? 'none'}`);
for (const [name, source] of Object.entries(SOURCES)) {
  const code = put(source);
  const times = { zygote: [], warm: [], process: [] };
  for (let n = 0; n < 20; n++) {
    await once(sandbox, 'zygote', code, n);
    await once(sandbox, 'warm', code, n);
    await sleep(20);
  }
  for (let n = 0; n < runs; n++) {
    await sandbox.pool.full();
    await sleep(25);
    times.zygote.push(await once(sandbox, 'zygote', code, n));
    await sleep(25);
    times.warm.push(await once(sandbox, 'warm', code, n));
    if (n % 4 === 0) times.process.push(await once(sandbox, 'process', code, n));
  }
  for (const [mode, label] of [
    ['zygote', 'a sealed child of the zygote'],
    ['warm', 'a warm sandbox'],
    ['process', 'a cold bubblewrap'],
  ]) {
    const { perSecond, cpu, fresh } = await sustained(sandbox, mode, code, mode === 'process' ? runs / 2 : runs * 4);
    console.log(
      `${name.padEnd(8)} ${label.padEnd(28)} p50 ${quantile(times[mode], 0.5).toFixed(2).padStart(7)} ms   p99 ${quantile(times[mode], 0.99).toFixed(2).padStart(7)} ms   ${perSecond.toFixed(0).padStart(4)} runs/s   ${cpu.toFixed(1).padStart(5)} CPU ms per run${mode === 'warm' ? `   ${(fresh * 100).toFixed(0)} % fresh` : ''}`,
    );
  }
  console.log(`${name}: warm to sealed ${(median(times.warm) / median(times.zygote)).toFixed(2)}`);
}
await sandbox.stop();
removeOwnDirectory(layout);
fs.rmSync(base, { recursive: true, force: true });
process.exit(0);
