/** The executor against a real NATS server and a service that follows the protocol. */
import { createHash } from 'node:crypto';
import { INLINE_BYTES_MAX, MESSAGE_BYTES_MAX } from '@gantry/events';
import { buildRawZip, waitUntil } from '@gantry/testing';
import { setupTestExecutor } from './test/executor-fixture';

const fixture = setupTestExecutor();

const SLEEP = 'import time\ndef run():\n    print("begun", flush=True)\n    time.sleep(30)\n';

test('a run is claimed, started, logged and finished, numbered without gaps', async () => {
  const { service } = fixture;
  const { events, finished, log } = await service.run(
    'def run(a, b):\n    print("adding")\n    return {"sum": a + b}',
    {
      inputs: { a: 1, b: 2 },
    },
  );
  expect(events.map(({ type }) => type)).toEqual(['started', 'log', 'finished']);
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(log).toEqual(['adding']);
  expect(finished).toMatchObject({ status: 'completed', output: { sum: 3 } });
  expect(finished.usage.wallMs).toBeGreaterThan(0);
  expect(finished.usage.cpuMs).toBeGreaterThan(0);
  expect(finished.usage.maxRssBytes).toBeGreaterThan(1 << 20);
});

test('there is one outstanding claim per free slot, and a freed slot is claimed again', async () => {
  const { service } = fixture;
  await waitUntil(() => service.countWaitingClaims() === 2);
  const code = await service.uploadCode(SLEEP);
  const ids = [service.enqueue(code), service.enqueue(code)];
  await Promise.all(ids.map((id) => service.waitForStarted(id)));
  expect(service.countWaitingClaims()).toBe(0);
  for (const id of ids) fixture.service.cancel(id);
  await Promise.all(ids.map((id) => service.waitForFinished(id)));
  await waitUntil(() => service.countWaitingClaims() === 2);
});

test('a claim with an empty reply is renewed', async () => {
  const { service } = fixture;
  const before = service.claims.length;
  await waitUntil(() => service.claims.length > before, { everyMs: 50 });
  await waitUntil(() => service.countWaitingClaims() >= 2);
});

test('a run for an unknown runner is returned, and frees its slot', async () => {
  const { service } = fixture;
  const { finished, events } = await service.run('def run(): return 1', { runner: 'other' });
  expect(finished).toMatchObject({ status: 'returned' });
  expect(events).toHaveLength(1);
  await waitUntil(() => service.countWaitingClaims() === 2);
  expect((await service.run('def run(): return 1')).finished).toMatchObject({ status: 'completed', output: 1 });
});

test('64 KB of secrets reach a run, and one byte more is refused by the executor too', async () => {
  const { service } = fixture;
  const source = 'import os\ndef run(): return [len(os.environ["A"]), len(os.environ["B"]), os.environ["A"]]';
  const secrets = { A: 'ab%/'.repeat(8_192), B: 'c'.repeat(32_768) };
  const fits = await service.run(source, { secrets });
  expect(fits.finished.output).toEqual([32_768, 32_768, '***']);
  const over = await service.run(source, { secrets: { ...secrets, C: 'd' } });
  expect(over.finished).toMatchObject({
    status: 'failed',
    error: {
      code: 'sandbox',
      message: expect.stringMatching(/its secrets are 65537 bytes in total; the limit is 65536/),
    },
  });
});

test('a cancelled run ends with the log so far', async () => {
  const { service } = fixture;
  const id = service.enqueue(await service.uploadCode(SLEEP));
  await waitUntil(() => service.getView(id).log.includes('begun'));
  service.cancel(id);
  const { finished, log } = await service.waitForFinished(id);
  expect(finished).toMatchObject({ status: 'cancelled', error: { code: 'cancelled' } });
  expect(log).toEqual(['begun']);
});

test('a missed cancellation arrives with the next lease renewal; a lost run emits nothing more', async () => {
  const { service, executor } = fixture;
  const code = await service.uploadCode(SLEEP);
  const cancelled = service.enqueue(code);
  const lost = service.enqueue(code);
  await Promise.all([service.waitForStarted(cancelled), service.waitForStarted(lost)]);
  await waitUntil(() => service.getView(lost).log.length > 0);
  service.cancelledAtLease.add(cancelled);
  service.lostAtLease.add(lost);
  expect((await service.waitForFinished(cancelled)).finished.status).toBe('cancelled');
  await waitUntil(() => service.countWaitingClaims() === 2);
  expect(service.getView(lost).events.map(({ type }) => type)).toEqual(['started', 'log']);
  const held = service.renewals.flatMap(({ runs, executorId }) => runs.map((run) => ({ ...run, executorId })));
  expect(held).toContainEqual({ runId: lost, attempt: 1, executorId: executor.id, token: expect.any(String) });
});

