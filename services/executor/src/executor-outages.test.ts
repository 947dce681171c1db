/** Tests runs during outages of NATS or of the executor itself. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { connectBus, INLINE_BYTES_MAX } from '@gantry/events';
import { captureLogs, reserveFreePort, startTestNats, waitUntil } from '@gantry/testing';
import { type ExecutorFixture, startTestExecutor } from './test/executor-fixture';
import { startFakeService } from './test/fake-service';
import { isRunning, listDescendants } from './test/processes';

describe('NATS killed and restarted', () => {
  let fixture: ExecutorFixture;
  beforeAll(async () => {
    fixture = await startTestExecutor();
  });
  afterAll(() => fixture.stop());

  test('neither loses nor repeats output of a run that continues meanwhile', async () => {
    const { service, nats } = fixture;
    const source =
      'import time\ndef run():\n    for n in range(60):\n        print(n, flush=True)\n        time.sleep(0.03)\n    return "all"\n';
    const id = service.enqueue(await service.uploadCode(source));
    await waitUntil(() => service.getView(id).log.length > 3);
    await nats.kill();
    await new Promise((resolve) => setTimeout(resolve, 700));
    service.forgetClaims();
    await nats.restart();
    const { finished, events, log } = await service.waitForFinished(id);
    expect(finished).toMatchObject({ status: 'completed', output: 'all' });
    expect(log).toEqual(Array.from({ length: 60 }, (_, n) => String(n)));
    expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: 62 }, (_, n) => n + 1));
  });

  test('holds a run at its step until the step is recorded, and does its work once', async () => {
    const { service, nats } = fixture;
    const source = `
import time
from gantry import context
def work():
    print("working", flush=True)
    return 7
def run():
    print("begun", flush=True)
    time.sleep(0.4)
    return context.step("work", work)
`;
    const id = service.enqueue(await service.uploadCode(source));
    await waitUntil(() => service.getView(id).log.includes('begun'));
    await nats.kill();
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(service.listSteps(id)).toEqual([]);
    service.forgetClaims();
    await nats.restart();
    const { finished, log } = await service.waitForFinished(id);
    expect(finished).toMatchObject({ status: 'completed', output: 7 });
    expect(log).toEqual(['begun', 'working']);
    expect(service.listSteps(id)).toEqual([{ ordinal: 1, kind: 'step', name: 'work', result: 7 }]);
  });

  test('keeps the result of a run that ended meanwhile until it is published, and claims again', async () => {
    const { service, nats } = fixture;
    const id = service.enqueue(
      await service.uploadCode('import time\ndef run():\n    time.sleep(0.5)\n    return "late"\n'),
    );
    await service.waitForStarted(id);
    await nats.kill();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    service.forgetClaims();
    await nats.restart();
    const { finished } = await service.waitForFinished(id);
    expect(finished.output).toBe('late');
    expect((await service.run('def run(): return 1')).finished.output).toBe(1);
  });
});

test('artifacts and large outputs wait for a service that restarts', async () => {
  const fixture = await startTestExecutor();
  const { service } = fixture;
  const source = `
from gantry import context
def run(value):
    print("begun", flush=True)
    if value == "artifact":
        context.artifact("a.txt", b"stored")
        return value
    return "x" * (${INLINE_BYTES_MAX} + 1)
`;
  const code = await service.uploadCode(source);
  const runDuringRestart = async (value: string) => {
    service.stopUploads();
    const id = service.enqueue(code, { inputs: { value } });
    await waitUntil(() => service.getView(id).log.includes('begun'));
    service.resumeUploads();
    return service.waitForFinished(id);
  };
  const artifact = await runDuringRestart('artifact');
  expect(artifact.finished).toMatchObject({ status: 'completed', output: 'artifact' });
  expect(service.objects.get(`${artifact.job.runId}/a.txt`)?.toString()).toBe('stored');
  const output = await runDuringRestart('output');
  expect(output.finished).toMatchObject({ status: 'completed', outputKey: `${output.job.runId}/output.json` });
  await fixture.stop();
});

test('draining returns runs that have not started, finishes others, and ends those that take too long', async () => {
  const fixture = await startTestExecutor({ slots: 2 });
  const { service, executor } = fixture;
  const short = service.enqueue(
    await service.uploadCode('import time\ndef run():\n    time.sleep(0.7)\n    return "done"\n'),
  );
  const long = service.enqueue(
    await service.uploadCode('import time\ndef run():\n    print("begun", flush=True)\n    time.sleep(60)\n'),
  );
  await waitUntil(() => service.getView(long).log.length > 0);
  await service.waitForStarted(short);
  const stopped = executor.stop(1_500);
  expect((await service.waitForFinished(short)).finished).toMatchObject({ status: 'completed', output: 'done' });
  expect((await service.waitForFinished(long)).finished).toMatchObject({
    status: 'failed',
    error: { code: 'executor_lost', message: expect.stringMatching(/stopped before the run finished/) },
  });
  await stopped;
  await waitUntil(() => service.statuses.at(-1)?.state === 'stopped');
  expect(service.countWaitingClaims()).toBe(0);
  await fixture.stop();
});

describe('the executor as a process', () => {
  /** Started as root it drops root, so its directory must be accessible to the other uid. */
  async function start(overrides: Record<string, string> = {}) {
    const nats = await startTestNats();
    const { log } = captureLogs();
    const bus = await connectBus({ ...nats.as('automation-api'), name: 'service', log });
    const service = await startFakeService(bus, nats);
    const dir = fs.mkdtempSync(path.join(process.env.GANTRY_TEST_DIR ?? '/tmp', 'executor-process-'));
    fs.chmodSync(dir, 0o755);
    const port = await reserveFreePort();
    const env = {
      PATH: process.env.PATH,
      NATS_URL: nats.url,
      NATS_CREDS: nats.newExecutor().creds,
      METRICS_PORT: String(port),
      HOST: '127.0.0.1',
      EXECUTOR_DIR: path.join(dir, 'x'),
      EXECUTOR_SOURCES: 'automation',
      EXECUTOR_SLOTS: '2',
      ...overrides,
    };
    const launch = () => {
      const child = spawn(
        process.execPath,
        ['-r', path.join(__dirname, 'test/from-source.cjs'), path.join(__dirname, 'main.ts')],
        {
          env,
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      const output = { text: '' };
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output.text += text));
      const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
      return { child, said: output, exited };
    };
    const close = async () => {
      await bus.nc.close();
      await service.stop();
      await nats.stop();
    };
    return { service, launch, port, close, dir: env.EXECUTOR_DIR };
  }

  test('drops root, serves metrics, and after kill -9 the next executor cleans up', async () => {
    const { service, launch, port, close, dir } = await start();
    const first = launch();
    await waitUntil(() => first.said.text.includes('executor is ready'));
    const status = fs.readFileSync(`/proc/${first.child.pid}/status`, 'utf8');
    expect(status).not.toMatch(/^Uid:\s+0|^Uid:\s+\d+\s+0/m);
    // The port opens a moment after the first claim.
    const metrics = await waitUntil(() => fetch(`http://127.0.0.1:${port}/metrics`));
    expect(await metrics.text()).toMatch(/gantry_executor_slots 2/);
    const id = service.enqueue(
      await service.uploadCode('import time\ndef run():\n    print("begun", flush=True)\n    time.sleep(60)\n'),
    );
    await waitUntil(() => service.getView(id).log.length > 0);
    const pids = listDescendants(first.child.pid ?? 0).map(({ pid }) => pid);
    first.child.kill('SIGKILL');
    await first.exited;
    await waitUntil(() => !pids.some(isRunning));
    service.forgetClaims();

    const second = launch();
    await waitUntil(() => second.said.text.includes('executor is ready'));
    expect(fs.readdirSync(path.join(dir, 'run')).filter((name) => name.startsWith(`${first.child.pid}-`))).toEqual([]);
    expect((await service.run('def run(): return "second"')).finished.output).toBe('second');
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
    expect(fs.readdirSync(path.join(dir, 'run'))).toEqual([]);
    await waitUntil(() => service.statuses.at(-1)?.state === 'stopped');
    await close();
  });

  test('refuses to run without a sandbox, and reports every invalid setting', async () => {
    const { launch, close } = await start({
      EXECUTOR_UNSANDBOXED: 'i-know',
      EXECUTOR_SLOTS: 'many',
      METRICS_PORT: '-1',
    });
    const { exited, said: output } = launch();
    expect(await exited).toBe(78);
    expect(output.text).toMatch(/there is no unsandboxed mode/);
    expect(output.text).toMatch(/EXECUTOR_SLOTS/);
    expect(output.text).toMatch(/METRICS_PORT/);
    await close();
  });

  test('names a missing program, and how to install it', async () => {
    const { launch, close } = await start({ BWRAP: '/nonexistent/bwrap' });
    const { exited, said: output } = launch();
    expect(await exited).toBe(1);
    expect(output.text).toMatch(/apt-get install bubblewrap/);
    await close();
  });
});
