import {
  connectBus,
  INTROSPECT_SUBJECT,
  introspectReply,
  MEMBERS_SUBJECT,
  membersReply,
  request,
} from '@gantry/events';
import { setupResource } from '@gantry/testing';
import http from 'supertest';
import { testWorkerApi } from '../../test/test-worker-api';

const api = testWorkerApi();
const bus = setupResource(
  () => connectBus({ ...api.nats.as('skills-api'), name: 'skills-api', log: api.logs.log }),
  ({ nc }) => nc.close(),
);

const listMembers = async (workspaceId: string, ...emails: string[]) =>
  (await request(bus, MEMBERS_SUBJECT, { workspaceId, emails }, membersReply, 2_000, 'worker-api')).members;

const introspect = async (question: object) =>
  (await request(bus, INTROSPECT_SUBJECT, question, introspectReply, 2_000, 'worker-api')).identity;

test('members of that workspace are listed by address, accounts outside it are not', async () => {
  const verified = await api.addMember('viewer');
  const unverified = await api.addMember('member', { emailVerified: false });
  const emails = [verified.email, unverified.email, api.foreign.owner.email, 'nobody@example.com'];
  const members = await listMembers(api.workspaceId, ...emails);
  expect(members).toHaveLength(2);
  expect(members).toContainEqual(
    expect.objectContaining({ userId: verified.userId, email: verified.email, emailVerified: true }),
  );
  expect(members).toContainEqual(expect.objectContaining({ userId: unverified.userId, emailVerified: false }));
  await api.database.pool.query('UPDATE users SET disabled_at = now() WHERE id = $1', [verified.userId]);
  expect(await listMembers(api.workspaceId, verified.email)).toEqual([]);
});

test('a password set through an admin’s link counts as another holder, for whom older tokens do not count', async () => {
  const member = await api.addMember('member', { emailVerified: false });
  const { token } = await api.createToken('personal', member.jwt);
  const [before] = await listMembers(api.workspaceId, member.email);
  expect((await introspect({ kind: 'token', token }))?.holderSince).toBe(before?.holderSince);
  const link = await http(api.url)
    .post(`/api/workspaces/${api.workspaceId}/members/${member.userId}/password-reset`)
    .set('Authorization', `Bearer ${api.owner.jwt}`)
    .expect(201);
  const resetToken = new URL(link.body.reset_url).hash.slice(1);
  const input = { token: resetToken, new_password: 'another good password' };
  await http(api.url).post('/auth/password/reset').send(input).expect(200);
  const [after] = await listMembers(api.workspaceId, member.email);
  expect(after?.holderSince).toBeGreaterThan(before?.holderSince ?? 0);
  expect((await introspect({ kind: 'user', userId: member.userId }))?.holderSince).toBe(after?.holderSince);
  expect((await introspect({ kind: 'token', token }))?.holderSince).toBeUndefined();
});

test('an identity has no holder once its address is verified', async () => {
  const { userId } = await api.addMember('member');
  expect(await introspect({ kind: 'user', userId })).not.toHaveProperty('holderSince');
});
