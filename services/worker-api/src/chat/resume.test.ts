/** A message that the end of its replica interrupted goes on where it was, and nothing of it is paid or done twice. */
import { setupResource, startScriptedModel, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';

const prices = { m: { input_usd_per_mtok: 1, output_usd_per_mtok: 2 } };
const usage = { input: 100, output: 10 };
const model = setupResource(startScriptedModel, (one) => one.stop());
const api = testWorkerApi(() => ({
  models: parseModels([{ name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'], prices }]),
}));
const owner = () => createCaller(api.url, api.owner.jwt);
const read = async (id: string) => (await owner().get(`/api/conversations/${id}`).expect(200)).body;
const resume = (id: string, as = owner()) => as.post(`/api/conversations/${id}/resume`);
const statusIs = (id: string, status: string) =>
  waitUntil(async () => (await read(id)).status === status, { what: `it is ${status}` });
const sql = (text: string, values: unknown[] = []) => api.database.pool.query(text, values);

type Replica = Awaited<ReturnType<typeof api.replica>>;

/** A message on a replica that ends once so many requests have reached the model. */
async function startAndInterrupt(replica: Replica, requests: number): Promise<string> {
  const told = createCaller(replica.app, api.owner.jwt)
    .post('/api/chat', { message: 'Go', stream: false })
    .then(({ body }) => body);
  await waitUntil(async () => (await model.asked()).length === requests);
  await replica.drain();
  const { conversation_id: id, status } = await told;
  expect(status).toBe('interrupted');
  return id;
}

const listCalls = async (turn: string) =>
  (await sql('SELECT outcome FROM model_calls WHERE turn_id = $1 ORDER BY started_at', [turn])).rows.map(
    ({ outcome }) => outcome,
  );

test('stored answers and results are neither requested nor executed again, and an interrupted text is continued', async () => {
  const worker = await createWorker(api, { name: 'Looked at' });
  const looks = [{ name: 'get_worker', input: { worker_id: worker.id } }];
  await model.says({ text: 'I look.', calls: looks, usage }, { text: 'It is fine', cut: 4, hang: true });
  const id = await startAndInterrupt(await api.replica(), 2);
  await model.says({ text: ' and active.', usage });
  await resume(id)
    .expect(200)
    .expect(({ body }) => expect(body.status).toBe('running'));
  await statusIs(id, 'completed');

  const [asked, ...more] = await model.asked();
  expect(more).toEqual([]);
  const { messages = [] } = asked?.body ?? {};
  expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(1);
  expect(messages.slice(-2)).toMatchObject([
    { role: 'assistant', content: expect.stringMatching(/^It/) },
    { role: 'user', content: expect.stringContaining('continue from there') },
  ]);
  const { turns } = await read(id);
  expect(turns).toHaveLength(1);
  expect(turns[0]).toMatchObject({ status: 'completed', error: null });
  expect(turns[0].parts.map(({ type, partial }: { type: string; partial?: boolean }) => [type, partial])).toEqual([
    ['text', false],
    ['tool_call', undefined],
    ['text', true],
    ['text', false],
  ]);
  expect(await listCalls(turns[0].id)).toEqual(['ok', 'stopped', 'ok']);
});

test('a call that was in progress is not made again, and a waiting one is asked for as before', async () => {
  const worker = await createWorker(api, { name: 'To be paused' });
  const calls = [
    { name: 'get_worker', input: { worker_id: worker.id } },
    { name: 'list_runs', input: { limit: 1 } },
    { name: 'set_worker_state', input: { worker_id: worker.id, state: 'paused' } },
  ];
  await model.says({ calls, usage });
  const { body } = await owner().post('/api/chat', { message: 'Pause it', stream: false }).expect(200);
  const { conversation_id: id, turn_id: turn } = body;
  // As a replica leaves it that dies in the middle of the first of these calls.
  await sql("UPDATE chat_parts SET status = 'running' WHERE turn_id = $1 AND number = 2", [turn]);
  await sql("UPDATE chat_parts SET status = 'ready' WHERE turn_id = $1 AND number = 3", [turn]);
  await sql("UPDATE chat_turns SET status = 'running', leased_by = 'rpl_dead', leased_until = now() WHERE id = $1", [
    turn,
  ]);
  await statusIs(id, 'interrupted');
  const statuses = async () =>
    (await read(id)).turns[0].parts.map(({ status }: { status: string }) => status).filter(Boolean);
  expect(await statuses()).toEqual(['unknown', 'stopped', 'stopped']);

  await resume(id).expect(200);
  await statusIs(id, 'waiting');
  expect(await statuses()).toEqual(['unknown', 'done', 'pending']);
  const call = (await read(id)).turns[0].parts.at(-1).call_id;
  await model.says({ text: 'It is paused.', usage });
  await owner().post(`/api/conversations/${id}/approvals/${call}`, { approve: true }).expect(200);
  await statusIs(id, 'completed');
  const [asked] = await model.asked();
  expect(JSON.stringify(asked?.body.messages)).toContain('It is unknown whether the call was carried out');
  expect((await owner().get(`/api/workers/${worker.id}`)).body.status).toBe('paused');
});

test('text of a replica that died without storing it is kept, and continued', async () => {
  await model.says({ text: 'Once upon a time', cut: 6, hang: true });
  const replica = await api.replica();
  const told = createCaller(replica.app, api.owner.jwt).post('/api/chat', { message: 'Tell', stream: false });
  const answer = told.then(({ body }) => body);
  // On a busy machine even a word comes in pieces.
  const words =
    "SELECT string_agg(data ->> 'text', '' ORDER BY created_at, id) AS said FROM chat_events WHERE type = 'text'";
  await waitUntil(async () => (await sql(words)).rows[0].said?.includes('Once'));
  // Its lease is another's from now on: it writes nothing more.
  await sql("UPDATE chat_turns SET leased_by = 'rpl_dead', leased_until = now() WHERE status = 'running'");
  const { conversation_id: id } = await answer;
  await statusIs(id, 'interrupted');
  const { parts } = (await read(id)).turns[0];
  expect(parts).toMatchObject([{ type: 'text', text: expect.stringMatching(/^Once/), partial: true }]);
  await model.says({ text: ' there was an end.' });
  await resume(id).expect(200);
  await statusIs(id, 'completed');
  await replica.drain();
});

test('only its author resumes it, once, and only if it was interrupted', async () => {
  await model.says({ text: 'x', cut: 1, hang: true });
  const id = await startAndInterrupt(await api.replica(), 1);
  const admin = createCaller(api.url, (await api.addMember('admin')).jwt);
  await resume(id, admin).expect(404);
  await model.says({ text: 'Held', hold: true }, { text: 'twice' });
  const answers = await Promise.all([resume(id), resume(id)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(answers.find(({ status }) => status === 409)?.body.code).toBe('not_interrupted');
  await waitUntil(async () => (await model.asked()).length === 1);
  await model.release();
  await statusIs(id, 'completed');
  expect((await resume(id).expect(409)).body.detail).toContain('its status is completed');
});
