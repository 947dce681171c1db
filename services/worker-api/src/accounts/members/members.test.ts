import { newId } from '@gantry/events';
import { setupResource } from '@gantry/testing';
import { createCaller } from '../../test/caller';
import { type Person, testWorkerApi } from '../../test/test-worker-api';

const api = testWorkerApi();
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const anonymous = setupResource(() => createCaller(api.url));

const as = ({ jwt }: Person) => createCaller(api.url, jwt);
const members = () => `/api/workspaces/${api.workspaceId}/members`;
const getMemberPath = ({ userId }: Person) => `${members()}/${userId}`;

test('every member sees the members, and the permitted actions for each', async () => {
  const [admin, viewer] = [await api.addMember('admin'), await api.addMember('viewer')];
  const getListedMember = async (person: Person, whom: Person) => {
    const { body } = await as(person).get(members()).expect(200);
    return body.find((member: { user_id: string }) => member.user_id === whom.userId);
  };
  expect(await getListedMember(viewer, admin)).toMatchObject({ role: 'admin', email: admin.email });
  const none = { change_role: false, remove: false, reset_password: false };
  const all = { change_role: true, remove: true, reset_password: true };
  expect((await getListedMember(viewer, admin)).permissions).toEqual(none);
  expect((await getListedMember(admin, viewer)).permissions).toEqual(all);
  expect((await getListedMember(admin, api.owner)).permissions).toEqual(none);
  expect((await getListedMember(api.owner, admin)).permissions).toEqual(all);
});

test('a changed role takes effect at the next request', async () => {
  const person = await api.addMember('viewer');
  await as(person).get('/api/workspace/tokens').expect(403);
  const { body } = await owner.put(`${getMemberPath(person)}/role`, { role: 'admin' }).expect(200);
  expect(body).toMatchObject({ user_id: person.userId, role: 'admin' });
  await as(person).get('/api/workspace/tokens').expect(200);
  await owner.put(`${getMemberPath(person)}/role`, { role: 'viewer' }).expect(200);
  await as(person).get('/api/workspace/tokens').expect(403);
});

test('an admin neither appoints, changes nor removes an owner', async () => {
  const [admin, member] = [await api.addMember('admin'), await api.addMember('member')];
  await as(admin)
    .put(`${getMemberPath(member)}/role`, { role: 'owner' })
    .expect(403);
  await as(admin)
    .put(`${getMemberPath(api.owner)}/role`, { role: 'viewer' })
    .expect(403);
  await as(admin).remove(getMemberPath(api.owner)).expect(403);
  await as(admin)
    .post(`${getMemberPath(api.owner)}/password-reset`)
    .expect(403);
  await as(admin)
    .put(`${getMemberPath(member)}/role`, { role: 'admin' })
    .expect(200);
  await as(member).remove(getMemberPath(admin)).expect(204);
});

test('members and viewers cannot manage members', async () => {
  const [member, viewer] = [await api.addMember('member'), await api.addMember('viewer')];
  for (const person of [member, viewer]) {
    await as(person)
      .put(`${getMemberPath(viewer)}/role`, { role: 'member' })
      .expect(403);
    await as(person).remove(getMemberPath(viewer)).expect(403);
    await as(person).post(`${members()}/invite`, { email: 'x@example.com' }).expect(403);
    await as(person).get(`/api/workspaces/${api.workspaceId}/invitations`).expect(403);
    await as(person).patch(`/api/workspaces/${api.workspaceId}`, { name: 'Mine' }).expect(403);
    await as(person).remove(`/api/workspaces/${api.workspaceId}`).expect(403);
    await as(person).get('/api/audit-log').expect(403);
  }
});

test('a removed member is locked out at once, and has no workspace but can create one', async () => {
  const person = await api.addMember('member');
  const { token } = await api.createToken('personal', person.jwt);
  await owner.remove(getMemberPath(person)).expect(204);
  for (const credential of [person.jwt, token]) {
    await createCaller(api.url, credential).get(members()).expect(403);
    await createCaller(api.url, credential).get('/auth/tokens').expect(403);
  }
  const { body } = await as(person).get('/auth/me').expect(200);
  expect(body).toMatchObject({ id: person.userId, workspace_id: null, role: null, workspaces: [] });
  const made = await as(person).post('/api/workspaces', { name: 'My own' }).expect(201);
  expect(made.body).toMatchObject({ name: 'My own', role: 'owner' });
  expect((await as(person).get('/auth/me').expect(200)).body).toMatchObject({
    workspace_id: made.body.id,
    role: 'owner',
  });
});

