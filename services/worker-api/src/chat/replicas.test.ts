/** A conversation outlives the replica that worked on it. */
import { setupResource, startScriptedModel, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { createWorker } from '../test/create-worker';
import { parseModels } from '../test/parse-models';
import { testWorkerApi } from '../test/test-worker-api';

const model = setupResource(startScriptedModel, (one) => one.stop());
const api = testWorkerApi(() => ({
  models: parseModels([{ name: 'local', kind: 'openai-compatible', base_url: model.baseUrl, models: ['m'] }]),
  oauthApps: { github: { client_id: 'of-the-operator', client_secret: 'secret-of-the-operator' } },
}));
const owner = () => createCaller(api.url, api.owner.jwt);
const read = async (id: string) => (await owner().get(`/api/conversations/${id}`).expect(200)).body;

test('a call that waits is approved on another replica, which continues with it', async () => {
  const worker = await createWorker(api, { name: 'To be paused' });
  const calls = [{ name: 'set_worker_state', input: { worker_id: worker.id, state: 'paused' } }];
  await model.says({ calls }, { text: 'It is paused.' });
  const { body } = await owner().post('/api/chat', { message: 'Pause it', stream: false }).expect(200);
  expect(body).toMatchObject({ status: 'waiting', approvals: [{ arguments: calls[0]?.input }] });
  const other = createCaller((await api.replica()).app, api.owner.jwt);
  const path = `/api/conversations/${body.conversation_id}/approvals/${body.approvals[0].call_id}`;
  await other.post(path, { approve: true }).expect(200);
  await waitUntil(async () => (await read(body.conversation_id)).status === 'completed');
  expect((await owner().get(`/api/workers/${worker.id}`)).body.status).toBe('paused');
});

test('a message that is interrupted by the end of its replica says so, and the next one continues', async () => {
  const replica = await api.replica();
  await model.says({ text: 'A long story', cut: 4, hang: true });
  const told = createCaller(replica.app, api.owner.jwt)
    .post('/api/chat', { message: 'Tell', stream: false })
    .then(({ body }) => body);
  // Only text that was streamed before the interruption is kept.
  await waitUntil(async () => {
    const { rowCount } = await api.deps.pool.query(
      `SELECT FROM chat_events JOIN conversations ON conversations.id = conversation_id
       WHERE title = 'Tell' AND type = 'text'`,
    );
    return rowCount;
  });
  await replica.drain();
  const body = await told;
  expect(body).toMatchObject({
    status: 'interrupted',
    text: expect.stringMatching(/^A/),
    error: { code: 'interrupted', detail: expect.stringContaining('send another message to continue') },
  });
  await model.says({ text: 'Here again.' });
  const next = { message: 'Go on', conversation_id: body.conversation_id, stream: false };
  expect((await owner().post('/api/chat', next).expect(200)).body.text).toBe('Here again.');
});

test('an account is connected by a link, and no key is asked for', async () => {
  await model.says({ calls: [{ name: 'connect_app', input: { app: 'github' } }] }, { text: 'Follow the link.' });
  const { body } = await owner().post('/api/chat', { message: 'Connect GitHub', stream: false }).expect(200);
  expect(body.links).toEqual([expect.stringMatching(/^https:\/\/github\.com\/login\/oauth\/authorize\?/)]);
  await model.says(
    { calls: [{ name: 'connect_app', input: { app: 'github', value: 'ghp_pasted' } }] },
    { text: 'I cannot.' },
  );
  const refused = await owner().post('/api/chat', { message: 'With this key', stream: false }).expect(200);
  const [tried] = (await read(refused.body.conversation_id)).turns[0].parts;
  expect(tried).toMatchObject({ status: 'failed', result: 'unknown argument: value' });
});
