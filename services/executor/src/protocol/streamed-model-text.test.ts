/** Tests streamed text of models; a stand-in for worker-api sends the text and the response. */
import {
  encode,
  MODELS_CONNECTION,
  parseExecutorId,
  type RunEvent,
  runSubjects,
  type ToolCall,
  type ToolReply,
  type ToolTextChunk,
  toolCall,
} from '@gantry/events';
import { setupTestExecutor } from '../test/executor-fixture';

const fixture = setupTestExecutor({ sources: ['worker'] });
const tools = [{ name: MODELS_CONNECTION, tools: [] }];
const buildReply = (text: string): ToolReply => ({
  result: { text, tool_calls: [], cut: false, model: 'local/m', usage: {} },
});

let buildWords: (call: ToolCall) => Partial<ToolTextChunk>[];
let reply: ToolReply;
let receivedCalls: ToolCall[];
beforeAll(() => {
  fixture.bus.nc.subscribe(runSubjects.tool('worker', '*'), {
    callback: (_, message) => {
      const call = toolCall.parse(message.json());
      receivedCalls.push(call);
      const subject = runSubjects.toolText(parseExecutorId(message.subject), call.runId);
      const { token, ordinal } = call;
      for (const words of buildWords(call)) fixture.bus.nc.publish(subject, encode({ token, ordinal, ...words }));
      message.respond(encode(reply));
    },
  });
});
beforeEach(() => {
  [receivedCalls, buildWords, reply] = [[], () => [], buildReply('Hello there.')];
});

const buildSource = (lines: string) =>
  `from gantry import context, ModelError\ndef run():\n${lines.replace(/^/gm, '    ')}\n`;
const runLines = (lines: string) =>
  fixture.service.run(buildSource(lines), { tools, secrets: { KEY: 'hush-hush-4711' } });
const listTexts = (events: RunEvent[]) =>
  events.flatMap((one) => (one.type === 'agent' ? [[one.text, one.piece?.step, one.piece?.offset]] : []));

test('text is emitted as it arrives except a possible start of a secret, the rest with the response', async () => {
  buildWords = () => [
    { from: 0, text: 'Hel' },
    { from: 3, text: 'lo th' },
    { from: 0, text: 'Hello' },
  ];
  const { finished, events } = await runLines('return str(context.model("Hi", stream=True))');
  expect(finished.output).toBe('Hello there.');
  expect(receivedCalls).toMatchObject([{ stream: true }]);
  expect(listTexts(events)).toEqual([
    ['Hel', 1, 0],
    ['lo t', 1, 3],
    ['here.', 1, 7],
  ]);
  const types = events.map(({ type }) => type);
  expect(types.lastIndexOf('agent')).toBeLessThan(types.indexOf('step'));
});

test('a secret is masked wherever the text is cut, and the response fills in lost text', async () => {
  const text = 'It is hush-hush-4711, really.';
  buildWords = () => [
    { from: 0, text: text.slice(0, 10) },
    { from: 10, text: text.slice(10, 14) },
    { from: 16, text: text.slice(16, 22) },
  ];
  reply = buildReply(text);
  const { events } = await runLines('context.model("Hi", stream=True)');
  expect(listTexts(events)).toEqual([
    ['It is ', 1, 0],
    ['***, really.', 1, 6],
  ]);
});

test('a response that differs from the streamed text is emitted anew, and an aborted one is not', async () => {
  buildWords = () => [{ from: 0, text: 'Some words' }];
  const other = await runLines('context.model("Hi", stream=True)');
  expect(listTexts(other.events)).toEqual([
    ['Some words', 1, 0],
    ['Hello there.', 1, 0],
  ]);
  reply = { failed: { code: 'unavailable', message: 'it broke off' } };
  const { finished, events } = await runLines('context.model("Hi", stream=True)');
  expect(listTexts(events)).toEqual([['Some words', 1, 0]]);
  expect(finished.error).toMatchObject({ type: 'ModelError' });
});

test('text with a wrong token, of another step, or for code without streaming is not emitted', async () => {
  buildWords = () => [
    { token: 'tok_of_somebody', from: 0, text: 'Bad' },
    { ordinal: 2, from: 0, text: 'Bad' },
    { from: 5, text: 'Bad' },
  ];
  const streamed = await runLines('context.model("Hi", stream=True)');
  expect(listTexts(streamed.events)).toEqual([['Hello there.', 1, 0]]);
  buildWords = () => [{ from: 0, text: 'Hello' }];
  const { events } = await runLines('context.model("Hi")');
  expect(listTexts(events)).toEqual([]);
});

test('code that runs again gets the recorded response, and no text is emitted again', async () => {
  const first = await runLines('answer = context.model("Hi", stream=True)\ncontext.sleep(3600)\nreturn str(answer)');
  const { runId } = first.job;
  const { result } = buildReply('Hello there.') as { result: unknown };
  fixture.service.recordStep(runId, { ordinal: 1, kind: 'tool', name: 'model.default', result });
  fixture.service.recordStep(runId, { ordinal: 2, kind: 'sleep', name: 'sleep', result: null });
  const again = await fixture.service.runAgain(runId, { tools });
  expect(again.finished.output).toBe('Hello there.');
  expect(listTexts(again.events)).toEqual([]);
});

test('the streamed text of an attempt is limited', async () => {
  reply = buildReply('x'.repeat(60_000));
  const { events } = await runLines(
    'for _ in range(20):\n    context.model("Hi", stream=True)\ntry:\n    context.model("Hi", stream=True, schema={})\nexcept ValueError as error:\n    print(error)',
  );
  const texts = events.flatMap((one) => (one.type === 'agent' ? [one.text] : []));
  expect(Math.max(...texts.map(({ length }) => length))).toBe(4_000);
  expect(texts.join('')).toHaveLength(1 << 20);
  expect(receivedCalls).toHaveLength(20);
});
