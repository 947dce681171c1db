import { setupResource } from '@gantry/testing';
import request from 'supertest';
import { testWorkerApi } from '../../test/test-worker-api';

const api = testWorkerApi();
const member = setupResource(() => api.addMember('member'));
const as = (credential: string) => ({ Authorization: `Bearer ${credential}` });
const get = (path: string, credential: string) => request(api.url).get(path).set(as(credential));
const post = (path: string, credential: string, body: object = {}) =>
  request(api.url).post(path).set(as(credential)).send(body);

const files = [{ path: 'main.py', content: 'def run():\n    return 1\n' }];
const newWorker = async (name: string): Promise<string> =>
  (await post('/api/workers', api.owner.jwt, { name, files }).expect(201)).body.id;
const createRestrictedToken = async (restrict: object, kind: 'personal' | 'workspace' = 'personal') =>
  (await api.createToken(kind, api.owner.jwt, { restrict })).token;

describe('a token that may only read', () => {
  test.each(['personal', 'workspace'] as const)('reads and changes nothing (%s)', async (kind) => {
    const worker = await newWorker(`Read ${kind}`);
    const token = await createRestrictedToken({ readonly: true }, kind);
    await get(`/api/workers/${worker}`, token).expect(200);
    const { body } = await post(`/api/workers/${worker}/runs`, token).expect(403);
    expect(body).toMatchObject({ code: 'restricted', detail: expect.stringContaining('restrict.readonly') });
    await post('/auth/tokens', token, { name: 'x' }).expect(403);
    await post('/api/schedules/preview', token, { cron: '0 9 * * *' }).expect(200);
  });

  test('shows its restriction in its own description, in the list, and in the audit log', async () => {
    const { id, token } = await api.createToken('personal', api.owner.jwt, { restrict: { readonly: true } });
    const rules = { readonly: true, workers: null, budget_usd: null };
    expect((await get('/auth/me', token).expect(200)).body.restrict).toMatchObject(rules);
    const listed = (await get('/auth/tokens', api.owner.jwt)).body.find((one: { id: string }) => one.id === id);
    expect(listed.restrict).toMatchObject(rules);
    const log = await get(`/api/audit-log?action=token.created&resource_id=${id}`, api.owner.jwt).expect(200);
    expect(log.body[0].details.restrict).toMatchObject(rules);
  });

  test('is shown no link by which it could decide without its token', async () => {
    const { body } = await post('/api/workers', api.owner.jwt, { name: 'Asks', files, approvals: { required: true } });
    await post(`/api/workers/${body.id}/runs`, api.owner.jwt).expect(201);
    const getRestriction = async (credential: string) =>
      (await get(`/api/approvals?worker_id=${body.id}`, credential).expect(200)).body[0];
    expect((await getRestriction(api.owner.jwt)).review_url).toEqual(expect.any(String));
    expect(await getRestriction(await createRestrictedToken({ readonly: true }))).toMatchObject({ review_url: null });
    expect(await getRestriction(await createRestrictedToken({ require_approval: true }))).toMatchObject({
      review_url: null,
    });
  });
});

