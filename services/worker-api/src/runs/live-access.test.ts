/** Live streams end when their reader loses access. */
import { type OpenStream, openStream, waitUntil } from '@gantry/testing';
import request from 'supertest';
import { createCaller } from '../test/caller';
import { createTestWorker } from '../test/create-test-worker';
import { DASHBOARD_URL, type Person, testWorkerApi, withCookie } from '../test/test-worker-api';

let runId: string;
let streams: OpenStream[] = [];

const api = testWorkerApi();
beforeAll(async () => {
  const worker = await createTestWorker(api);
  const { body } = await createCaller(api.url, api.owner.jwt).post(`/api/workers/${worker.id}/runs`, { inputs: {} });
  runId = body.run_id;
});
afterEach(() => {
  for (const stream of streams) stream.close();
  streams = [];
});

async function follow(token: string, route = 'events'): Promise<OpenStream> {
  const stream = await openStream(`${api.url}/api/runs/${runId}/${route}`, { Authorization: `Bearer ${token}` });
  streams.push(stream);
  return stream;
}

const waitUntilEnded = (streamsToEnd: OpenStream[]) =>
  waitUntil(() => streamsToEnd.every((stream) => stream.hasEnded()));
const owner = () => createCaller(api.url, api.owner.jwt);

test.each(['events', 'stream', 'logs/stream'])(
  '%s ends with the token that opened it, and others continue',
  async (route) => {
    const { id, token } = await api.createToken('workspace', api.owner.jwt);
    const other = await api.createToken('workspace', api.owner.jwt);
    const [ownStream, otherStream] = [await follow(token, route), await follow(other.token, route)];
    await owner().remove(`/api/workspace/tokens/${id}`).expect(204);
    await waitUntilEnded([ownStream]);
    expect(otherStream.hasEnded()).toBe(false);
    expect((await follow(token, route)).status).toBe(401);
  },
);

test('a stream ends when its token expires', async () => {
  const expiresAt = new Date(Date.now() + 2_000).toISOString();
  const { token } = await api.createToken('personal', api.owner.jwt, { expires_at: expiresAt });
  const stream = await follow(token);
  expect(stream.status).toBe(200);
  await waitUntilEnded([stream]);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
});

test('a stream ends with its session', async () => {
  const person = await api.addMember('viewer');
  const stream = await follow(person.jwt);
  await request(api.url)
    .post('/auth/logout')
    .set({ Cookie: withCookie(person.cookie), Origin: DASHBOARD_URL })
    .expect(204);
  await waitUntilEnded([stream]);
});

test('a stream ends when its caller is removed from the workspace, with any credential', async () => {
  const person: Person = await api.addMember('member');
  const { token } = await api.createToken('personal', person.jwt);
  const both = [await follow(person.jwt), await follow(token)];
  await owner().remove(`/api/workspaces/${api.workspaceId}/members/${person.userId}`).expect(204);
  await waitUntilEnded(both);
});

test('a credential has at most twenty open streams', async () => {
  const { token } = await api.createToken('workspace', api.owner.jwt);
  for (let i = 0; i < 20; i++) expect((await follow(token)).status).toBe(200);
  const over = await fetch(`${api.url}/api/runs/${runId}/events`, { headers: { Authorization: `Bearer ${token}` } });
  expect([over.status, over.headers.get('retry-after')]).toEqual([429, '5']);
  expect(await over.json()).toMatchObject({
    code: 'too_many_open',
    detail: expect.stringContaining('this credential has reached the limit of 20 live streams'),
  });
  expect((await follow(api.owner.jwt)).status).toBe(200);
  streams[0]?.close();
  await waitUntil(async () => (await follow(token)).status === 200);
});
