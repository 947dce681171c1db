/**
 * Programs that write forged frames to their control channel. Whatever they send, the run ends as an ordinary failure
 * or as the requested outcome, its slot is free again, and the next run finds a working executor.
 */
import { INLINE_BYTES_MAX, MESSAGE_BYTES_MAX } from '@gantry/events';
import { waitUntil } from '@gantry/testing';
import { type ExecutorFixture, startTestExecutor } from '../../test/executor-fixture';
import type { JobOverrides } from '../../test/fake-service';

const FRAMES = `
import json, os, struct, time

def send(body):
    data = memoryview(struct.pack(">I", len(body)) + body)
    while data:
        data = data[os.write(3, data):]

def say(**message):
    send(json.dumps(message).encode())

def answer(text, **more):
    say(t="result", ok=True, outputBytes=len(text), **more)
    send(text)
    time.sleep(30)

def nested(levels, opened=b"[", closed=b"]"):
    return opened * levels + closed * levels
`;

const buildHostileSource = (lines: string) =>
  `${FRAMES}\ndef run():\n${lines.replace(/^/gm, '    ')}\n    time.sleep(30)\n`;

describe.each(['zygote', 'process'] as const)('isolation: %s', (isolation) => {
  let fixture: ExecutorFixture;
  beforeAll(async () => {
    fixture = await startTestExecutor({ slots: 2 });
  });
  afterAll(() => fixture.stop());

  const runToEnd = async (lines: string, overrides: JobOverrides = {}) =>
    (await fixture.service.run(buildHostileSource(lines), { isolation, may: ['approve', 'call'], ...overrides }))
      .finished;

  afterEach(async () => {
    const { service, executor } = fixture;
    const honest = await service.run('def run(): return "works"', { isolation });
    expect(honest.finished).toMatchObject({ status: 'completed', output: 'works' });
    await waitUntil(async () => /slots_busy 0\n/.test(await executor.metrics.registry.metrics()), {
      what: 'all slots are free',
    });
  });

  test.each([
    ['lists', 'answer(nested(20_000))'],
    ['objects', `answer(nested(20_000, b'{"a":', b"}")[:-20_000] + b"1" + b"}" * 20_000)`],
    ['lists, cut short', 'answer(nested(20_000)[:20_000])'],
  ])('an output of 20,000 nested %s fails its run', async (_, lines) => {
    expect(await runToEnd(lines)).toMatchObject({
      status: 'failed',
      error: { code: 'exception', message: 'The return value is nested deeper than 64 levels.' },
    });
  });

  test('an output of a million names fails its run', async () => {
    const lines = 'answer(b"{" + b",".join(b\'"%x":1\' % n for n in range(1_000_000)) + b"}")';
    expect(await runToEnd(lines, { limits: { outputBytes: 16 << 20 } })).toMatchObject({
      status: 'failed',
      error: { code: 'output_too_large', message: expect.stringMatching(/more than 250000 object keys/) },
    });
  });

  test('numbers that grow when reserialised count with their stored size', async () => {
    const inMessage = await runToEnd('answer(b"[" + b",".join([b"1e20"] * 25_000) + b"]")');
    expect(inMessage).toMatchObject({ status: 'completed', outputKey: expect.any(String) });
    const stored = fixture.service.objects.get(inMessage.outputKey ?? '');
    expect(stored?.length).toBeGreaterThan(INLINE_BYTES_MAX);
    expect(await runToEnd('answer(b"[" + b",".join([b"1e20"] * 800_000) + b"]")')).toMatchObject({
      status: 'failed',
      error: {
        code: 'output_too_large',
        message: `The return value is 17600001 bytes of JSON when stored; the limit is ${4 << 20}.`,
      },
    });
    expect(await runToEnd('answer(b"[1e999]")')).toMatchObject({
      status: 'failed',
      error: { code: 'exception', message: expect.stringMatching(/beyond 1.8e308/) },
    });
  });

  test('reported usage and costs are clamped to possible values', async () => {
    const { usage, status } = await runToEnd(
      'for _ in range(3): say(t="cost", usd=1e308)\nanswer(b"1", cpuMs=1e308, maxRssKb=1e308)',
    );
    expect(status).toBe('completed');
    expect(usage.costUsd).toBeLessThanOrEqual(3e9);
    expect(usage.cpuMs).toBeLessThan(600_000);
    expect(Number.isSafeInteger(usage.maxRssBytes)).toBe(true);
  });

  test.each([
    ['64 KB of nested lists in the fields of a log line', 'say(t="log", level="info", text="x", fields="[" * 65_536)'],
    ['a frame of nested lists', 'send(b\'{"t":"log","text":\' + nested(50_000) + b"}")'],
    [
      'nested log fields that are JSON',
      `say(t="log", level="info", text="x", fields=nested(5_000, b'{"a":', b"1")[:25_000].decode() + "1" + "}" * 5_000)`,
    ],
    [
      'log fields that grow',
      'say(t="log", level="info", text="x", fields=json.dumps({"n": 1}).replace("1", "[" + ",".join(["1e20"] * 40_000) + "]"))',
    ],
    [
      'a step nested deeply',
      'send(b\'{"t":"step","ordinal":1,"kind":"step","name":"x","startedAt":1,"result":\' + nested(9_000) + b"}")',
    ],
    [
      'a suspension nested deeply',
      'send(b\'{"t":"suspend","suspension":{"kind":"call","workerId":"w","step":{"ordinal":1,"kind":"call","name":"w"},"inputs":{"a":\' + nested(9_000) + b"}}}")',
    ],
    [
      'an approval of numbers that grow',
      'send(b\'{"t":"suspend","suspension":{"kind":"approve","title":"x","message":null,"form":null,"expiresInSeconds":1e308,"step":{"ordinal":1,"kind":"approve","name":"x"},"data":[\' + b",".join([b"1e20"] * 12_000) + b"]}}")',
    ],
    [
      'an error text of control characters',
      'say(t="result", ok=False, kind="x", type="\\x01" * 9_000, error="\\x01" * 60_000, trace="\\x01" * 9_000)',
    ],
    ['progress that is not a number', 'send(b\'{"t":"progress","fraction":1e999,"message":[[]]}\')'],
    ['an artifact of an impossible size', 'say(t="artifact", name=["x"], contentType={}, size=1e300)'],
    [
      'names that reach a prototype',
      'send(b\'{"t":"log","level":"info","text":"x","fields":"{\\\\"__proto__\\\\":{\\\\"a\\\\":1}}"}\')\nanswer(b\'{"__proto__":{"polluted":1}}\')',
    ],
  ])('%s ends cleanly, and no message is too large', async (_, lines) => {
    const { finished, batches } = await fixture.service.run(`${buildHostileSource(`${lines}\nanswer(b"null")`)}`, {
      isolation,
      may: ['approve', 'call'],
    });
    expect(finished.status).not.toBe('timed_out');
    for (const batch of batches) expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThan(MESSAGE_BYTES_MAX);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  test('a run that is cancelled while it floods its channel ends as cancelled', async () => {
    const { service } = fixture;
    const code = await service.uploadCode(buildHostileSource('while True: send(b\'{"t":"log","text":"x"}\')'));
    const id = service.enqueue(code, { isolation });
    await service.waitForStarted(id);
    service.cancel(id);
    expect((await service.waitForFinished(id)).finished.status).toBe('cancelled');
  });
});

describe('ordinary values that are too deep are rejected by the harness, with the path', () => {
  let fixture: ExecutorFixture;
  beforeAll(async () => {
    fixture = await startTestExecutor();
  });
  afterAll(() => fixture.stop());
  const DEEP = 'from gantry import context\ndef deep(n):\n    v = 1\n    for _ in range(n): v = [v]\n    return v\n';

  test('as a return value', async () => {
    const fits = await fixture.service.run(`${DEEP}def run(): return deep(64)`);
    expect(fits.finished.status).toBe('completed');
    const { finished } = await fixture.service.run(`${DEEP}def run(): return {"a": deep(64)}`);
    expect(finished.error).toMatchObject({
      code: 'exception',
      type: 'TypeError',
      message: expect.stringMatching(/^the return value\['a'\]\[0\].* is nested deeper than 64 levels$/),
    });
  });

  test('as the result of a step, which the code can handle', async () => {
    const source = `${DEEP}def run():
    try: context.step("deep", deep, 65)
    except TypeError as error: return str(error)[-30:]`;
    expect((await fixture.service.run(source)).finished.output).toBe(' is nested deeper than 64 levels'.slice(-30));
    const fits = await fixture.service.run(`${DEEP}def run(): return context.step("deep", deep, 64)`);
    expect(fits.finished.status).toBe('completed');
  });

  test('as fields of a log line, which is still written', async () => {
    const { log, finished } = await fixture.service.run(`${DEEP}def run(): context.log("seen", a=deep(70))`);
    expect([log, finished.status]).toEqual([['seen'], 'completed']);
  });
});
