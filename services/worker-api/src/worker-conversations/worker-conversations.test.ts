import { type FakeJob, setupResource, zeroUsage } from '@gantry/testing';
import { listSweeps } from '../housekeeping';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { testWorkerApi } from '../test/test-worker-api';
import { untilEnded } from '../test/until-ended';

const api = testWorkerApi();
const me = setupResource(() => createCaller(api.url, api.owner.jwt));
const executor = setupResource(() => api.connectExecutor());

const createAgent = (more: object = {}) =>
  createWorker(api, {
    runner: 'agent',
    inputs: [],
    network: 'none',
    retry: { max_attempts: 1 },
    files: [{ path: 'SKILL.md', content: 'Answer questions.' }],
    ...more,
  });
const conversationsPath = (workerId: string) => `/api/workers/${workerId}/conversations`;

const claim = (): Promise<FakeJob> => executor.claimJob();

async function begin(workerId: string, body: object = {}, as = me): Promise<string> {
  return (await as.post(conversationsPath(workerId), body).expect(201)).body.id;
}

/** Sends a message and lets its run end. @returns the job, and the turn as it is read then */
async function sendMessage(workerId: string, id: string, message: string, output: unknown) {
  const path = `${conversationsPath(workerId)}/${id}`;
  const sent = (await me.post(`${path}/messages`, { message }).expect(201)).body;
  const job = await claim();
  await job.complete(output);
  await untilEnded(api, sent.run_id);
  const { turns } = (await me.get(path).expect(200)).body;
  return { job, turn: turns.at(-1) };
}

test('each message is a run with the messages before it and their answers', async () => {
  const { id: workerId } = await createAgent();
  const claimed = claim();
  const conversation = (await me.post(conversationsPath(workerId), { message: 'Who was Ada?' }).expect(201)).body;
  expect(conversation).toMatchObject({ worker_id: workerId, title: 'Who was Ada?', inputs: {} });
  expect(conversation.turns).toMatchObject([{ number: 1, message: 'Who was Ada?', answer: null, ended_at: null }]);
  const first = await claimed;
  expect(first).toMatchObject({ inputs: { message: 'Who was Ada?' } });
  expect(first.agent?.conversation).toEqual({ messages: [], leftOut: 0 });
  await first.complete({ text: 'A mathematician.' });
  await untilEnded(api, conversation.turns[0].run_id);

  const { job, turn } = await sendMessage(workerId, conversation.id, 'Born when?', { year: 1815 });
  expect(job.agent?.conversation).toEqual({
    messages: [
      { role: 'user', content: 'Who was Ada?' },
      { role: 'assistant', content: 'A mathematician.' },
    ],
    leftOut: 0,
  });
  expect(turn).toMatchObject({ number: 2, status: 'completed', answer: '{"year":1815}', error: null, left_out: 0 });
  const listed = await me.get(conversationsPath(workerId)).expect(200);
  expect(listed.body).toMatchObject([{ id: conversation.id, permissions: { delete: true } }]);
  expect(listed.headers).toMatchObject({ 'x-total-count': '1' });
});

test('a replay of a run that answered a message has the same memory, and is not in the conversation', async () => {
  const { id: workerId } = await createAgent();
  const id = await begin(workerId);
  await sendMessage(workerId, id, 'One', { text: 'Two' });
  const { turn } = await sendMessage(workerId, id, 'Three', { text: 'Four' });
  const claimed = claim();
  await me.post(`/api/runs/${turn.run_id}/replay`, {}).expect(201);
  const job = await claimed;
  expect((await me.get(`/api/runs/${turn.run_id}`).expect(200)).body.conversation_id).toBe(id);
  // The copy answers no message.
  expect((await me.get(`/api/runs/${job.runId}`).expect(200)).body.conversation_id).toBeNull();
  expect(job.inputs).toEqual({ message: 'Three' });
  expect(job.agent?.conversation?.messages).toMatchObject([{ content: 'One' }, { content: 'Two' }]);
  await job.complete({ text: 'Four' });
});

test('a request waits for the answer if it asks to', async () => {
  const { id: workerId } = await createAgent();
  const id = await begin(workerId);
  const send = async (path: string, message: string) => {
    const completed = claim().then((job) => job.complete({ text: 'Here.' }));
    const { body } = await me.post(path, { message, wait: 10 }).expect(201);
    await completed;
    return body;
  };
  const sent = await send(`${conversationsPath(workerId)}/${id}/messages`, 'Where?');
  expect(sent).toMatchObject({ status: 'completed', answer: 'Here.' });
  const began = await send(conversationsPath(workerId), 'There?');
  expect(began.turns).toMatchObject([{ status: 'completed', answer: 'Here.' }]);
});

