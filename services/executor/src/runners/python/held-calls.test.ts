/**
 * Tests calls of an agent that need approval, in real sandboxes; a stand-in for worker-api sends responses and
 * decisions.
 */
import { type Job, type JobAgent, MODELS_CONNECTION, type RunEvent } from '@gantry/events';
import { setupTestExecutor } from '../../test/executor-fixture';
import { type ModelTurn, setupModelCalls } from '../../test/setup-model-calls';

const fixture = setupTestExecutor({ sources: ['worker'] });
const models = setupModelCalls(fixture);
beforeEach(() => {
  models.callTool = ({ tool }) => ({ result: `${tool} done` });
});

const buildMailCall = (tool: string, callArguments: object, destructive = true) => ({
  name: `mail__${tool}`,
  arguments: callArguments,
  serves: { connection: 'mail', tool, destructive },
});
const agent: JobAgent = {
  skill: 'SKILL.md',
  model: null,
  maxTurns: 5,
  output: null,
  tools: [
    { kind: 'python', approve: 'always' },
    { kind: 'connection', connection: 'mail', tool: null, approve: 'destructive' },
  ],
};
const job: Partial<Omit<Job, 'limits'>> = {
  entrypoint: 'SKILL.md',
  agent,
  may: ['approve', 'call'],
  tools: [
    { name: MODELS_CONNECTION, tools: [] },
    { name: 'mail', tools: null },
  ],
};

/** Starts a run that waits for approval. */
async function startHeldRun(...calls: NonNullable<ModelTurn['calls']>) {
  models.turns = [{ calls }, { text: 'ok' }];
  const held = await fixture.service.run({ 'SKILL.md': 'Tidy the mail.' }, job);
  return { runId: held.job.runId, suspension: held.finished.suspension };
}

async function decide(runId: string, ordinal: number, result: object) {
  const decision = { approved_by: 'ada@example.com', data: null, ...result };
  fixture.service.recordStep(runId, { ordinal, kind: 'approve', name: 'x', result: decision });
  return fixture.service.runAgain(runId, job);
}

const at = '2026-01-05T09:20:00.000Z';
const approved = { status: 'approved', arguments: null, reason: null };
const listMailCalls = () =>
  models.received.filter(({ connection }) => connection === 'mail').map((one) => [one.tool, one.arguments]);
const listToolMessages = () => {
  const last = models.received.findLast(({ connection }) => connection === MODELS_CONNECTION);
  return ((last?.arguments.messages ?? []) as { role: string; content: string }[])
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => content);
};
const listParts = (events: RunEvent[]) =>
  events.flatMap((one) => (one.type === 'agent' ? [`${one.part} ${one.callId}`] : []));

test('a call with invalid arguments is neither made nor sent for approval', async () => {
  const wrong = { ...buildMailCall('move', { id: 'x' }), problems: ['id must be of type integer'] };
  const { suspension } = await startHeldRun(wrong, buildMailCall('move', { id: 2 }));
  expect(suspension).toMatchObject({
    data: { tool: 'mail__move', arguments: { id: 2 } },
    calls: [{ id: 'call_2' }],
  });
});

test('calls of one response that need approval are one request, and all are made in order', async () => {
  const { runId, suspension } = await startHeldRun(
    buildMailCall('read', { id: 1 }, false),
    buildMailCall('purge', { folder: 'spam' }),
    { name: 'python', arguments: { code: 'print(1)' } },
    buildMailCall('read', { id: 2 }, false),
    buildMailCall('purge', { folder: 'old' }),
  );
  expect(suspension).toMatchObject({
    kind: 'approve',
    title: 'The agent asks to make 3 calls',
    data: {
      calls: [
        { tool: 'mail__purge', arguments: { folder: 'spam' } },
        { tool: 'python', arguments: { code: 'print(1)' } },
        { tool: 'mail__purge', arguments: { folder: 'old' } },
      ],
    },
    calls: [
      { id: 'call_2', serves: { connection: 'mail', tool: 'purge' }, parameters: null },
      { id: 'call_3', serves: null, parameters: { required: ['code'] } },
      { id: 'call_5', serves: { connection: 'mail', tool: 'purge' }, parameters: null },
    ],
  });
  // Calls without approval were made before the request, in order.
  expect(listMailCalls()).toEqual([['read', { id: 1 }]]);
  const corrected = { status: 'corrected', arguments: { folder: 'junk' }, reason: null };
  const refused = { status: 'refused', arguments: null, reason: 'still <data>needed' };
  const { finished, events } = await decide(runId, 3, { decided_at: at, calls: [corrected, approved, refused] });
  expect(finished).toMatchObject({ status: 'completed', output: { text: 'ok' } });
  expect(listMailCalls().slice(1)).toEqual([
    ['purge', { folder: 'junk' }],
    ['read', { id: 2 }],
  ]);
  const [, first, second, , last] = listToolMessages();
  expect(first).toBe(
    'A person corrected the arguments of this call. It was made with these:\n<data>\n{"folder": "junk"}\n</data>\nIts result:\n<data>\npurge done\n</data>',
  );
  expect(second).toMatch(/^<data>\n.*"stdout": "1/);
  expect(last).toBe(
    'A person refused this call, so it was not made. The reason:\n<data>\nstill &lt;data>needed\n</data>',
  );
  expect(listParts(events)).toEqual([
    ...['tool_result call_2', 'tool_call call_3', 'tool_result call_3', 'tool_call call_4', 'tool_result call_4'],
    ...['tool_call call_5', 'tool_result call_5', 'text undefined'],
  ]);
});

test('the transcript records each decision with its approver and time', async () => {
  const { runId } = await startHeldRun(
    buildMailCall('purge', { folder: 'spam' }),
    buildMailCall('purge', { folder: 'old' }),
  );
  const corrected = { status: 'corrected', arguments: { folder: 'junk' }, reason: null };
  const refused = { status: 'refused', arguments: null, reason: 'not yet' };
  await decide(runId, 2, { decided_at: at, calls: [corrected, refused] });
  const { parts } = JSON.parse(String(fixture.service.objects.get(`${runId}/transcript.json`)));
  const by = { part: 'decision', name: 'mail__purge', by: 'ada@example.com', at };
  expect(parts.filter(({ part }: { part: string }) => part === 'decision')).toEqual([
    { ...by, id: 'call_1', status: 'corrected', text: '', from: { folder: 'spam' }, to: { folder: 'junk' } },
    { ...by, id: 'call_2', status: 'refused', text: 'not yet' },
  ]);
});

test('a decision recorded by an earlier version applies only to the first call', async () => {
  const { runId } = await startHeldRun(
    buildMailCall('purge', { folder: 'spam' }),
    buildMailCall('purge', { folder: 'old' }),
  );
  const { finished } = await decide(runId, 2, {});
  expect(listMailCalls()).toEqual([['purge', { folder: 'spam' }]]);
  expect(finished.suspension).toMatchObject({
    kind: 'approve',
    title: 'The agent asks to call mail__purge',
    data: { tool: 'mail__purge', arguments: { folder: 'old' } },
  });
});

test('calls that are too large for one request are approved one after the other', async () => {
  const large = (letter: string) => buildMailCall('purge', { folder: letter.repeat(30_000) });
  const { runId, suspension } = await startHeldRun(large('a'), large('b'));
  expect(suspension).toMatchObject({ calls: [{ id: 'call_1' }] });
  const { finished } = await decide(runId, 2, { decided_at: at, calls: [approved] });
  expect(finished.suspension).toMatchObject({ calls: [{ id: 'call_2' }] });
});
