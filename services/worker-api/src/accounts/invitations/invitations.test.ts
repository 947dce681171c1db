import { setupResource } from '@gantry/testing';
import { createCaller } from '../../test/caller';
import { findToken, setupMail } from '../../test/mail-catcher';
import { getCookie, PASSWORD, type Person, testWorkerApi } from '../../test/test-worker-api';

let count = 0;
const mail = setupMail();
const api = testWorkerApi(() => ({ smtpUrl: mail.url }));
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const anonymous = setupResource(() => createCaller(api.url));

const as = ({ jwt }: Person) => createCaller(api.url, jwt);
const path = () => `/api/workspaces/${api.workspaceId}`;
const createEmail = () => `person${++count}@example.com`;
const invite = (email: string, role?: string) =>
  owner.post(`${path()}/members/invite`, role ? { email, role } : { email });

async function inviteByMail(email: string, role?: string) {
  const { body } = await invite(email, role).expect(201);
  return { id: body.id as string, token: findToken(await mail.messageTo(email)) };
}

test('an invited person opens the link, creates an account and is a member', async () => {
  const email = createEmail();
  const { body } = await invite(email.toUpperCase(), 'viewer').expect(201);
  expect(body).toMatchObject({ email, role: 'viewer', email_sent: true, invite_url: null });
  const message = await mail.messageTo(email);
  expect(message).toContain('http://dashboard.test/invite#inv_');
  const token = findToken(message);
  const looked = await anonymous.post('/auth/invitations/lookup', { token }).expect(200);
  expect(looked.body).toMatchObject({
    email,
    role: 'viewer',
    workspace_name: 'Home',
    invited_by: 'owner@example.com',
  });
  const made = await anonymous
    .post('/auth/invitations/register', { token, password: PASSWORD, name: 'Grace' })
    .expect(201);
  expect(made.body).toMatchObject({
    user: { email, email_verified: true, name: 'Grace' },
    workspace: { id: api.workspaceId, role: 'viewer' },
  });
  expect(getCookie(made)).toMatch(/^ses_/);
  const me = await createCaller(api.url, made.body.access_token).get('/auth/me').expect(200);
  expect(me.body).toMatchObject({ email, role: 'viewer', workspace_id: api.workspaceId });
  await anonymous.post('/auth/login', { email, password: PASSWORD }).expect(200);
});

test('an invitee with an account signs in and accepts; another user is told whom it is for', async () => {
  const stranger = api.foreign.owner;
  const { token } = await inviteByMail(stranger.email, 'admin');
  const taken = await anonymous.post('/auth/invitations/register', { token, password: PASSWORD }).expect(409);
  expect(taken.body.code).toBe('email_taken');
  const member = await api.addMember('member');
  const wrong = await as(member).post('/auth/invitations/accept', { token }).expect(403);
  expect(wrong.body.detail).toContain(stranger.email);
  const { body } = await as(stranger).post('/auth/invitations/accept', { token }).expect(200);
  expect(body).toMatchObject({ id: api.workspaceId, role: 'admin' });
  await as(stranger).get(`${path()}/members`).expect(200);
  const again = await as(stranger).post('/auth/invitations/accept', { token }).expect(409);
  expect(again.body.code).toBe('invitation_accepted');
  await owner.remove(`${path()}/members/${stranger.userId}`).expect(204);
});

test('a user without a workspace accepts', async () => {
  const person = await api.addMember('member');
  await owner.remove(`${path()}/members/${person.userId}`).expect(204);
  const { token } = await inviteByMail(person.email);
  await as(person).post('/auth/invitations/accept', { token }).expect(200);
  expect((await as(person).get('/auth/me').expect(200)).body.role).toBe('member');
});

