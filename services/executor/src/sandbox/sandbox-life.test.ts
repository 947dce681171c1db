/** Tests zygotes that crash, hang, grow old, or cannot be built; and leftovers of a killed executor. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { waitUntil } from '@gantry/testing';
import { isRunning, listDescendants } from '../test/processes';
import { buildTestSettings, startTestSandbox, type TestSandbox, testOwner } from '../test/sandbox-fixture';
import { explainSandboxError } from './explain-sandbox-error';
import { prepareLayout } from './layout';
import { startSandbox } from './sandbox';

const fixtures: TestSandbox[] = [];
async function createFixture(...args: Parameters<typeof startTestSandbox>) {
  const fixture = await startTestSandbox(...args);
  fixtures.push(fixture);
  return fixture;
}
afterEach(async () => {
  for (const { sandbox } of fixtures.splice(0)) await sandbox.stop();
});

test('when the zygote crashes its runs fail with a reason, its processes end, and a new one starts', async () => {
  const { sandbox, run } = await createFixture();
  const pool = sandbox.pool;
  const zygote = pool?.current?.pid ?? 0;
  const pids = listDescendants(zygote).map(({ pid }) => pid);
  let resolveBegun!: () => void;
  const hasBegun = new Promise<void>((resolve) => {
    resolveBegun = resolve;
  });
  const running = run('import time\ndef run():\n    print("up", flush=True)\n    time.sleep(30)\n', {
    hooks: { onStream: () => resolveBegun() },
  });
  await hasBegun;
  process.kill(zygote, 'SIGKILL');
  expect((await running).value).toMatch(/zygote ended/);
  await waitUntil(() => !pids.some(isRunning));
  await waitUntil(() => pool?.idle.length === 4 && pool.current?.pid !== zygote);
  expect((await run('def run(): return 1\n')).value).toBe(1);
});

test('an exit that is reported late is the reason that a run gets, and not the channel that it closed', async () => {
  const { sandbox, run } = await createFixture();
  const zygote = sandbox.pool?.current?.pid ?? 0;
  const code = 'import os, time\ndef run():\n    print("up", flush=True)\n    time.sleep(1)\n    os._exit(3)\n';
  const running = run(code, { hooks: { onStream: () => process.kill(zygote, 'SIGSTOP') } });
  await setTimeout(2_500);
  process.kill(zygote, 'SIGCONT');
  expect((await running).value).toMatch(/exit code 3 before returning a result/);
});

test('a hanging zygote is detected and replaced, and the runs that waited for it succeed', async () => {
  const { sandbox, run } = await createFixture();
  const stuck = sandbox.pool?.current?.pid ?? 0;
  process.kill(stuck, 'SIGSTOP');
  const values = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => run(`def run(): return ${n}\n`)));
  expect(values.map(({ value }) => value)).toEqual([1, 2, 3, 4, 5, 6]);
  await waitUntil(() => sandbox.pool?.current?.pid !== stuck);
});

test('a process that takes seconds to end after its kill takes no other run with it', async () => {
  const { sandbox, run } = await createFixture();
  const { pool } = sandbox;
  const zygote = pool?.current?.pid ?? 0;
  const other = run('import time\ndef run():\n    time.sleep(4)\n    return "finished"\n');
  await waitUntil(() => pool?.idle.length === 4);
  const [killed] = pool?.idle ?? [];
  process.kill(zygote, 'SIGSTOP');
  killed?.kill('a test');
  await setTimeout(2_000);
  process.kill(zygote, 'SIGCONT');
  expect((await other).value).toBe('finished');
  expect(killed?.state).toBe('dead');
  expect(pool?.current?.pid).toBe(zygote);
});

test('the pool is full again after more concurrent runs than ready processes', async () => {
  const { sandbox, run } = await createFixture({ slots: 2 });
  const values = await Promise.all(Array.from({ length: 12 }, (_, n) => run(`def run(): return ${n}\n`)));
  expect(values.map(({ value }) => value)).toEqual(Array.from({ length: 12 }, (_, n) => n));
  await waitUntil(() => sandbox.pool?.idle.length === 2);
});

test('replacing the zygote under load loses no run', async () => {
  const { sandbox, run } = await createFixture({ recycleForks: 20 });
  const seen = new Set<number | undefined>();
  const worker = async () => {
    while (seen.size < 4) {
      expect((await run('def run(): return 1\n')).value).toBe(1);
      seen.add(sandbox.pool?.current?.pid);
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
});

test('without bubblewrap, or where no sandbox can be built, the error names the remedy', async () => {
  const missing = await startSandbox(buildTestSettings({ bwrap: '/nonexistent/bwrap' }), 'zygote').catch((err) => err);
  expect(explainSandboxError(missing)).toMatch(/apt-get install bubblewrap/);
  const refused = await startSandbox(buildTestSettings({ readOnlyPaths: ['/nonexistent'] }), 'zygote').catch(
    (err) => err,
  );
  expect(refused.message).toMatch(/nonexistent/);
});

test('kill -9 of the executor leaves no process, and the next one removes its directories and groups', async () => {
  const orphan = spawn(
    process.execPath,
    ['-r', path.join(__dirname, '../test/from-source.cjs'), path.join(__dirname, '../test/orphan.ts')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const output = await new Promise<string>((resolve) => orphan.stdout.once('data', (text) => resolve(String(text))));
  const { pids, runDir } = JSON.parse(output) as { pids: number[]; runDir: string };
  expect(pids.length).toBeGreaterThan(5);
  const listLeftovers = () => fs.readdirSync(runDir).filter((name) => name.startsWith(`${orphan.pid}-`));
  expect(listLeftovers()).not.toEqual([]);
  orphan.kill('SIGKILL');
  await waitUntil(() => !pids.some(isRunning));
  await waitUntil(() => !isRunning(orphan.pid ?? 0));
  prepareLayout(path.dirname(runDir), testOwner);
  expect(listLeftovers()).toEqual([]);
  await createFixture();
  const groups = ['memory', 'pids']
    .map((controller) => `/sys/fs/cgroup/${controller}/gantry-runs-${testOwner?.uid ?? process.geteuid?.()}`)
    .filter((dir) => fs.existsSync(dir));
  const listLeftoverGroups = () =>
    groups.flatMap((dir) => fs.readdirSync(dir)).filter((name) => name.startsWith(`${orphan.pid}-`));
  await waitUntil(() => listLeftoverGroups().length === 0);
});