describe('a token for some workers', () => {
  test('sees, runs and lists those, and no others', async () => {
    const [mine, other] = [await newWorker('Mine'), await newWorker('Other')];
    const ran = (await post(`/api/workers/${mine}/runs`, api.owner.jwt).expect(201)).body.run_id;
    const foreign = (await post(`/api/workers/${other}/runs`, api.owner.jwt).expect(201)).body.run_id;
    const token = await createRestrictedToken({ workers: [mine] });

    await post(`/api/workers/${mine}/runs`, token).expect(201);
    const refused = await post(`/api/workers/${other}/runs`, token).expect(403);
    expect(refused.body.detail).toContain('restrict.workers');
    expect((await get('/api/workers', token)).body.map(({ id }: { id: string }) => id)).toEqual([mine]);
    const runs = (await get('/api/runs', token).expect(200)).body.map(({ id }: { id: string }) => id);
    expect(runs).toContain(ran);
    expect(runs).not.toContain(foreign);
    await get(`/api/runs/${ran}`, token).expect(200);
    await get(`/api/runs/${foreign}`, token).expect(404);
    await get(`/api/runs?worker_id=${other}`, token).expect(404);
  });

  test('is valid for nothing else in the workspace', async () => {
    const token = await createRestrictedToken({ workers: [await newWorker('Only')] });
    for (const path of ['/api/secrets', '/api/contexts', '/api/audit-log', '/api/usage', '/api/events']) {
      expect((await get(path, token).expect(403)).body.code).toBe('restricted');
    }
  });

  test('acts in the workspace where it was created, and in no other one of its user', async () => {
    const { body } = await post('/api/workspaces', member.jwt, { name: 'Second' }).expect(201);
    const restrict = { workers: [await newWorker('Same name')] };
    const { token } = await api.createToken('personal', member.jwt, { restrict });
    await get('/api/workers', token).expect(200);
    await get('/api/workers', token).set('x-svc-workspace', body.id).expect(403);
    expect((await get('/auth/me', token)).body.workspaces).toHaveLength(1);
  });
});

describe('a restricted token creates narrower ones', () => {
  let maker: string;

  beforeAll(async () => {
    for (const name of ['first', 'second', 'third']) await newWorker(name);
    maker = await createRestrictedToken({ workers: ['first', 'second'], toolsets: ['workers', 'runs'], budget_usd: 5 });
  });

  test('with its own restrictions by default', async () => {
    const { body } = await post('/auth/tokens', maker, { name: 'x' }).expect(201);
    expect(body.restrict).toMatchObject({ workers: ['first', 'second'], toolsets: ['workers', 'runs'], budget_usd: 5 });
    const rules = (await get('/auth/me', body.token).expect(200)).body.restrict;
    expect(rules).toEqual(body.restrict);
  });

  test('and with more on request', async () => {
    const restrict = { workers: ['first'], toolsets: ['runs'], budget_usd: 1, readonly: true };
    const { body } = await post('/auth/tokens', maker, { name: 'x', restrict }).expect(201);
    expect(body.restrict).toMatchObject(restrict);
    const ofWorkspace = await post('/api/workspace/tokens', maker, { name: 'x', restrict }).expect(201);
    expect(ofWorkspace.body.restrict).toMatchObject(restrict);
  });

  test.each([
    [{ workers: ['first', 'third'] }, 'workers'],
    [{ automations: ['aut_x'] }, 'automations'],
    [{ toolsets: ['runs', 'skills'] }, 'toolsets'],
    [{ budget_usd: 6 }, 'budget_usd'],
  ])('but not %j', async (restrict, rule) => {
    const { body } = await post('/auth/tokens', maker, { name: 'x', restrict }).expect(403);
    expect(body).toMatchObject({ code: 'wider_than_maker', detail: expect.stringContaining(`restrict.${rule}`) });
  });

  test('nor one whose runs need no approval', async () => {
    const token = await createRestrictedToken({ require_approval: true });
    const restrict = { require_approval: false };
    expect((await post('/auth/tokens', token, { name: 'x', restrict }).expect(403)).body.detail).toContain('approval');
    expect((await post('/auth/tokens', token, { name: 'x' }).expect(201)).body.restrict.require_approval).toBe(true);
  });
});