test('logs arrive while the code runs', async () => {
  const { service } = fixture;
  const id = service.enqueue(
    await service.uploadCode('import time\ndef run():\n    print("first")\n    time.sleep(5)\n    print("second")\n'),
  );
  await waitUntil(() => service.getView(id).log.includes('first'));
  expect(service.getView(id).events.some(({ type }) => type === 'finished')).toBe(false);
  expect((await service.waitForFinished(id)).log).toEqual(['first', 'second']);
});

test('inputs and outputs that are too large for a message are passed through the object store', async () => {
  const { service } = fixture;
  const inputs = { text: 'x'.repeat(300_000) };
  service.objects.set('inputs', Buffer.from(JSON.stringify(inputs)));
  const { finished } = await service.run('def run(text): return {"twice": text + text}', {
    inputs: undefined,
    inputsUrl: service.buildUrl('inputs'),
  });
  expect(finished).toMatchObject({ status: 'completed', outputKey: expect.any(String) });
  expect(finished.output).toBeUndefined();
  const stored = JSON.parse(service.objects.get(finished.outputKey ?? '')?.toString() ?? '');
  expect(stored).toEqual({ twice: 'x'.repeat(600_000) });
});

test('no message exceeds the limit, however much is logged at once', async () => {
  const { service } = fixture;
  const { batches, finished, log } = await service.run(
    `def run():\n    for n in range(40): print(str(n) + "y" * 15000)\n    return "z" * ${INLINE_BYTES_MAX - 100}`,
  );
  expect(finished.status).toBe('completed');
  expect(log).toHaveLength(40);
  for (const batch of batches) expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThanOrEqual(MESSAGE_BYTES_MAX);
});

test('an output over its limit, a time-out and a lack of memory end the run with their own codes', async () => {
  const { service } = fixture;
  const ends = await Promise.all([
    service.run('def run(): return "x" * 2000', { limits: { outputBytes: 1_000 } }),
    service.run('import time\ndef run(): time.sleep(30)', { limits: { wallMs: 300 } }),
    service.run('def run(): return len(bytearray(1 << 30))'),
    service.run('def run(): raise ValueError("no")'),
    service.run('import os\ndef run(): os._exit(7)'),
  ]);
  const seen = ends.map(({ finished }) => [finished.status, finished.error?.code]);
  expect(seen).toEqual([
    ['failed', 'output_too_large'],
    ['timed_out', 'timeout'],
    ['failed', 'out_of_memory'],
    ['failed', 'exception'],
    ['failed', 'sandbox'],
  ]);
  expect(ends[3]?.finished.error).toMatchObject({
    type: 'ValueError',
    message: 'no',
    trace: expect.stringContaining('main.py'),
  });
});

test('a secret never leaves: not in logs, errors, traces, progress, artifact names or outputs', async () => {
  const { service } = fixture;
  const source = `
import base64, os, sys
from gantry import context
KEY = os.environ["API_KEY"]
def run(fail):
    for c in KEY: sys.stdout.write(c); sys.stdout.flush()
    print("", KEY.encode().hex(), base64.b64encode(b"xy" + KEY.encode() + b"z").decode())
    context.log("using " + KEY, key=KEY)
    context.progress(0.5, KEY)
    context.cost(1, KEY)
    context.artifact(KEY + ".txt", b"text")
    if fail: raise ValueError("bad " + KEY)
    return {KEY: [KEY + "!", 7]}
`;
  const KEY = 'sk-live+0123456789';
  for (const fail of [false, true]) {
    const { events, finished } = await service.run(source, { inputs: { fail }, secrets: { API_KEY: KEY } });
    const text = JSON.stringify(events);
    expect(text).not.toContain(KEY);
    expect(text).not.toContain(Buffer.from(KEY).toString('hex'));
    expect(text).not.toContain(Buffer.from(KEY).toString('base64').slice(2, 20));
    if (fail) expect(finished.error).toMatchObject({ message: 'bad ***' });
    else expect(finished.output).toEqual({ '***': ['***!', 7] });
    expect(finished.usage.costUsd).toBe(1);
    expect(events).toContainEqual(expect.objectContaining({ type: 'progress', fraction: 0.5, message: '***' }));
    expect(events).toContainEqual(expect.objectContaining({ type: 'artifact', name: '***.txt', size: 4 }));
  }
});

