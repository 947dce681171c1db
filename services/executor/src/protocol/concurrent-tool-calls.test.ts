/** Tests concurrent tool calls; a stand-in for worker-api replies. */
import { encode, type RecordedStep, runSubjects, type ToolCall, type ToolReply, toolCall } from '@gantry/events';
import { setupTestExecutor } from '../test/executor-fixture';

const fixture = setupTestExecutor({ sources: ['worker'] });
const tools = [{ name: 'crm', tools: null }];

let receivedCalls: ToolCall[] = [];
/** Replies as soon as so many calls are pending. */
let groupSize = 1;
let buildReply: (call: ToolCall) => ToolReply;
let pendingReplies: (() => void)[] = [];
beforeAll(() => {
  fixture.bus.nc.subscribe(runSubjects.tool('worker', '*'), {
    callback: (_, message) => {
      const call = toolCall.parse(message.json());
      receivedCalls.push(call);
      pendingReplies.push(() => message.respond(encode(buildReply(call))));
      if (pendingReplies.length >= groupSize) for (const respond of pendingReplies.splice(0).reverse()) respond();
    },
  });
});
beforeEach(() => {
  [receivedCalls, pendingReplies, groupSize] = [[], [], 1];
  buildReply = ({ tool }) => ({ result: `did ${tool}` });
});

const buildSource = (lines: string) =>
  `import time\nfrom gantry import context\nfrom _gantry import channel\ndef run():\n${lines.replace(/^/gm, '    ')}\n`;
const runLines = (lines: string) => fixture.service.run(buildSource(lines), { tools, may: ['approve', 'call'] });
const GROUP = `outcomes = context._steps.tools([("crm", name, {"a": 1}, 30) for name in ("one", "two", "three")])
told = [result if error is None else f"{type(error).__name__} {error}" for result, error in outcomes]`;

test('they run concurrently, and their results and steps are in the order of the code', async () => {
  groupSize = 3;
  buildReply = ({ tool }) =>
    tool === 'two' ? { failed: { code: 'tool_error', message: 'no' } } : { result: `did ${tool}` };
  const { finished, events } = await runLines(`${GROUP}\nreturn [told, context.step("after", lambda: 1)]`);
  expect(finished.output).toEqual([['did one', 'ToolError crm.two: no', 'did three'], 1]);
  expect(receivedCalls.map(({ ordinal, tool }) => [ordinal, tool])).toEqual([
    [1, 'one'],
    [2, 'two'],
    [3, 'three'],
  ]);
  const steps = events.flatMap((one) => (one.type === 'step' ? [[one.ordinal, one.name]] : []));
  expect(steps.sort()).toEqual([
    [1, 'crm.one'],
    [2, 'crm.two'],
    [3, 'crm.three'],
    [4, 'after'],
  ]);
});

test('after a crash in the middle only unrecorded calls are made, each with its ordinal', async () => {
  const lines = `if context.attempt == 1: context.sleep(3600)\n${GROUP}\nreturn [told, context.step("after", lambda: 1)]`;
  const first = await runLines(lines.replace('context.sleep(3600)', 'import os; os._exit(9)'));
  expect(first.finished.status).toBe('failed');
  const records: RecordedStep[] = [
    { ordinal: 1, kind: 'tool', name: 'crm.one', result: 'recorded one' },
    { ordinal: 3, kind: 'tool', name: 'crm.three', result: 'recorded three' },
  ];
  for (const record of records) fixture.service.recordStep(first.job.runId, record);
  const again = await fixture.service.runAgain(first.job.runId, { tools, tryNumber: 2 });
  expect(again.finished.output).toEqual([['recorded one', 'did two', 'recorded three'], 1]);
  expect(receivedCalls.map(({ ordinal, tool }) => [ordinal, tool])).toEqual([[2, 'two']]);
});

test('an invalid call rejects the group before any call', async () => {
  const { finished } = await runLines(`
try:
    context._steps.tools([("crm", "one", {}, 30), ("crm", "two", {"text": "x" * 70_000}, 30)])
except ValueError as error:
    return [str(error), context.step("after", lambda: 1)]`);
  expect(finished.output).toEqual([expect.stringMatching(/the arguments of crm.two are \d+ bytes of JSON/), 1]);
  expect(receivedCalls).toEqual([]);
});

const buildCall = (overrides: string) =>
  `{"connection": "crm", "tool": "x", "arguments": {}, "timeoutMs": 1, ${overrides}}`;
test.each([
  ['none', '[]'],
  ['nine', `[${Array.from({ length: 9 }, (_, at) => buildCall(`"ordinal": ${at + 1}`)).join()}]`],
  ['a duplicate ordinal', `[${buildCall('"ordinal": 1')}, ${buildCall('"ordinal": 1')}]`],
  ['a gap in the ordinals', `[${buildCall('"ordinal": 1')}, ${buildCall('"ordinal": 3')}]`],
  ['a later ordinal', `[${buildCall('"ordinal": 2')}, ${buildCall('"ordinal": 3')}]`],
  ['an ordinal of zero', `[${buildCall('"ordinal": 0')}, ${buildCall('"ordinal": 1')}]`],
  ['a streamed call', `[${buildCall('"ordinal": 1, "stream": True')}]`],
  ['an undeclared connection', `[${buildCall('"ordinal": 1, "connection": "other"')}]`],
  ['no list', '7'],
])('a group with %s ends the run', async (_, calls) => {
  const { finished } = await runLines(`channel.write_json({"t": "tools", "calls": ${calls}})\ntime.sleep(5)`);
  expect(finished).toMatchObject({ status: 'failed', error: { code: 'sandbox' } });
  expect(receivedCalls).toEqual([]);
});

test('a recorded ordinal is not called again, and no step starts during a group', async () => {
  const repeated = await runLines(
    `context.step("first", lambda: 1)\nchannel.write_json({"t": "tools", "calls": [${buildCall('"ordinal": 1')}]})\ntime.sleep(5)`,
  );
  expect(repeated.finished.error?.code).toBe('sandbox');
  groupSize = 2;
  const step = '{"t": "step", "ordinal": 2, "kind": "step", "name": "x", "startedAt": 1, "result": 1}';
  const { finished } = await runLines(
    `channel.write_json({"t": "tools", "calls": [${buildCall('"ordinal": 1')}]})\nchannel.write_json(${step})\ntime.sleep(5)`,
  );
  expect(finished.error?.code).toBe('sandbox');
});
