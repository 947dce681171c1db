/** Tests durable steps: recording, suspension, and re-execution of the code. */
import { STEP_BYTES_MAX } from '@gantry/events';
import { setupTestExecutor } from '../test/executor-fixture';
import type { JobOverrides } from '../test/fake-service';

const fixture = setupTestExecutor();

const both: JobOverrides = { may: ['approve', 'call'] };
const runWithPermissions = (source: string, overrides: JobOverrides = both) => fixture.service.run(source, overrides);
/** Builds a run() with these lines as its body, after lines of the module. */
const buildSource = (lines: string, module = '') =>
  `from gantry import context, CallFailed\n${module}\ndef run():\n${lines.replace(/^/gm, '    ')}\n`;
const buildSuspended = (step: object, rest: object) => ({
  status: 'suspended',
  suspension: { step, kind: (step as { kind: string }).kind, ...rest },
});

test('a step is recorded as JSON before the code sees its result, and emitted as an event', async () => {
  const { finished, events, job } = await runWithPermissions(
    buildSource(
      'seen = context.step("fetch", lambda n, *, m: {"n": n, "m": (m, datetime.date(2026, 1, 2))}, 1, m=2)\nreturn seen',
      'import datetime',
    ),
  );
  const result = { n: 1, m: [2, '2026-01-02'] };
  expect(finished).toMatchObject({ status: 'completed', output: result });
  expect(fixture.service.listSteps(job.runId)).toEqual([{ ordinal: 1, kind: 'step', name: 'fetch', result }]);
  const stepEvents = events.filter(({ type }) => type === 'step');
  expect(stepEvents).toEqual([expect.objectContaining({ ordinal: 1, kind: 'step', name: 'fetch' })]);
});

test('after a crash a recorded step returns its recorded result, and an unrecorded one runs again', async () => {
  const { service } = fixture;
  const source = buildSource(
    'context.step("one", work, "one")\nif context.attempt == 1: os._exit(9)\nreturn context.step("two", work, "two")',
    'import os\ndef work(n):\n    print("working on", n, flush=True)\n    if n == "two" and context.attempt == 2: os._exit(9)\n    return n',
  );
  const first = await runWithPermissions(source);
  const second = await service.runAgain(first.job.runId, { tryNumber: 2 });
  const third = await service.runAgain(first.job.runId, { tryNumber: 3 });
  expect([first.log, second.log, third.log]).toEqual([['working on one'], ['working on two'], ['working on two']]);
  expect([first, second].map(({ finished }) => finished.error?.code)).toEqual(['sandbox', 'sandbox']);
  expect(third.finished).toMatchObject({ status: 'completed', output: 'two' });
});

test('sleep, approve and call end the process, and their results are available on re-execution', async () => {
  const { service } = fixture;
  const source = buildSource(`
before = context.step("before", lambda: "kept")
try:
    context.sleep(3600)
    decision = context.approve("Pay it?", "Really", data={"sum": 5}, form=[{"name": "note"}], expires_in=60)
    called = context.call("other-worker", {"sum": 5})
except Exception as error:
    return f"got {error}"
finally:
    print("tidied up")
return [before, decision, called]`);
  const asleep = await runWithPermissions(source);
  const { runId } = asleep.job;
  const forMs = 3_600_000;
  expect(asleep.finished).toMatchObject(buildSuspended({ ordinal: 2, kind: 'sleep', name: 'sleep' }, { forMs }));
  expect(asleep.finished.output).toBeUndefined();
  const { suspension } = asleep.finished;
  const wakeAt = suspension?.kind === 'sleep' ? suspension.wakeAt : 0;
  expect(asleep.log).toEqual(['tidied up', `Sleeping until ${new Date(wakeAt).toISOString()}.`]);
  expect(Math.abs(wakeAt - Date.now() - forMs)).toBeLessThan(30_000);

  service.recordStep(runId, { ordinal: 2, kind: 'sleep', name: 'sleep', result: null });
  const approval = { ordinal: 3, kind: 'approve', name: 'Pay it?' } as const;
  const asked = {
    title: 'Pay it?',
    message: 'Really',
    data: { sum: 5 },
    form: [{ name: 'note' }],
    expiresInSeconds: 60,
  };
  const asking = await service.runAgain(runId);
  expect(asking.finished).toMatchObject(buildSuspended(approval, asked));
  expect(asking.log).toEqual(['tidied up', 'Waiting for approval: Pay it?']);

  const decision = { approved_by: 'usr_1', data: { note: 'fine' } };
  service.recordStep(runId, { ...approval, result: decision });
  const call = { ordinal: 4, kind: 'call', name: 'other-worker' } as const;
  const calling = await service.runAgain(runId);
  expect(calling.finished).toMatchObject(buildSuspended(call, { workerId: 'other-worker', inputs: { sum: 5 } }));
  expect(calling.log).toEqual(['tidied up', 'Waiting for a run of worker other-worker.']);

  service.recordStep(runId, { ...call, result: { status: 'completed', output: [1], error: null } });
  const last = await service.runAgain(runId);
  expect(last.finished).toMatchObject({ status: 'completed', output: ['kept', decision, [1]] });
  expect(last.events.filter(({ type }) => type === 'step')).toEqual([]);
});