test('of two simultaneous registrations with one link, one creates the account', async () => {
  const { token } = await inviteByMail(createEmail());
  const register = () => anonymous.post('/auth/invitations/register', { token, password: PASSWORD });
  const answers = await Promise.all([register(), register()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
});

test('an accepted, a withdrawn and an expired invitation cannot be used', async () => {
  const [accepted, withdrawn, expired] = [
    await inviteByMail(createEmail()),
    await inviteByMail(createEmail()),
    await inviteByMail(createEmail()),
  ];
  await anonymous.post('/auth/invitations/register', { token: accepted.token, password: PASSWORD }).expect(201);
  await owner.remove(`${path()}/invitations/${withdrawn.id}`).expect(204);
  await api.database.pool.query('UPDATE invitations SET expires_at = now() WHERE id = $1', [expired.id]);
  for (const [{ token }, status] of [
    [accepted, 409],
    [withdrawn, 410],
    [expired, 410],
  ] as const) {
    await anonymous.post('/auth/invitations/lookup', { token }).expect(status);
    await anonymous.post('/auth/invitations/register', { token, password: PASSWORD }).expect(status);
    await owner.post('/auth/invitations/accept', { token }).expect(status);
  }
  await owner.remove(`${path()}/invitations/${accepted.id}`).expect(409);
  await owner.post(`${path()}/invitations/${accepted.id}/resend`).expect(409);
  await owner.post(`${path()}/invitations/${withdrawn.id}/resend`).expect(410);
});

test('after resending, the new link works and the old one does not', async () => {
  const email = createEmail();
  const { id, token } = await inviteByMail(email);
  await owner.post(`${path()}/invitations/${id}/resend`).expect(201);
  const fresh = findToken(await mail.messageTo(email));
  expect(fresh).not.toBe(token);
  const { body } = await anonymous.post('/auth/invitations/lookup', { token }).expect(404);
  expect(body.detail).toBe('no invitation matches this link; ask for a new link');
  await anonymous.post('/auth/invitations/lookup', { token: fresh }).expect(200);
});

test('inviting a member or an invited address is a conflict', async () => {
  const email = createEmail();
  await invite(email).expect(201);
  expect((await invite(email).expect(409)).body.code).toBe('already_invited');
  expect((await invite(api.owner.email).expect(409)).body.code).toBe('already_member');
});

test('admins list open invitations, without their links; another workspace has its own', async () => {
  const { id, token } = await inviteByMail(createEmail());
  const { body, text } = await owner.get(`${path()}/invitations`).expect(200);
  expect(body[0]).toMatchObject({ id, role: 'member', invited_by: api.owner.userId, open: true });
  expect(text).not.toContain(token);
  const elsewhere = `/api/workspaces/${api.foreign.workspaceId}/invitations`;
  await as(api.foreign.owner).remove(`${elsewhere}/${id}`).expect(404);
  await as(api.foreign.owner).post(`${elsewhere}/${id}/resend`).expect(404);
});

test.each(['', 'inv_made-up', `inv_${'a'.repeat(49)}`, `svc_${'a'.repeat(49)}`])(
  'an invented link is unknown: %j',
  async (token) => {
    const answer = await anonymous.post('/auth/invitations/lookup', { token });
    expect([400, 404]).toContain(answer.status);
  },
);

test('an address cannot inject another recipient or header', async () => {
  const before = mail.recipients.length;
  for (const email of ['a@x.test,b@y.test', 'a@x.test\r\nBcc: b@y.test', '"a, b"@x.test', '<a@x.test>']) {
    await invite(email);
  }
  expect(mail.recipients.slice(before)).not.toContain('b@y.test');
});

test('neither the inviter nor the holder of the link learns whether the address has an account', async () => {
  const known = api.foreign.owner.email;
  const unknown = 'usr_nobody-has-this-address@example.com';
  const answers = await Promise.all(
    [known, unknown].map(async (email) => {
      const made = await invite(email, 'viewer').expect(201);
      const token = findToken(await mail.messageTo(email));
      const seen = await anonymous.post('/auth/invitations/lookup', { token }).expect(200);
      const poor = await anonymous.post('/auth/invitations/register', { token, password: 'short' }).expect(400);
      const again = await invite(email).expect(409);
      // Another test invites the same person.
      await owner.remove(`${path()}/invitations/${made.body.id}`).expect(204);
      const text = JSON.stringify([made.body, seen.body, poor.body, again.body]);
      return text.replaceAll(email, '<address>').replace(/inv_[\w-]+|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<varies>');
    }),
  );
  expect(answers[0]).toBe(answers[1]);
  expect(answers[0]).not.toContain('account');
});

describe('an invitation depends on its inviter', () => {
  const ends: [string, (admin: Person) => unknown][] = [
    ['is no longer an admin', (admin) => owner.put(`${path()}/members/${admin.userId}/role`, { role: 'member' })],
    ['was removed', (admin) => owner.remove(`${path()}/members/${admin.userId}`)],
    ['has left', (admin) => as(admin).post(`${path()}/leave`)],
    [
      'was disabled',
      (admin) => api.database.pool.query('UPDATE users SET disabled_at = now() WHERE id = $1', [admin.userId]),
    ],
  ];

  test.each(ends)('it ends when the inviter %s, until another admin resends it', async (_why, end) => {
    const admin = await api.addMember('admin');
    const email = createEmail();
    const { body } = await as(admin).post(`${path()}/members/invite`, { email }).expect(201);
    const token = findToken(await mail.messageTo(email));
    await end(admin);
    await anonymous.post('/auth/invitations/lookup', { token }).expect(410);
    const refused = await anonymous.post('/auth/invitations/register', { token, password: PASSWORD }).expect(410);
    expect(refused.body.code).toBe('invitation_ended');
    const listed = (await owner.get(`${path()}/invitations`)).body.find(({ id }: { id: string }) => id === body.id);
    expect(listed.open).toBe(false);
    await owner.post(`${path()}/invitations/${body.id}/resend`).expect(201);
    const fresh = findToken(await mail.messageTo(email));
    await anonymous.post('/auth/invitations/register', { token: fresh, password: PASSWORD }).expect(201);
  });

  test('one that a token created is mailed and never shown, and ends with the token', async () => {
    const { id, token } = await api.createToken('workspace', api.owner.jwt);
    const email = createEmail();
    const { body } = await createCaller(api.url, token).post(`${path()}/members/invite`, { email }).expect(201);
    expect(body).toMatchObject({ email_sent: true, invite_url: null, invited_by: id });
    const link = findToken(await mail.messageTo(email));
    await anonymous.post('/auth/invitations/lookup', { token: link }).expect(200);
    await owner.remove(`/api/workspace/tokens/${id}`).expect(204);
    await anonymous.post('/auth/invitations/register', { token: link, password: PASSWORD }).expect(410);
  });
});

test('a mailed link verifies the address of the signed-in account that accepts by it, but not for a token of that account', async () => {
  const unproven = await api.addMember('member', { emailVerified: false });
  await owner.remove(`${path()}/members/${unproven.userId}`).expect(204);
  const elsewhere = await anonymous.post('/auth/login', { email: unproven.email, password: PASSWORD }).expect(200);
  const first = await inviteByMail(unproven.email);
  await as(unproven).post('/auth/invitations/accept', { token: first.token }).expect(200);
  expect((await as(unproven).get('/auth/me').expect(200)).body.email_verified).toBe(true);
  // It may be held by the person who created the account.
  await createCaller(api.url, elsewhere.body.access_token).get('/auth/me').expect(401);

  const other = await api.addMember('member', { emailVerified: false });
  const { token } = await api.createToken('personal', other.jwt);
  await owner.remove(`${path()}/members/${other.userId}`).expect(204);
  const second = await inviteByMail(other.email);
  await createCaller(api.url, token).post('/auth/invitations/accept', { token: second.token }).expect(200);
  expect((await as(other).get('/auth/me').expect(200)).body.email_verified).toBe(false);
});

describe('without a mail server', () => {
  const invitePath = () => `/api/workspaces/${plain.workspaceId}/members/invite`;
  const plain = testWorkerApi(() => ({ nats: api.nats }));
  const inviter = setupResource(() => createCaller(plain.url, plain.owner.jwt));

  async function getMailedToken(email: string): Promise<string> {
    const { body } = await inviter.post(invitePath(), { email }).expect(201);
    expect(body).toMatchObject({ email_sent: false, invite_url: expect.stringContaining('/invite#inv_') });
    return findToken(body.invite_url);
  }

  test('an invitee who joins by a link that the inviter saw has an unverified address', async () => {
    const register = { token: await getMailedToken('by-hand@example.com'), password: PASSWORD };
    const { body } = await createCaller(plain.url).post('/auth/invitations/register', register).expect(201);
    expect(body.user.email_verified).toBe(false);
    const joined = createCaller(plain.url, body.access_token);
    expect((await joined.get('/auth/me').expect(200)).body).toMatchObject({ role: 'member', email_verified: false });
    await joined.get('/api/workers').expect(200);
    const { body: members } = await inviter.get(`/api/workspaces/${plain.workspaceId}/members`).expect(200);
    expect(members[0]).toMatchObject({ email: 'by-hand@example.com', email_verified: false });
  });

  test('a signed-in user joins another workspace by it, and has verified nothing', async () => {
    const person = plain.foreign.owner;
    await plain.database.pool.query('UPDATE users SET email_verified_at = NULL WHERE id = $1', [person.userId]);
    const accept = { token: await getMailedToken(person.email) };
    const joining = createCaller(plain.url, person.jwt);
    await joining.post('/auth/invitations/accept', accept).expect(200);
    expect((await joining.get('/auth/me')).body.email_verified).toBe(false);
  });

  test('a token cannot invite: the link would give it a session', async () => {
    const personal = await plain.createToken('personal', plain.owner.jwt);
    const ofWorkspace = await plain.createToken('workspace', plain.owner.jwt);
    const { body: open } = await inviter.post(invitePath(), { email: 'resent@example.com' }).expect(201);
    for (const { token } of [personal, ofWorkspace]) {
      const program = createCaller(plain.url, token);
      const refused = await program.post(invitePath(), { email: 'token@example.com' }).expect(403);
      expect(refused.body.code).toBe('needs_sign_in');
      await program.post(`/api/workspaces/${plain.workspaceId}/invitations/${open.id}/resend`).expect(403);
    }
  });
});