test('a secret at the cut of a truncated text is not revealed in part', async () => {
  const KEY = 'sk-live+0123456789';
  const source = `
import os
from gantry import context
def run():
    text = lambda chars: "-" * (chars - 10) + os.environ["API_KEY"] + "the end"
    context.log(text(30_000))
    context.progress(0.5, text(1_000))
    context.cost(1, text(200))
    def fail(): raise ValueError(text(2_000))
    try:
        context.step("fail", fail)
    except ValueError:
        context.step("go on", lambda: 1)
    raise ValueError(text(4_000))
`;
  const { service } = fixture;
  const { events, finished } = await service.run(source, { secrets: { API_KEY: KEY } });
  expect(finished.error?.message).toMatch(/^-{3990}$/);
  expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['log', 'progress', 'cost']));
  expect(service.stepRequests.length).toBeGreaterThan(0);
  expect(JSON.stringify([events, service.stepRequests])).not.toContain(KEY.slice(0, 5));
});

test('artifacts are stored with size and hash, in pieces when they are large, and refused over their limits', async () => {
  const { service } = fixture;
  const source = `
from gantry import context
def run():
    open("/tmp/big.bin", "wb").write(bytes(range(256)) * 4096)
    seen = [context.artifact("big.bin", "/tmp/big.bin"), context.artifact("empty.txt", b""), context.artifact("r.html", "<p>".encode())]
    for name, size in (("large", 5 << 20), ("refused", 1)):
        try:
            context.artifact(name, bytes(size))
        except ValueError as error:
            seen.append(str(error))
    for _ in range(3): context.artifact("more", bytes(4 << 20))
    try:
        context.artifact("too much", bytes(4 << 20))
    except ValueError as error:
        seen.append(str(error))
    return seen
`;
  const { finished, events, job } = await service.run(source);
  expect(finished).toMatchObject({
    status: 'completed',
    output: [
      expect.stringMatching(/^art_/),
      expect.stringMatching(/^art_/),
      expect.stringMatching(/^art_/),
      expect.stringMatching(/the limit for one artifact is/),
      expect.stringMatching(/quota/),
      expect.stringMatching(/the artifacts of a run are limited/),
    ],
  });
  const artifacts = events.filter((event) => event.type === 'artifact');
  expect(artifacts[0]).toMatchObject({ name: 'big.bin', size: 1 << 20, contentType: 'application/octet-stream' });
  expect(artifacts[1]).toMatchObject({ name: 'empty.txt', size: 0, contentType: 'text/plain' });
  expect(artifacts[2]).toMatchObject({ name: 'r.html', contentType: 'text/html' });
  const stored = service.objects.get(`${job.runId}/big.bin`) ?? Buffer.alloc(0);
  expect(createHash('sha256').update(stored).digest('hex')).toBe(artifacts[0]?.sha256);
});

test('the type of an artifact follows its name where the code gives none', async () => {
  const { service } = fixture;
  const source = `
from gantry import context
def run():
    for name in ("notes.md", "table.XLSX", "rows.jsonl", "photo.webp", "page.html", "nothing"):
        context.artifact(name, b"")
`;
  const { events } = await service.run(source);
  const types = events.flatMap((event) => (event.type === 'artifact' ? event.contentType : []));
  expect(types).toEqual([
    'text/markdown',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    'application/jsonl',
    'image/webp',
    'text/html',
    'application/octet-stream',
  ]);
});

test('an image that run() names in a declared output becomes an artifact', async () => {
  const { service } = fixture;
  const source = `
import os
def run():
    open("/tmp/plot.png", "wb").write(b"png")
    os.symlink("/etc/passwd", "/tmp/link.png")
    return {"plot": "/tmp/plot.png", "stolen": "/tmp/link.png", "outside": "/etc/passwd", "n": 1}
`;
  const outputs = [
    { name: 'plot', type: 'image' },
    { name: 'stolen', type: 'image' },
    { name: 'outside', type: 'file' },
    { name: 'n', type: 'number' },
  ];
  const { finished, events } = await service.run(source, { outputs });
  expect(finished.output).toEqual({
    plot: { artifact: 'plot.png', artifact_id: expect.stringMatching(/^art_/), content_type: 'image/png', size: 3 },
    stolen: '/tmp/link.png',
    outside: '/etc/passwd',
    n: 1,
  });
  expect(events.filter(({ type }) => type === 'artifact')).toHaveLength(1);
});