test('recorded steps that are too large for a message are loaded from the object store', async () => {
  const { service } = fixture;
  const source = buildSource('return [len(context.step(str(n), lambda: "x" * 60_000)) for n in range(6)]');
  const { job } = await runWithPermissions(source);
  service.objects.set('steps', Buffer.from(JSON.stringify(service.listSteps(job.runId))));
  const asked = service.stepRequests.length;
  const { finished } = await service.runAgain(job.runId, { steps: undefined, stepsUrl: service.buildUrl('steps') });
  expect(finished.output).toEqual(Array(6).fill(60_000));
  expect(service.stepRequests).toHaveLength(asked);
});

test('a called run that did not complete is an exception with its status and error', async () => {
  const source = buildSource(
    'try: context.call("w")\nexcept CallFailed as error: return [str(error), error.status, error.error["code"]]',
  );
  const { job } = await runWithPermissions(source);
  const result = { status: 'failed', output: null, error: { code: 'exception', message: 'no' } };
  fixture.service.recordStep(job.runId, { ordinal: 1, kind: 'call', name: 'w', result });
  expect((await fixture.service.runAgain(job.runId)).finished.output).toEqual([
    "the run of worker 'w' ended as failed: no",
    'failed',
    'exception',
  ]);
});

test('a short sleep stays in the process but is recorded; one until a past time does not wait', async () => {
  const source = buildSource(
    'began = time.monotonic()\ncontext.sleep(0.3)\ncontext.sleep(until=datetime.datetime(2020, 1, 1))\nreturn time.monotonic() - began',
    'import time, datetime',
  );
  const { finished, job } = await runWithPermissions(source);
  expect(finished.status).toBe('completed');
  expect(finished.output).toBeGreaterThanOrEqual(0.3);
  expect(fixture.service.listSteps(job.runId).map(({ kind, result }) => [kind, result])).toEqual([
    ['sleep', null],
    ['sleep', null],
  ]);
  expect((await fixture.service.runAgain(job.runId)).finished.output).toBeLessThan(0.3);
});

test('async functions can be steps, and concurrent steps from two tasks or threads are an error', async () => {
  const source = `
import asyncio, threading
from gantry import context
async def work(n):
    await asyncio.sleep(0.05)
    return n
async def run():
    seen = [await context.step("a", work, 1), context.step("b", lambda: 2)]
    both = await asyncio.gather(context.step("c", work, 3), context.step("d", work, 4), return_exceptions=True)
    def other():
        try: context.step("e", lambda: 1)
        except RuntimeError as error: seen.append(str(error))
    def threaded():
        thread = threading.Thread(target=other); thread.start(); thread.join()
        try: return context.sleep(1)
        except RuntimeError as error: return str(error)
    return seen + [str(each) for each in both] + [context.step("f", threaded)] + seen[2:]
`;
  const { finished, job } = await runWithPermissions(source);
  const at = (what: string, other: string) =>
    expect.stringContaining(`${what} was called while step '${other}' was in progress`);
  expect(finished.output).toEqual([
    ...[1, 2, '3', at("step 'd'", 'c'), at('context.sleep()', 'f'), at("step 'e'", 'f')],
  ]);
  expect(fixture.service.listSteps(job.runId).map(({ name }) => name)).toEqual(['a', 'b', 'c', 'f']);
});