describe('the workers that a token names', () => {
  const requestToken = (workers: string[], credential: string, path = '/auth/tokens') =>
    post(path, credential, { name: 'x', restrict: { workers } });
  const wrongPlaces = async (workers: string[], credential: string, path?: string) => {
    const { body } = await requestToken(workers, credential, path).expect(400);
    return body.errors;
  };
  const missing = (index: number) => ({ path: `restrict.workers.${index}`, message: 'there is no such worker' });

  test('must be visible to its creator: others are treated as unknown', async () => {
    const mine = await newWorker('Named');
    const hidden = (
      await post('/api/workers', api.owner.jwt, { name: 'Hidden', files, visibility: 'private' }).expect(201)
    ).body.id;
    const foreign = (await post('/api/workers', api.foreign.owner.jwt, { name: 'Of others', files }).expect(201)).body
      .id;
    const deleted = await newWorker('Deleted');
    await request(api.url).delete(`/api/workers/${deleted}`).set(as(api.owner.jwt)).expect(204);

    const getRestriction = [mine, foreign, 'nowhere', hidden, deleted];
    expect(await wrongPlaces(getRestriction, member.jwt)).toEqual([missing(1), missing(2), missing(3), missing(4)]);
    expect(await wrongPlaces(getRestriction, api.owner.jwt)).toEqual([missing(1), missing(2), missing(4)]);
    expect(await wrongPlaces([foreign], api.owner.jwt, '/api/workspace/tokens')).toEqual([missing(0)]);
    await requestToken([mine, hidden], api.owner.jwt).expect(201);
  });

  test('can be narrowed in tokens that it creates, and stay when one is deleted', async () => {
    const [kept, going] = [await newWorker('Kept'), await newWorker('Going')];
    const token = await createRestrictedToken({ workers: [kept, going] });
    await requestToken([kept, 'nowhere'], token).expect(403);
    await request(api.url).delete(`/api/workers/${going}`).set(as(api.owner.jwt)).expect(204);
    expect(await wrongPlaces([kept, going], token)).toEqual([missing(1)]);
    const { body } = await post('/auth/tokens', token, { name: 'x' }).expect(201);
    expect(body.restrict.workers).toEqual([kept, going]);
  });
});

test('the earlier of both expiry times applies', async () => {
  const [soon, late] = [3_600_000, 7_200_000].map((ms) => new Date(Date.now() + ms).toISOString());
  const { body } = await post('/auth/tokens', api.owner.jwt, {
    name: 'x',
    expires_at: late,
    restrict: { expires_at: soon },
  }).expect(201);
  expect(body.expires_at).toBe(soon);
  const past = { name: 'x', restrict: { expires_at: '2001-01-01T00:00:00.000Z' } };
  expect((await post('/auth/tokens', api.owner.jwt, past).expect(400)).body.errors[0].path).toBe('restrict.expires_at');
});

test.each([[{}], [{ workers: [] }], [{ toolsets: ['everything'] }], [{ budget_usd: -1 }], [{ hosts: ['x'] }]])(
  'restrict %j is a 400',
  async (restrict) => {
    const { body } = await post('/auth/tokens', api.owner.jwt, { name: 'x', restrict }).expect(400);
    expect(body.detail).toContain('restrict');
  },
);

describe('a token with an unknown restriction is refused', () => {
  const introspect = (token: string, enforces?: string[]) =>
    api.introspect({ kind: 'token', token, ...(enforces && { enforces }) });

  test('by a service of an earlier version, or one that enforces other rules', async () => {
    const token = await createRestrictedToken({ readonly: true });
    expect(await introspect(token)).toBeNull();
    expect(await introspect(token, ['workers'])).toBeNull();
    expect(await introspect(token, ['readonly'])).toMatchObject({ restriction: { readonly: true } });
  });

  test('if its row has a rule of a later version', async () => {
    const { id, token } = await api.createToken('personal', api.owner.jwt, { restrict: { readonly: true } });
    await api.database.pool.query(`UPDATE tokens SET restriction = '{"hosts": ["x"]}' WHERE id = $1`, [id]);
    expect(await introspect(token, ['readonly', 'hosts'])).toBeNull();
  });

  test('by a replica of an earlier version, which does not find its hash', async () => {
    const { id, token } = await api.createToken('personal', api.owner.jwt, { restrict: { readonly: true } });
    const { rows } = await api.database.pool.query('SELECT hash FROM tokens WHERE id = $1', [id]);
    expect(api.deps.hasher.matches(token, rows[0].hash)).toBe(false);
  });
});
