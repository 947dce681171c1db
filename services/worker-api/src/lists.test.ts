/** Tests pagination: `limit`, `offset`, and a `next` link that keeps the requested path. */
import { createCaller } from './test/caller';
import { startTestWorkerApi, type TestWorkerApi } from './test/test-worker-api';

let api: TestWorkerApi;
let me: ReturnType<typeof createCaller>;
beforeAll(async () => {
  api = await startTestWorkerApi();
  me = createCaller(api.url, api.owner.jwt);
  await api.addMember('member');
  for (const n of [1, 2]) {
    await api.createToken('personal', api.owner.jwt);
    await api.createToken('workspace', api.owner.jwt);
    await me.post('/api/contexts', { name: `pack-${n}` }).expect(201);
    await me.post(`/api/secrets/SECRET_${n}`, { value: 'x' }).expect(201);
    await me.post('/api/workspaces', { name: `Another ${n}` }).expect(201);
    await me.post(`/api/workspaces/${api.workspaceId}/members/invite`, { email: `guest${n}@example.com` }).expect(201);
  }
});
afterAll(() => api.stop());

test.each([
  ['/auth/tokens'],
  ['/api/workspace/tokens'],
  ['/api/workspaces'],
  ['/v1/contexts'],
  ['/api/secrets'],
  ['/api/audit-log'],
  ['members'],
  ['invitations'],
])('%s is paginated', async (path) => {
  const list = path.startsWith('/') ? path : `/api/workspaces/${api.workspaceId}/${path}`;
  const whole = (await me.get(list).expect(200)).body;
  expect(whole.length).toBeGreaterThan(1);
  const first = await me.get(`${list}?limit=1`).expect(200);
  expect(first.body).toEqual(whole.slice(0, 1));
  const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(first.headers.link ?? '') ?? [];
  expect(next.startsWith(`${list}?`)).toBe(true);
  expect((await me.get(next).expect(200)).body).toEqual(whole.slice(1, 2));
  expect((await me.get(`${list}?limit=1&offset=1`).expect(200)).body).toEqual(whole.slice(1, 2));
});