test('a failure that the code caught is replayed; one that ended the run is retried', async () => {
  const { service } = fixture;
  const source = buildSource(
    `
try: context.step("flaky", flaky)
except Mine as error: seen = f"caught {error}"
context.step("after", lambda: 1)
if context.attempt == 1: context.step("last", flaky)
return seen`,
    'class Mine(Exception): pass\ndef flaky():\n    if context.attempt == 1: raise Mine("at first")\n    return "now it works"',
  );
  const first = await runWithPermissions(source);
  expect(first.finished).toMatchObject({ status: 'failed', error: { type: 'Mine', message: 'at first' } });
  expect(service.listSteps(first.job.runId).map(({ name }) => name)).toEqual(['flaky', 'after']);
  const second = await service.runAgain(first.job.runId, { tryNumber: 2 });
  expect(second.finished).toMatchObject({ status: 'completed', output: 'caught at first' });
});

test('rejected arguments are rejected again in the same way on re-execution', async () => {
  const { service } = fixture;
  const source = buildSource(
    `
seen = []
for ask in (lambda: context.call("w", {"large": "x" * ${STEP_BYTES_MAX}}), lambda: context.approve("a", data="x" * ${STEP_BYTES_MAX})):
    try: ask()
    except ValueError as error: seen.append(str(error))
context.step("after", lambda: 1)
context.sleep(60)
return seen`,
  );
  const { job, finished } = await runWithPermissions(source);
  expect(finished).toMatchObject(buildSuspended({ ordinal: 4, kind: 'sleep', name: 'sleep' }, {}));
  service.recordStep(job.runId, { ordinal: 4, kind: 'sleep', name: 'sleep', result: null });
  expect((await service.runAgain(job.runId)).finished).toMatchObject({
    status: 'completed',
    output: [
      expect.stringMatching(/the limit for the inputs of a call is/),
      expect.stringMatching(/data and form of an approval/),
    ],
  });
});

test.each([
  ['another name', 'context.step("b", print)', /recorded as number 1 is step 'a', the code asked for step 'b'/],
  ['another kind', 'context.sleep(5)', /recorded as number 1 is step 'a', the code asked for sleep 'sleep'/],
])('code that requests %s than recorded fails as changed, even if it swallows the error', async (_, asks, message) => {
  const source = buildSource(
    `if context.attempt == 1:\n    context.step("a", print)\n    context.sleep(60)\ntry: ${asks}\nexcept BaseException: pass\ntry: context.step("more", print)\nexcept BaseException: pass\nreturn "went on"`,
  );
  const { job, finished } = await runWithPermissions(source);
  expect(finished.status).toBe('suspended');
  const again = await fixture.service.runAgain(job.runId, { tryNumber: 2 });
  expect(again.finished).toMatchObject({ status: 'failed', error: { code: 'exception', type: 'CodeChanged' } });
  expect(again.finished.error?.message).toMatch(message);
  expect(fixture.service.listSteps(job.runId)).toHaveLength(1);
});

test('a run that swallows its suspension is still suspended, whatever it does next', async () => {
  const { service } = fixture;
  const ends = ['return "went on"', 'raise ValueError("on the way out")', 'raise SystemExit(1)'];
  for (const end of ends) {
    const { finished, job, log } = await runWithPermissions(
      buildSource(
        `
try: context.sleep(60)
except BaseException: pass
for ask in (lambda: context.step("x", print, "ran"), lambda: context.sleep(0)):
    try: ask()
    except BaseException as error: print(type(error).__name__)
${end}`,
      ),
    );
    expect(finished).toMatchObject(buildSuspended({ ordinal: 1, kind: 'sleep', name: 'sleep' }, {}));
    expect(service.listSteps(job.runId)).toEqual([]);
    expect(log).toEqual(expect.arrayContaining(['Suspend', 'Suspend']));
    if (end.includes('ValueError')) expect(log.join()).toContain('ValueError: on the way out');
  }
});

