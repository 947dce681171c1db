/** Tests model calls of code; a stand-in for worker-api replies. */
import {
  encode,
  MODELS_CONNECTION,
  type RecordedStep,
  runSubjects,
  type ToolCall,
  type ToolReply,
  toolCall,
} from '@gantry/events';
import { setupTestExecutor } from '../test/executor-fixture';

const fixture = setupTestExecutor({ sources: ['worker'] });
const tools = [{ name: MODELS_CONNECTION, tools: ['smart'] }];
const usage = { input_tokens: 12, output_tokens: 3, usd: 0.1 };
const answer = { text: 'Hi', output: { n: 7 }, tool_calls: [], cut: false, model: 'local/m', usage };

let receivedCalls: ToolCall[] = [];
let reply: ToolReply;
beforeAll(() => {
  fixture.bus.nc.subscribe(runSubjects.tool('worker', '*'), {
    callback: (_, message) => {
      receivedCalls.push(toolCall.parse(message.json()));
      message.respond(encode(reply));
    },
  });
});
beforeEach(() => {
  receivedCalls = [];
  reply = { result: answer };
});

const buildSource = (lines: string) =>
  `from gantry import context, ModelError\ndef run():\n${lines.replace(/^/gm, '    ')}\n`;
const runLines = (lines: string, offeredTools = tools) =>
  fixture.service.run(buildSource(lines), { tools: offeredTools });

test('a model is called with a text or with messages, and its response is an object and JSON', async () => {
  const { finished, events } = await runLines(`
one = context.model("Hello", model="smart", schema={"type": "object"}, timeout=200)
two = context.model(["Hello", one.message, {"role": "user", "content": "And?"}], system="Be brief.")
return [str(one), one.output["n"], one.usage["usd"], two, list(context.tools)]`);
  expect(finished.output).toEqual(['Hi', 7, 0.1, answer, []]);
  expect(receivedCalls).toMatchObject([
    {
      ordinal: 1,
      connection: MODELS_CONNECTION,
      tool: 'smart',
      timeoutMs: 200_000,
      arguments: { messages: [{ role: 'user', content: 'Hello' }], schema: { type: 'object' } },
    },
    {
      ordinal: 2,
      tool: 'default',
      timeoutMs: 120_000,
      arguments: {
        system: 'Be brief.',
        messages: [{ role: 'user' }, { role: 'assistant', content: 'Hi', tool_calls: [] }, { content: 'And?' }],
      },
    },
  ]);
  expect(events.filter(({ type }) => type === 'step')).toMatchObject([
    { kind: 'tool', name: 'model.smart', usage: { model: 'local/m', inputTokens: 12, outputTokens: 3, usd: 0.1 } },
    { kind: 'tool', name: 'model.default' },
  ]);
});

test('a failure can be caught by its code, and otherwise becomes the error of the run', async () => {
  reply = { failed: { code: 'budget_exceeded', message: 'the budget is 1 USD' } };
  const caught = await runLines(`
try:
    context.model("Hello")
except ModelError as error:
    return [str(error), error.code, context.step("after", lambda: 1)]`);
  expect(caught.finished.output).toEqual(['the budget is 1 USD', 'budget_exceeded', 1]);
  const { finished } = await runLines('context.model("Hello")');
  expect(finished.error).toMatchObject({ type: 'ModelError', step: { ordinal: 1, name: 'model.default' } });
});

test('code that runs again gets the recorded response without another call', async () => {
  const { service } = fixture;
  const first = await runLines('said = context.model("Hello")\ncontext.sleep(3600)\nreturn said.output');
  expect(first.finished.status).toBe('suspended');
  const { runId } = first.job;
  const records: RecordedStep[] = [
    { ordinal: 1, kind: 'tool', name: 'model.default', result: answer },
    { ordinal: 2, kind: 'sleep', name: 'sleep', result: null },
  ];
  for (const record of records) service.recordStep(runId, record);
  receivedCalls = [];
  const again = await service.runAgain(runId, { tools });
  expect(again.finished.output).toEqual({ n: 7 });
  expect(receivedCalls).toEqual([]);
});

test('invalid calls are errors of the code and are not sent', async () => {
  const { finished } = await runLines(`
said = []
for ask in (lambda: context.model("x" * 140_000), lambda: context.model("Hello", timeout=301)):
    try:
        ask()
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")
return said`);
  expect(finished.output).toEqual([
    expect.stringMatching(/ValueError: the arguments of model.default are \d+ bytes of JSON; the limit is 131072/),
    'ValueError: a model can take up to 300 seconds',
  ]);
  const none = await runLines(
    'try:\n    context.model("Hello")\nexcept ModelError as error:\n    return error.code',
    [],
  );
  expect(none.finished.output).toBe('no_model');
  expect(receivedCalls).toEqual([]);
});
