import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { createTemporaryDir, waitUntil } from '@gantry/testing';
import { isAlive, type ProcessSpec, readStartTime } from './process';
import { type Supervisor, startSupervisor } from './supervise';

const supervisors: Supervisor[] = [];
afterEach(async () => {
  for (const supervisor of supervisors.splice(0)) await supervisor.stop();
});

/**
 * A process that runs the script, and then writes its pid to a file: it counts as ready with its signal handlers in
 * place.
 */
function node(name: string, dir: string, script: string): ProcessSpec & { pid(): number } {
  const pidFile = path.join(dir, `${name}.pid`);
  const pid = () => Number(fs.readFileSync(pidFile, 'utf8'));
  return {
    name,
    command: process.execPath,
    args: ['-e', `${script}; require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))`],
    env: {},
    isReady: async () => pid() > 0,
    pid,
  };
}
const idle = 'setInterval(() => {}, 1000)';

async function supervisor(dir: string): Promise<{ supervisor: Supervisor; shown: string[] }> {
  const shown: string[] = [];
  const started = await startSupervisor({ dir, show: (line) => shown.push(line) });
  supervisors.push(started);
  return { supervisor: started, shown };
}

test('a process that is killed is restarted, and the terminal says so', async () => {
  const dir = createTemporaryDir('supervise');
  const { supervisor: keeper, shown } = await supervisor(dir);
  const spec = node('victim', dir, idle);
  await keeper.start(spec);
  const first = spec.pid();
  process.kill(first, 'SIGKILL');
  await waitUntil(() => spec.pid() !== first && isAlive(spec.pid()));
  expect(shown[0]).toContain('victim exited with SIGKILL; restarting it');
});

test('a process that ends while the disk is full is restarted, and recorded once there is space', async () => {
  const dir = createTemporaryDir('supervise');
  const { supervisor: keeper } = await supervisor(dir);
  const spec = node('victim', dir, idle);
  await keeper.start(spec);
  const first = spec.pid();
  const record = path.join(dir, 'processes.json');
  // Every write to this device fails as on a full disk.
  fs.symlinkSync('/dev/full', `${record}.new`);
  process.kill(first, 'SIGKILL');
  await waitUntil(() => spec.pid() !== first && isAlive(spec.pid()));
  fs.rmSync(`${record}.new`);
  const readRecordedPid = () => JSON.parse(fs.readFileSync(record, 'utf8')).victim?.pid;
  await waitUntil(() => readRecordedPid() === spec.pid());
});

test('a process that is restarted is ready again, once, and nothing is shown as a failure', async () => {
  const dir = createTemporaryDir('supervise');
  const { supervisor: keeper, shown } = await supervisor(dir);
  const [spec, other] = [node('service', dir, idle), node('other', dir, idle)];
  await keeper.start(spec, other);
  const [first, untouched] = [spec.pid(), other.pid()];
  fs.rmSync(path.join(dir, 'service.pid'));
  await keeper.restart('service');
  expect(isAlive(first)).toBe(false);
  expect(isAlive(spec.pid())).toBe(true);
  expect(other.pid()).toBe(untouched);
  expect(shown).toEqual([]);
  process.kill(spec.pid(), 'SIGKILL');
  await waitUntil(() => shown.length > 0);
  expect(shown[0]).toContain('service exited with SIGKILL; restarting it');
});

test('stopping goes in reverse order and waits for each step', async () => {
  const dir = createTemporaryDir('supervise');
  const { supervisor: keeper } = await supervisor(dir);
  const order = path.join(dir, 'order');
  const slow = (name: string) =>
    node(
      name,
      dir,
      `${idle}; process.on('SIGTERM', () => setTimeout(() => {
        require('fs').appendFileSync(${JSON.stringify(order)}, '${name} '); process.exit(0) }, 50))`,
    );
  await keeper.start(slow('database'));
  await keeper.start(slow('service'));
  await keeper.start(slow('gateway'));
  await keeper.stop();
  expect(fs.readFileSync(order, 'utf8')).toBe('gateway service database ');
});