test.each([
  [
    'a task of a group',
    'async def waits(): context.sleep(60)\nasync def run():\n    async with asyncio.TaskGroup() as group: group.create_task(waits())',
  ],
  [
    'a gathered coroutine',
    'async def waits(): context.sleep(60)\nasync def run(): return await asyncio.gather(waits())',
  ],
  [
    'a pool of threads',
    'def run():\n    with futures.ThreadPoolExecutor() as pool: return pool.submit(context.sleep, 60).result()',
  ],
])('a run is suspended also from %s', async (_, source) => {
  const { finished } = await runWithPermissions(
    `import asyncio\nfrom concurrent import futures\nfrom gantry import context\n${source}\n`,
  );
  expect(finished).toMatchObject(buildSuspended({ ordinal: 1, kind: 'sleep', name: 'sleep' }, {}));
});

test('a suspended run that runs out of time in its clean-up has failed', async () => {
  const source = buildSource('try: context.sleep(60)\nfinally: time.sleep(30)', 'import time');
  const { finished } = await runWithPermissions(source, { limits: { wallMs: 500 } });
  expect(finished).toMatchObject({ status: 'timed_out', error: { code: 'timeout' } });
});

test('results that can’t be recorded raise errors with the reason: too large, no JSON, inexact, refused', async () => {
  const source = buildSource(
    `
seen = []
for name, value in (("large", "д" * (${STEP_BYTES_MAX} // 2)), ("huge", "x" * 300_000), ("bytes", b"x"), ("id", 2 ** 60), ("refused", 1), ("", 1), ("two\\nlines", 1), ("x" * 201, 1)):
    try: context.step(name, lambda: value)
    except (ValueError, TypeError, RuntimeError) as error: seen.append(str(error))
return seen`,
  );
  const { finished } = await runWithPermissions(source);
  const printable = expect.stringMatching(/the name of a step must be 1 to 200 printable characters/);
  expect(finished.output).toEqual([
    expect.stringMatching(/the result of step "large" is 65538 bytes of JSON; the limit is 65536/),
    expect.stringMatching(/the result of step 'huge' is 300\d\d\d bytes of JSON, which is too large/),
    expect.stringMatching(/bytes have no JSON form/),
    expect.stringMatching(/the result of step 'id' holds the integer 1152921504606846976, which is not exact/),
    expect.stringMatching(/step "refused" could not be recorded: no/),
    ...[printable, printable, printable],
  ]);
});

const KEY = 'sk-live+0123456789';

test('a secret is never recorded as a result, a name, an input or a failure; displayed texts are masked', async () => {
  const { service } = fixture;
  const source = buildSource(
    `
seen = []
for ask in (lambda: context.step("x", lambda: {"a": [KEY]}), lambda: context.call("w", {"key": KEY})):
    try: ask()
    except ValueError as error: seen.append(str(error))
try: context.step("fails", fails)
except ValueError: pass
context.step("seen", lambda: seen)
context.approve("Use " + KEY, KEY, {"k": KEY}, [{"name": "a", "default": KEY}])`,
    'import os\nKEY = os.environ["KEY"]\ndef fails(): raise ValueError("bad " + KEY)',
  );
  const { finished, job, events } = await runWithPermissions(source, { ...both, secrets: { KEY } });
  expect(finished).toMatchObject({
    status: 'suspended',
    suspension: { title: 'Use ***', message: '***', data: { k: '***' }, form: [{ name: 'a', default: '***' }] },
  });
  const named = await runWithPermissions(buildSource('context.step(os.environ["KEY"], print)', 'import os'), {
    secrets: { KEY },
  });
  expect(named.finished.error?.message).toBe('the name of a step contains a secret');
  expect(JSON.stringify([named.events, events, service.stepRequests])).not.toContain(KEY);
  const failure = { 'gantry:failed': { module: 'builtins', type: 'ValueError', message: 'bad ***' } };
  expect(service.listSteps(job.runId).find(({ name }) => name === 'fails')?.result).toEqual(failure);
  expect(service.listSteps(job.runId).find(({ name }) => name === 'seen')?.result).toEqual([
    expect.stringMatching(/the result of step "x" contains a secret/),
    expect.stringMatching(/the inputs of a call contain a secret/),
  ]);
});