test('a message waits for the answer to the one before, and a failed run is recorded as such in the memory', async () => {
  const { id: workerId } = await createAgent();
  const id = await begin(workerId);
  const messages = `${conversationsPath(workerId)}/${id}/messages`;
  const claimed = claim();
  const sent = (await me.post(messages, { message: 'One' }).expect(201)).body;
  const refused = await me.post(messages, { message: 'Two' }).expect(409);
  expect(refused.body).toMatchObject({ code: 'turn_under_way', detail: expect.stringContaining(sent.run_id) });
  const job = await claimed;
  const error = { code: 'exception' as const, message: 'the model is away' };
  await job.report({ type: 'started' }, { type: 'finished', status: 'failed', error, usage: zeroUsage });
  await untilEnded(api, sent.run_id);
  const next = await sendMessage(workerId, id, 'Two', { text: 'Done' });
  expect(next.job.agent?.conversation?.messages).toEqual([
    { role: 'user', content: 'One' },
    { role: 'assistant', content: '[no answer: the run failed]' },
  ]);
  const { turns } = (await me.get(`${conversationsPath(workerId)}/${id}`)).body;
  expect(turns[0]).toMatchObject({ status: 'failed', answer: null, error: 'the model is away' });
});

test('of two messages at once, one is refused', async () => {
  const { id: workerId } = await createAgent();
  const id = await begin(workerId);
  const messages = `${conversationsPath(workerId)}/${id}/messages`;
  const answers = await Promise.all(['A', 'B', 'C'].map((message) => me.post(messages, { message })));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  const sent = answers.find(({ status }) => status === 201)?.body;
  await me.post(`/api/runs/${sent.run_id}/cancel`, {}).expect(200);
});

test('long texts are shortened, and messages that do not fit are omitted and counted', async () => {
  const { id: workerId } = await createAgent();
  const id = await begin(workerId);
  await sendMessage(workerId, id, 'First', { text: 'Forgotten'.repeat(100) });
  await sendMessage(workerId, id, 'Second', { text: 'a'.repeat(9_000) });
  await sendMessage(workerId, id, 'b'.repeat(8_000), { text: 'c'.repeat(8_500) });
  const { job, turn } = await sendMessage(workerId, id, 'What do you remember?', { text: 'Much' });
  expect(turn.left_out).toBe(1);
  const { messages, leftOut } = job.agent?.conversation ?? { messages: [] };
  expect(leftOut).toBe(1);
  expect(messages.map(({ content }) => content.slice(0, 6))).toEqual(['Second', 'aaaaaa', 'bbbbbb', 'cccccc']);
  expect(messages[1]?.content).toMatch(/^a{8000}\n\[1000 more characters were left out\]$/);
});

test('a request that is repeated with its key starts no second run', async () => {
  const { id: workerId } = await createAgent();
  const post = (path: string, body: object) => me.post(path, body).set('Idempotency-Key', path.replaceAll('/', '-'));
  const [one, again] = [
    await post(conversationsPath(workerId), { message: 'One' }),
    await post(conversationsPath(workerId), { message: 'One' }),
  ];
  expect([one.status, again.status]).toEqual([201, 201]);
  expect(again.body.id).toBe(one.body.id);
  await me.post(`/api/runs/${one.body.turns[0].run_id}/cancel`, {}).expect(200);
  const messages = `${conversationsPath(workerId)}/${one.body.id}/messages`;
  const [two, twice] = [await post(messages, { message: 'Two' }), await post(messages, { message: 'Two' })];
  expect(two.status).toBe(201);
  expect(twice.body.run_id).toBe(two.body.run_id);
  await me.post(`/api/runs/${two.body.run_id}/cancel`, {}).expect(200);
  expect((await me.get(`/api/workers/${workerId}/runs`)).body).toHaveLength(2);
});