test.each([
  ['ignores the request to stop', 'SIGTERM', "process.on('SIGTERM', () => {});"],
  ['is killed', 'SIGKILL', ''],
] as const)('a process that %s takes its children with it', async (_, signal, prelude) => {
  const dir = createTemporaryDir('supervise');
  const { supervisor: keeper } = await supervisor(dir);
  const child = path.join(dir, 'child');
  const parent = node(
    'parent',
    dir,
    `${prelude}
     const c = require('child_process').spawn('sleep', ['600']);
     require('fs').writeFileSync(${JSON.stringify(child)}, String(c.pid)); ${idle}`,
  );
  await keeper.start({ ...parent, stopTimeoutMs: 100 });
  const pid = await waitUntil(() => Number(fs.readFileSync(child, 'utf8')));
  if (signal === 'SIGKILL') process.kill(parent.pid(), signal);
  else await keeper.stop();
  await waitUntil(() => !isAlive(pid));
});

test('a process that fails to start is an error that carries its output', async () => {
  const dir = createTemporaryDir('supervise');
  const { supervisor: keeper } = await supervisor(dir);
  const broken = {
    ...node('broken', dir, "console.error('no such setting'); process.exit(3)"),
    isReady: async () => false,
  };
  await expect(keeper.start(broken)).rejects.toThrow('broken exited while starting:\nno such setting');
});

test('an optional process that fails to start is an error that is returned, and it is started again', async () => {
  const dir = createTemporaryDir('supervise');
  const { supervisor: keeper } = await supervisor(dir);
  const installed = path.join(dir, 'installed');
  const script = `if (!require('fs').existsSync(${JSON.stringify(installed)})) throw new Error('a part is missing'); ${idle}`;
  const spec = { ...node('optional', dir, script), isOptional: true };
  expect(await keeper.start(spec, node('service', dir, idle))).toEqual([
    expect.objectContaining({ message: expect.stringContaining('a part is missing') }),
  ]);
  fs.writeFileSync(installed, '');
  await waitUntil(() => isAlive(spec.pid()));
});

test('warnings of a service reach the terminal in short form, everything its log file', async () => {
  const dir = createTemporaryDir('supervise');
  const { supervisor: keeper, shown } = await supervisor(dir);
  const lines = [
    { level: 30, msg: 'all is well' },
    { level: 50, msg: 'it broke', err: { message: 'disk full', stack: '...' } },
  ];
  const write = lines.map((line) => `console.log(${JSON.stringify(JSON.stringify(line))});`).join('');
  await keeper.start(node('talker', dir, write + idle));
  await waitUntil(() => shown.length === 1);
  expect(shown).toEqual(['talker: error: it broke (disk full)']);
  await keeper.stop();
  expect(fs.readFileSync(path.join(dir, 'logs/talker.log'), 'utf8')).toContain('all is well');
});

test('leftover processes of a killed launcher are stopped by the next one, and a second launcher beside a running one is refused', async () => {
  const dir = createTemporaryDir('supervise');
  const orphan = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  const launcher = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  const readRecordedPid = (pid = 0) => ({ pid, startTime: readStartTime(pid) });
  const record = path.join(dir, 'processes.json');
  // A number that meanwhile belongs to another process: same pid, another start.
  const stranger = { ...readRecordedPid(process.pid), startTime: 'long ago' };
  const left = { launcher: readRecordedPid(launcher.pid), orphan: readRecordedPid(orphan.pid), stranger };
  fs.writeFileSync(record, JSON.stringify(left));

  await expect(startSupervisor({ dir, show: () => {} })).rejects.toThrow(
    `already running here as process ${launcher.pid}`,
  );
  expect(isAlive(orphan.pid ?? 0)).toBe(true);

  launcher.kill('SIGKILL');
  await waitUntil(() => !isAlive(launcher.pid ?? 0));
  await supervisor(dir);
  expect(isAlive(orphan.pid ?? 0)).toBe(false);
});