test('the last owner cannot be demoted or removed, nor leave, also when two owners go at once', async () => {
  const { userId, jwt } = api.foreign.owner;
  const alone = createCaller(api.url, jwt);
  const path = `/api/workspaces/${api.foreign.workspaceId}`;
  for (const answer of [
    await alone.put(`${path}/members/${userId}/role`, { role: 'admin' }),
    await alone.remove(`${path}/members/${userId}`),
    await alone.post(`${path}/leave`),
  ]) {
    expect([answer.status, answer.body.code]).toEqual([409, 'last_owner']);
  }
  const second = await api.addMember('owner');
  const answers = await Promise.all([
    owner.post(`/api/workspaces/${api.workspaceId}/leave`),
    as(second).post(`/api/workspaces/${api.workspaceId}/leave`),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
  // Other tests need their owner.
  await api.database.pool.query(
    `INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, 'owner') ON CONFLICT DO NOTHING`,
    [api.workspaceId, api.owner.userId],
  );
  api.identities.clear();
});

test('transferring makes the other member the owner and the former owner an admin', async () => {
  const { body: workspace } = await owner.post('/api/workspaces', { name: 'To give away' }).expect(201);
  const heir = await api.addMember('member');
  await api.database.prisma.membership.create({
    data: { workspaceId: workspace.id, userId: heir.userId, role: 'viewer' },
  });
  await owner.post(`/api/workspaces/${workspace.id}/transfer`, { user_id: api.foreign.owner.userId }).expect(404);
  await owner.post(`/api/workspaces/${workspace.id}/transfer`, { user_id: api.owner.userId }).expect(409);
  await owner.post(`/api/workspaces/${workspace.id}/transfer`, { user_id: heir.userId }).expect(204);
  const { body } = await as(heir).get(`/api/workspaces/${workspace.id}`).expect(200);
  expect(body).toMatchObject({ role: 'owner', permissions: { delete: true } });
  const mine = await owner.get(`/api/workspaces/${workspace.id}`).expect(200);
  expect(mine.body).toMatchObject({ role: 'admin', permissions: { delete: false, invite: true } });
});

test('another workspace and its members respond like ones that do not exist', async () => {
  const foreign = `/api/workspaces/${api.foreign.workspaceId}`;
  const unknown = `/api/workspaces/${newId('ws_')}`;
  for (const path of ['', '/members', '/invitations']) {
    const [one, other] = [await owner.get(foreign + path), await owner.get(unknown + path)];
    expect([one.status, one.body.code]).toEqual([404, 'not_found']);
    expect(one.body.detail.replace(api.foreign.workspaceId, '')).toBe(other.body.detail.replace(unknown.slice(16), ''));
  }
  const theirs = api.foreign.owner.userId;
  await owner.put(`${members()}/${theirs}/role`, { role: 'viewer' }).expect(404);
  await owner.remove(`${members()}/${theirs}`).expect(404);
  await owner.post(`${members()}/${theirs}/password-reset`).expect(404);
});

test('selecting decides where later requests apply: for the token that selects, else for the person', async () => {
  const { body: second } = await owner.post('/api/workspaces', { name: 'Second' }).expect(201);
  const { token } = await api.createToken('personal', api.owner.jwt);
  const cli = createCaller(api.url, token);
  await cli.post(`/api/workspaces/${second.id}/select`).expect(200);
  expect((await cli.get('/auth/me')).body.workspace_id).toBe(second.id);
  expect((await owner.get('/auth/me')).body.workspace_id).toBe(api.workspaceId);
  await owner.post(`/api/workspaces/${second.id}/select`).expect(200);
  expect((await owner.get('/auth/me')).body.workspace_id).toBe(second.id);
  await owner.post(`/api/workspaces/${api.workspaceId}/select`).expect(200);
});

test('a token with a role of its own cannot create, join or leave a workspace', async () => {
  const { token } = await api.createToken('personal', api.owner.jwt, { role: 'member' });
  const limited = createCaller(api.url, token);
  await limited.post('/api/workspaces', { name: 'Sneaky' }).expect(403);
  await limited.post(`/api/workspaces/${api.workspaceId}/leave`).expect(403);
  await limited.get(members()).expect(200);
  const { token: ofWorkspace } = await api.createToken('workspace', api.owner.jwt);
  await createCaller(api.url, ofWorkspace).post('/api/workspaces', { name: 'Nobody' }).expect(403);
});

test('creating a workspace twice with one Idempotency-Key creates one', async () => {
  const create = () => owner.post('/api/workspaces', { name: 'Once' }).set('Idempotency-Key', 'workspace-once');
  const [first, again] = [await create().expect(201), await create().expect(201)];
  expect(again.body.id).toBe(first.body.id);
});

test.each<['post' | 'put', () => string, object, string]>([
  ['post', () => '/api/workspaces', {}, 'name'],
  ['post', () => '/api/workspaces', { name: '   ' }, 'name'],
  ['post', () => '/api/workspaces', { name: 'x', owner: 'me' }, 'owner'],
  ['put', () => `${getMemberPath(api.owner)}/role`, { role: 'root' }, 'role'],
  ['put', () => `${getMemberPath(api.owner)}/role`, {}, 'role'],
  ['post', () => `${members()}/invite`, { email: 'no address' }, 'email'],
  ['post', () => `${members()}/invite`, { email: 'a@b@c' }, 'email'],
  ['post', () => `${members()}/invite`, {}, 'email'],
  ['post', () => `${members()}/invite`, { email: 'new@example.com', role: 'owner' }, 'role'],
  ['post', () => `${members()}/invite`, { email: 'new@example.com', workspace_id: 'ws_x' }, 'workspace_id'],
])('%s with %#: a 400 that names the field', async (method, path, body, field) => {
  const answer = await owner[method](path(), body).expect(400);
  expect(answer.body.errors).toEqual(expect.arrayContaining([expect.objectContaining({ path: field })]));
});

test('without a credential every operation is refused', async () => {
  await anonymous.get(members()).expect(401);
  await anonymous.post('/api/workspaces', { name: 'x' }).expect(401);
  await anonymous.get('/api/audit-log').expect(401);
});
