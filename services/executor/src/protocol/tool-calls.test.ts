/** Tests tool calls of code; a stand-in for worker-api replies. */
import { encode, type RecordedStep, runSubjects, type ToolCall, type ToolReply, toolCall } from '@gantry/events';
import { setupTestExecutor } from '../test/executor-fixture';

const fixture = setupTestExecutor({ sources: ['worker'] });
const tools = [
  { name: 'tracker', tools: ['create_issue', 'list-issues'] },
  { name: 'crm', tools: null },
];

let receivedCalls: ToolCall[] = [];
let respond: (call: ToolCall, before: number) => ToolReply | null;
beforeAll(() => {
  fixture.bus.nc.subscribe(runSubjects.tool('worker', '*'), {
    callback: (_, message) => {
      const call = toolCall.parse(message.json());
      const reply = respond(call, receivedCalls.push(call) - 1);
      if (reply) message.respond(encode(reply));
    },
  });
});
beforeEach(() => {
  receivedCalls = [];
  respond = () => ({ result: { number: 7 } });
});

const buildSource = (lines: string) =>
  `import threading, time\nfrom gantry import context, ToolError\ndef run():\n${lines.replace(/^/gm, '    ')}\n`;
const runLines = (lines: string) => fixture.service.run(buildSource(lines), { tools, may: ['approve', 'call'] });

test('a tool is a function; its call is a step with an event', async () => {
  const { finished, events } = await runLines(`
made = context.tools["tracker"].create_issue(title="Hi", labels=("a", "b"))
rest = context.tools["tracker"]["list-issues"].within(90)({"from": 2})
return [made, rest, list(context.tools), list(context.tools["tracker"]), "crm" in context.tools]`);
  expect(finished).toMatchObject({
    output: [{ number: 7 }, { number: 7 }, ['tracker', 'crm'], ['create_issue', 'list-issues'], true],
  });
  expect(receivedCalls).toMatchObject([
    {
      ordinal: 1,
      connection: 'tracker',
      tool: 'create_issue',
      arguments: { title: 'Hi', labels: ['a', 'b'] },
      timeoutMs: 30_000,
    },
    { ordinal: 2, tool: 'list-issues', arguments: { from: 2 }, timeoutMs: 90_000 },
  ]);
  expect(events.filter(({ type }) => type === 'step')).toMatchObject([
    { ordinal: 1, kind: 'tool', name: 'tracker.create_issue' },
    { ordinal: 2, kind: 'tool', name: 'tracker.list-issues' },
  ]);
});

test('a call is retried until there is a result, and other threads continue meanwhile', async () => {
  respond = (_, before) => (before < 2 ? { calling: true } : { result: 'late' });
  const { finished, log } = await runLines(`
threading.Thread(target=lambda: context.log("meanwhile")).start()
return context.tools["crm"].find(name="Ada")`);
  expect(finished.output).toBe('late');
  expect(log).toContain('meanwhile');
  expect(receivedCalls.map(({ ordinal }) => ordinal)).toEqual([1, 1, 1]);
});

test('a failure can be caught by its code, and an uncaught one names the tool in the error', async () => {
  respond = () => ({ failed: { code: 'not_allowed', message: 'the connection does not allow it' } });
  const caught = await runLines(`
try:
    context.tools["crm"].drop()
except ToolError as error:
    return [str(error), error.code, error.connection, error.tool, context.step("after", lambda: 1)]`);
  const message = 'crm.drop: the connection does not allow it';
  expect(caught.finished.output).toEqual([message, 'not_allowed', 'crm', 'drop', 1]);
  const { finished } = await runLines('context.tools["crm"].drop()');
  expect(finished.error).toMatchObject({ type: 'ToolError', message, step: { ordinal: 1, name: 'crm.drop' } });
});

test('code that runs again gets recorded results and failures without another call', async () => {
  const { service } = fixture;
  const first = await runLines(`
one = context.tools["tracker"].create_issue(title="Hi")
try:
    context.tools["crm"].drop()
except ToolError as error:
    two = [str(error), error.code]
context.sleep(3600)
return [one, two]`);
  expect(first.finished.status).toBe('suspended');
  const { runId } = first.job;
  const failed = { 'gantry:failed': { module: 'gantry', type: 'ToolError', code: 'tool_error', message: 'no' } };
  const records: RecordedStep[] = [
    { ordinal: 1, kind: 'tool', name: 'tracker.create_issue', result: 'recorded' },
    { ordinal: 2, kind: 'tool', name: 'crm.drop', result: failed },
    { ordinal: 3, kind: 'sleep', name: 'sleep', result: null },
  ];
  for (const record of records) service.recordStep(runId, record);
  receivedCalls = [];
  const again = await service.runAgain(runId, { tools });
  expect(again.finished.output).toEqual(['recorded', ['crm.drop: no', 'tool_error']]);
  expect(receivedCalls).toEqual([]);
});

test('invalid calls are errors of the code, take no step, and are not sent', async () => {
  const { finished } = await runLines(`
said = []
for call in (lambda: context.tools["trakcer"], lambda: context.tools["crm"].add(text="x" * 70_000),
             lambda: context.tools["crm"].within, lambda: context.tools["crm"].find.within(500)):
    try:
        call()
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
return [said, context.step("after", lambda: 1)]`);
  expect(finished.output).toEqual([
    [
      expect.stringMatching(/KeyError.*did you mean 'tracker'/),
      expect.stringMatching(/ValueError: the arguments of crm.add are \d+ bytes of JSON; the limit is 65536/),
      expect.stringMatching(/ValueError: a tool can take up to 120 seconds/),
    ],
    1,
  ]);
  expect(receivedCalls).toEqual([]);
});

test.each([
  ['an undeclared connection', '"connection": "other"'],
  ['an ordinal that is not the next', '"connection": "crm", "ordinal": 5'],
])('a frame for %s ends the run', async (_, overrides) => {
  const { finished } = await runLines(`
from _gantry import channel
channel.write_json({"t": "tool", "ordinal": 1, "tool": "x", "arguments": {}, "timeoutMs": 1, ${overrides}})
time.sleep(5)`);
  expect(finished).toMatchObject({ status: 'failed', error: { code: 'sandbox' } });
  expect(receivedCalls).toEqual([]);
});
