/**
 * Runs the suite again and again beside busy loops, its tests in another order each time, to find what is flaky.
 *
 *     npm run test:soak                                    five times the whole suite, beside four loops
 *     npm run test:soak -- --runs=20 --loops=4 changes     twenty times the suites whose path matches
 *     npm run test:soak -- --runs=1 --loops=0 --delays     once, with messages that arrive late and in other orders
 *
 * Output of each run goes to a file of its own. Ends with 1 if a run failed.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const { values, positionals } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    loops: { type: 'string', default: '4' },
    delays: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

const env = { ...process.env };
if (values.delays) {
  env.NODE_OPTIONS = `--require=${path.join(root, 'packages/testing/jest/delay-reads.cjs')} ${env.NODE_OPTIONS ?? ''}`;
  env.BROWSER_LATENCY_MS ??= '500';
}
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-soak-'));
const loops = Array.from({ length: Number(values.loops) }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
);
const stopLoops = () => {
  for (const loop of loops) loop.kill('SIGKILL');
};
process.once('exit', stopLoops);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** @returns whether every test passed */
async function runSuite(number) {
  const seed = randomInt(2 ** 31);
  const file = path.join(dir, `run-${number}-seed-${seed}.log`);
  const startedAt = Date.now();
  const child = spawn('npm', ['test', '--', '--randomize', `--seed=${seed}`, ...positionals], {
    cwd: root,
    env,
    stdio: ['ignore', fs.openSync(file, 'a'), fs.openSync(file, 'a')],
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
  const output = fs.readFileSync(file, 'utf8');
  const failures = [...new Set(output.match(/^ {2}● (?!Console).*$/gm))];
  process.stdout.write(`run ${number}, seed ${seed}: ${minutes} min, ${output.trimEnd().split('\n').at(-1)}\n`);
  for (const failure of failures) process.stdout.write(`${failure}\n`);
  if (code !== 0) process.stdout.write(`  ${file}\n`);
  return code === 0;
}

let passed = 0;
const runs = Number(values.runs);
for (let number = 1; number <= runs; number++) if (await runSuite(number)) passed++;
stopLoops();
process.stdout.write(`${passed} of ${runs} runs passed beside ${loops.length} busy loops\n`);
process.exitCode = passed === runs ? 0 : 1;