test('a failed run reports in its log and error which step failed, and why, without its secrets', async () => {
  const module =
    'import os\ndef works(): return 1\ndef fails(): raise ValueError(f"no row\\nfor {os.environ[\'KEY\']}")\n' +
    'def caught():\n    try: context.step("compare", fails)\n    except ValueError: pass';
  const uncaught = buildSource('context.step("read", works)\ncontext.step("compare", fails)', module);
  const { finished, log } = await runWithPermissions(uncaught, { secrets: { KEY } });
  expect(log).toEqual(['Step 2 (compare) failed: ValueError: no row for ***']);
  expect(finished.error).toMatchObject({
    code: 'exception',
    type: 'ValueError',
    message: 'no row\nfor ***',
    step: { ordinal: 2, name: 'compare', type: 'ValueError', message: 'no row\nfor ***' },
  });

  const another = await runWithPermissions(buildSource('caught()\n1 / 0', module), { secrets: { KEY } });
  expect(another.finished.error).toMatchObject({ type: 'ZeroDivisionError', step: { name: 'compare' } });
  const continued = await runWithPermissions(buildSource('caught()\ncontext.step("read", works)\n1 / 0', module), {
    secrets: { KEY },
  });
  expect(continued.finished.error).not.toHaveProperty('step');
  expect(continued.log).toEqual([]);
});

test('in a run that can only sleep, approve() and call() fail and point to workers', async () => {
  const source = buildSource(
    'seen = []\nfor ask in (lambda: context.approve("a"), lambda: context.call("w")):\n    try: ask()\n    except RuntimeError as error: seen.append(str(error))\nreturn seen',
  );
  const { finished } = await runWithPermissions(source, {});
  expect(finished.output).toEqual([
    expect.stringMatching(/context.approve\(\) is not available in this run: only workers can ask a person/),
    expect.stringMatching(/context.call\(\) is not available in this run: only workers can run other workers/),
  ]);
});

/** Builds code that bypasses the harness and writes frames like it. */
const forge = (...frames: string[]) =>
  `import os, json, struct, time\ndef run():\n    for frame in (${frames.join(', ')},):\n        body = json.dumps(frame).encode()\n        os.write(3, struct.pack(">I", len(body)) + body)\n    time.sleep(10)\n`;
const step = (rest: string) => `{"t": "step", "kind": "step", "name": "a", "startedAt": 1, "result": 1, ${rest}}`;
const suspend = (ordinal: number, rest: string) =>
  `{"t": "suspend", "suspension": {"step": {"ordinal": ${ordinal}, "kind": "sleep", "name": "s"}, ${rest}}}`;
const sleepy = '"kind": "sleep", "wakeAt": 1';

test.each([
  ['a step out of order', forge(step('"ordinal": 2')), /step number 2 cannot follow step number 0/],
  [
    'the same step twice',
    forge(step('"ordinal": 1'), step('"ordinal": 1')),
    /step number 1 cannot follow step number 1/,
  ],
  ['a recorded approval of its own', forge(step('"ordinal": 1, "kind": "approve"')), /an invalid step/],
  ['a name with a line end', forge(step('"ordinal": 1, "name": "a\\nb"')), /an invalid step/],
  [
    'a step while it waits',
    forge(suspend(1, sleepy), step('"ordinal": 2')),
    /a step was sent while the run was waiting/,
  ],
  ['two suspensions', forge(suspend(1, sleepy), suspend(2, sleepy)), /a step was sent while the run was waiting/],
  ['a suspension with two kinds', forge(suspend(1, '"kind": "call", "workerId": "w", "inputs": {}')), /has two kinds/],
  ['a sleep beyond the limit', forge(suspend(1, '"kind": "sleep", "wakeAt": 1e15')), /a sleep exceeds the limit/],
  [
    'a call without permission',
    forge(
      '{"t": "suspend", "suspension": {"step": {"ordinal": 1, "kind": "call", "name": "w"}, "kind": "call", "workerId": "w", "inputs": {}}}',
    ),
    /this run can't request a suspension for call/,
  ],
  ['a suspension without a reason', forge('{"t": "result", "ok": True, "suspended": True}'), /the output is too large/],
])('forging %s ends the run as broken', async (_, source, message) => {
  const { finished } = await runWithPermissions(source, {});
  expect(finished).toMatchObject({ status: 'failed', error: { code: 'sandbox' } });
  expect(finished.error?.message).toMatch(message);
});
