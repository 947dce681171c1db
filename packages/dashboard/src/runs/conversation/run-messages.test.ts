import type { AgentPart } from './agent-part';
import { attachApprovals, buildLiveMessages, parseTranscript } from './run-messages';

const part = (name: AgentPart['part'], text: string, over: Partial<AgentPart> = {}): AgentPart => ({
  part: name,
  name: name === 'text' ? null : 'mail__read',
  text,
  at: 5_000,
  attempt: 1,
  piece: null,
  ...over,
});
const step = (ordinal: number, over: object = {}) => ({
  ordinal,
  kind: 'tool' as const,
  name: 'model.default',
  status: 'completed' as const,
  error: null,
  started_at: new Date(0).toISOString(),
  finished_at: new Date(1_000).toISOString(),
  ...over,
});
const summarize = (said: ReturnType<typeof buildLiveMessages>) =>
  said.map((one) =>
    one.kind === 'call'
      ? `${one.given} = ${one.result}`
      : one.kind === 'answer'
        ? `answer ${one.use.inputTokens}`
        : one.text,
  );

test('pieces of an answer are joined into one text, below the answer that they belong to', () => {
  const usage = { input_tokens: 7, output_tokens: 1, usd: null };
  const said = buildLiveMessages(
    [
      part('text', 'I lo', { piece: { step: 1, offset: 0 }, at: 500 }),
      part('text', 'ok.', { piece: { step: 1, offset: 4 }, at: 600 }),
      part('tool_call', '1'),
      part('tool_result', 'a'),
      part('text', 'Done', { piece: { step: 3, offset: 0 } }),
    ],
    [step(1, { result: { usage } }), step(3, { finished_at: null, status: 'pending' })],
  );
  expect(summarize(said)).toEqual(['answer 7', 'I look.', '1 = a', 'answer null', 'Done']);
});

test('results belong to calls in their order, and a repeated call is one call', () => {
  const said = buildLiveMessages(
    [
      part('tool_call', '1'),
      part('tool_call', '2'),
      part('tool_call', '2', { attempt: 2 }),
      part('tool_result', 'a', { attempt: 2 }),
      part('tool_result', 'b', { attempt: 2 }),
    ],
    [],
  );
  expect(summarize(said)).toEqual(['1 = a', '2 = b']);
});

test('in a transcript a result belongs to the call with its id, and an invalid file is not read as a transcript', () => {
  const parts = [
    { part: 'answer', model: 'local/m', usage: { input_tokens: 3, output_tokens: 1, usd: null } },
    { part: 'tool_call', name: 'http', text: '1', id: 'a' },
    { part: 'tool_call', name: 'http', text: '2', id: 'b' },
    { part: 'tool_result', name: 'http', text: 'second', id: 'b', failed: true },
    { part: 'tool_result', name: 'http', text: 'first', id: 'a' },
    { part: 'text', text: 'So far.' },
    { part: 'compaction', text: 'So far.', messages: 4 },
    { part: 'of the future' },
    null,
  ];
  const said = parseTranscript(JSON.stringify({ parts })) ?? [];
  expect(summarize(said)).toEqual(['answer 3', '1 = first', '2 = second', 'So far.']);
  expect(said.at(-1)?.kind).toBe('summary');
  for (const other of ['', '[]', '{"parts":{}}', 'null']) expect(parseTranscript(other)).toBeNull();
});

test('a question is shown with the call that asks it, and one with an unknown call is not lost', () => {
  const approval = (id: string, title: string, at: number, status: 'approved' | 'pending') => ({
    id,
    title,
    status,
    requested_at: new Date(at).toISOString(),
    decided_at: null,
  });
  const approvals = [
    approval('held', 'Run it?', 0, 'approved'),
    approval('one', 'The agent asks to call mail__read', 1, 'approved'),
    approval('two', 'The agent asks to call another', 2, 'pending'),
  ];
  const asked = ['one', 'two'].map((id, at) => step(at + 1, { kind: 'approve', name: id, approval_id: id }));
  const { messages, unplaced } = attachApprovals(buildLiveMessages([part('tool_call', '1')], []), {
    id: 'run_1',
    created_at: '',
    started_at: null,
    completed_at: null,
    status: 'pending_approval',
    steps: asked,
    approvals,
  });
  expect(messages).toMatchObject([{ approvals: [{ id: 'one' }] }]);
  expect(unplaced.map(({ id }) => id)).toEqual(['two']);
});

test('an approval of several calls waits beside the first of them, and is shown with each once it is decided', () => {
  const call = (id: string) => ({ id, tool: 'mail__read', arguments: {}, decision: null });
  const approval = {
    id: 'both',
    title: 'The agent asks to make 2 calls',
    status: 'pending' as 'pending' | 'approved',
    requested_at: new Date(1).toISOString(),
    decided_at: null,
    calls: [call('call_1'), call('call_2')],
  };
  const place = (parts: AgentPart[]) =>
    attachApprovals(buildLiveMessages(parts, []), {
      id: 'run_1',
      created_at: '',
      started_at: null,
      completed_at: null,
      status: 'pending_approval',
      steps: [step(1, { kind: 'approve', name: 'both', approval_id: 'both' })],
      approvals: [approval],
    });
  const parts = ['call_1', 'call_2', 'call_3'].map((id) => part('tool_call', id, { id }));
  const listIds = ({ messages }: ReturnType<typeof place>) =>
    messages.map((one) => (one.kind === 'call' ? one.approvals.map(({ id }) => id) : []));
  expect(listIds(place(parts))).toEqual([['both'], [], []]);
  approval.status = 'approved';
  expect(listIds(place(parts))).toEqual([['both'], ['both'], []]);
  expect(place([]).unplaced).toEqual([approval]);
});