test('only an agent has conversations, and its inputs decide what it receives', async () => {
  const python = await createWorker(api);
  const refused = await me.post(conversationsPath(python.id), { message: 'Hi' }).expect(409);
  expect(refused.body.code).toBe('not_an_agent');
  const closed = await createAgent({ inputs: [{ name: 'region', type: 'select', options: ['north', 'south'] }] });
  expect((await me.post(conversationsPath(closed.id), {}).expect(409)).body.code).toBe('no_message_input');

  const { id: workerId } = await createAgent({
    inputs: [
      { name: 'message', type: 'textarea', max_length: 20, required: true },
      { name: 'region', type: 'select', options: ['north', 'south'], required: true },
    ],
  });
  const wrong = await me.post(conversationsPath(workerId), { message: 'Hi', inputs: { region: 'west' } }).expect(400);
  expect(wrong.body.errors).toMatchObject([{ path: 'inputs.region' }]);
  await me.post(conversationsPath(workerId), { inputs: { message: 'Hi', region: 'north' } }).expect(400);
  expect((await me.get(conversationsPath(workerId))).body).toEqual([]);
  const id = await begin(workerId, { inputs: { region: 'north' } });
  const tooLong = await me
    .post(`${conversationsPath(workerId)}/${id}/messages`, { message: 'a'.repeat(21) })
    .expect(400);
  expect(tooLong.body.errors).toMatchObject([{ path: 'inputs.message' }]);
  const { job } = await sendMessage(workerId, id, 'Hi', { text: 'Hello' });
  expect(job.inputs).toEqual({ region: 'north', message: 'Hi' });
});

test('the run of a message is held, limited and refused like every other run of its author', async () => {
  const { id: workerId } = await createAgent({ approvals: { required: true } });
  const id = await begin(workerId);
  const messages = `${conversationsPath(workerId)}/${id}/messages`;
  expect((await me.post(messages, { message: 'May I?' }).expect(201)).body.status).toBe('pending_approval');
  await me.post(messages, { message: 'Now?' }).expect(409);

  const paused = await createAgent();
  await me.post(`/api/workers/${paused.id}/pause`).expect(200);
  expect((await me.post(conversationsPath(paused.id), { message: 'Hi' }).expect(409)).body.code).toBe('paused');

  const other = await createAgent();
  const { token } = await api.createToken('personal', api.owner.jwt, { restrict: { workers: [other.id] } });
  const limited = createCaller(api.url, token);
  await limited.post(conversationsPath(workerId), { message: 'Hi' }).expect(403);
  const began = (await limited.post(conversationsPath(other.id), { message: 'Hi' }).expect(201)).body;
  await limited.get(`${conversationsPath(other.id)}/${id}`).expect(404);
  await me.post(`/api/runs/${began.turns[0].run_id}/cancel`, {}).expect(200);
});

test('a conversation is deleted by its author, the owner of the worker and admins; its runs stay', async () => {
  const { id: workerId } = await createAgent();
  const [one, two] = [await api.addMember('member'), await api.addMember('member')];
  const [first, second] = [createCaller(api.url, one.jwt), createCaller(api.url, two.jwt)];
  const id = await begin(workerId, {}, first);
  const { turn } = await sendMessage(workerId, id, 'Hi', { text: 'Hello' });
  const path = `${conversationsPath(workerId)}/${id}`;
  expect((await second.get(path).expect(200)).body.permissions.delete).toBe(false);
  await second.remove(path).expect(403);
  await first.remove(path).expect(204);
  await me.get(path).expect(404);
  expect((await me.get(`/api/runs/${turn.run_id}`).expect(200)).body.output).toEqual({ text: 'Hello' });
});

test('messages are deleted with their runs, and a conversation with its last message', async () => {
  const { id: workerId } = await createAgent();
  const id = await begin(workerId);
  const old = await sendMessage(workerId, id, 'Old', { text: 'Answer' });
  const recent = await sendMessage(workerId, id, 'Recent', { text: 'Answer' });
  const age = async (runId: string) => {
    const year = "interval '400 days'";
    await api.database.pool.query(
      `UPDATE runs SET created_at = created_at - ${year}, finished_at = finished_at - ${year} WHERE id = $1`,
      [runId],
    );
    await api.database.pool.query(`UPDATE worker_conversations SET updated_at = updated_at - ${year}`);
    const { defaults, maximums } = api.deps.retention;
    const retention = { maximums, defaults: { ...defaults, runsKept: 0 } };
    const sweeps = listSweeps({ ...api.deps, retention }, { signingKeys: api.signingKeys, auditRetentionDays: 365 });
    await sweeps.find(({ what }) => what === 'runs')?.run();
  };
  await age(old.turn.run_id);
  const path = `${conversationsPath(workerId)}/${id}`;
  const { body, headers } = await me.get(path).expect(200);
  expect(body.turns).toMatchObject([{ number: 2, message: 'Recent' }]);
  expect(headers).toMatchObject({ 'x-total-count': '1' });
  await age(recent.turn.run_id);
  await me.get(path).expect(404);
});