test('declared outputs that are missing are named in the log, and the result is kept', async () => {
  const { service } = fixture;
  const outputs = [{ name: 'total', type: 'number' }];
  const two = [...outputs, { name: 'mean', type: 'number' }];
  const ends = await Promise.all([
    service.run('def run(): return {"sum": 1}', { outputs }),
    service.run('def run(): return [1]', { outputs: two }),
    service.run('def run(): return [1]', { outputs }),
  ]);
  expect(ends.map(({ finished }) => finished.output)).toEqual([{ sum: 1 }, [1], [1]]);
  const warnings = ends.map(({ events }) =>
    events.flatMap((e) => (e.type === 'log' && e.stream === 'platform' ? [e.text] : [])),
  );
  expect(warnings).toEqual([
    ['run() did not return total, which the manifest declares'],
    ['run() returned a list; the manifest declares the outputs total, mean'],
    [],
  ]);
});

test('input files lie under /tmp/inputs, whatever their names try', async () => {
  const { service } = fixture;
  service.objects.set('f1', Buffer.from('one'));
  service.objects.set('f2', Buffer.alloc(700_000, 'y'));
  const { finished } = await service.run('def run(a, b, c): return [a, open(a).read(), b, len(open(b).read()), c]', {
    inputs: { c: 3 },
    files: [
      { input: 'a', name: '../../etc/data.csv', url: service.buildUrl('f1'), size: 3 },
      { input: 'b', name: 'data.csv', url: service.buildUrl('f2'), size: 700_000 },
    ],
  });
  expect(finished.output).toEqual(['/tmp/inputs/data.csv', 'one', '/tmp/inputs/1-data.csv', 700_000, 3]);
});

test('code that can’t be downloaded, has another digest, or is a malicious zip fails the run', async () => {
  const { service } = fixture;
  const good = await service.uploadCode('def run(): return 1');
  const evil = buildRawZip([{ name: '../main.py' }]);
  const digest = createHash('sha256').update(evil).digest('hex');
  service.objects.set('evil', evil);
  const ends = await Promise.all(
    [
      { ...good, digest: '1'.repeat(64), url: service.buildUrl('missing') },
      { ...good, digest: '2'.repeat(64) },
      { digest, url: service.buildUrl('evil'), size: evil.length },
    ].map((code) => service.waitForFinished(service.enqueue(code))),
  );
  expect(ends.map(({ finished }) => finished.error?.message)).toEqual([
    expect.stringMatching(/missing answered 404/),
    expect.stringMatching(/was downloaded, but has the digest/),
    expect.stringMatching(/not a plain relative path/),
  ]);
  for (const { events } of ends) expect(events.map(({ type }) => type)).toEqual(['finished']);
});

test('code is fetched once, however many runs need it at the same time', async () => {
  const { service } = fixture;
  const code = await service.uploadCode('def run(n): return n');
  const ids = [1, 2, 3, 4, 5, 6].map((n) => service.enqueue(code, { inputs: { n } }));
  const ends = await Promise.all(ids.map((id) => service.waitForFinished(id)));
  expect(ends.map(({ finished }) => finished.output)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(service.requestsToStore.filter((line) => line.includes(code.digest))).toHaveLength(1);
});

test('a job can request a separate process', async () => {
  const { finished } = await fixture.service.run('import sys\ndef run(): return "ssl" in sys.modules', {
    isolation: 'process',
  });
  expect(finished).toMatchObject({ status: 'completed' });
});

test('progress in a tight loop is throttled, and the last update is kept', async () => {
  const source =
    'from gantry import context\ndef run():\n    for n in range(5000): context.progress(n / 5000, "step")\n    context.progress(1)';
  const { events } = await fixture.service.run(source);
  const progress = events.filter((event) => event.type === 'progress');
  expect(progress.length).toBeLessThan(100);
  expect(progress.at(-1)).toMatchObject({ fraction: 1, message: null });
});

test('a run that is still being prepared is cancelled at once, and never starts', async () => {
  const { service } = fixture;
  const code = { ...(await service.uploadCode(`def run(): return "${Date.now()}"`)), url: service.buildUrl('hangs') };
  const id = service.enqueue(code);
  await waitUntil(() => service.requestsToStore.some((line) => line.includes('hangs')));
  service.cancel(id);
  const { finished, events } = await service.waitForFinished(id);
  expect(finished.status).toBe('cancelled');
  expect(events).toHaveLength(1);
});

test('the executor publishes its status and metrics', async () => {
  const { service, executor } = fixture;
  await waitUntil(() => service.statuses.length > 0);
  expect(service.statuses.at(-1)).toMatchObject({
    executorId: executor.id,
    state: 'ready',
    slots: 2,
    isolation: 'zygote',
  });
  const text = await executor.metrics.registry.metrics();
  expect(text).toMatch(/gantry_executor_runs_total\{source="automation",status="completed",code=""\} \d+/);
  expect(text).toMatch(/gantry_executor_phase_seconds_bucket/);
});
