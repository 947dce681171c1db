/** Where no mail is sent, addresses stay unverified: a share then counts for members of the workspace (ADR 62). */
import { type TestPerson, testSkillsApi } from '../test/test-skills-api';

const api = testSkillsApi();

async function publishPrivate(owner: TestPerson): Promise<string> {
  const input = { title: 'For a few', body_md: 'the secret text', visibility: 'private' };
  return (await api.as(owner).post('/api/v1/skills').send(input).expect(201)).body.slug;
}

const share = async (owner: TestPerson, slug: string, ...emails: string[]) =>
  (await api.as(owner).post(`/api/v1/skills/${slug}/share`).send({ emails }).expect(200)).body;

const canRead = async (reader: TestPerson | string, slug: string) => {
  const { status } = await api.as(reader).get(`/api/v1/skills/${slug}`);
  expect([200, 404]).toContain(status);
  return status === 200;
};

test('a member whose address is unverified reads what is shared with it, and the response names that member', async () => {
  const owner = api.person();
  const { workspaceId } = owner;
  const grace = api.person({ workspaceId, emailVerified: false });
  const alan = api.person({ workspaceId });
  const stranger = api.person();
  const slug = await publishPrivate(owner);
  expect(await share(owner, slug, grace.email, alan.email, stranger.email)).toEqual({
    slug,
    emails: expect.arrayContaining([grace.email, alan.email, stranger.email]),
    readers: expect.arrayContaining([
      { email: grace.email, user_id: grace.userId, email_verified: false },
      { email: alan.email, user_id: alan.userId, email_verified: true },
    ]),
  });
  for (const reader of [grace, grace.jwt, alan, stranger]) expect(await canRead(reader, slug)).toBe(true);
  expect(await canRead((await api.apiKey(grace)).key, slug)).toBe(true);
  await api
    .as(owner)
    .post(`/api/v1/skills/${slug}/share`)
    .send({ emails: [], remove: [grace.email] })
    .expect(200);
  expect(await canRead(grace, slug)).toBe(false);
});

test('an account outside the workspace gains nothing by claiming the address, and is not disclosed', async () => {
  const owner = api.person();
  const attacker = api.person({ emailVerified: false });
  const verified = api.person();
  const slug = await publishPrivate(owner);
  expect((await share(owner, slug, attacker.email, verified.email)).readers).toEqual([]);
  expect(await canRead(attacker, slug)).toBe(false);
});

test('an admin who invites an address that a skill is shared with, and opens the link, cannot read the skill', async () => {
  const owner = api.person();
  const slug = await publishPrivate(owner);
  const email = 'pending@example.test';
  await share(owner, slug, email);
  const joined = api.person({ workspaceId: owner.workspaceId, email, emailVerified: false });
  expect(await canRead(joined, slug)).toBe(false);
  // The owner sees the new member and confirms that this is the person meant.
  expect((await share(owner, slug, email)).readers).toMatchObject([{ user_id: joined.userId }]);
  expect(await canRead(joined, slug)).toBe(true);
});

test('a password set through an admin’s link ends the access until the owner names the address again', async () => {
  const owner = api.person();
  const unverified = api.person({ workspaceId: owner.workspaceId, emailVerified: false });
  const verified = api.person({ workspaceId: owner.workspaceId });
  const slug = await publishPrivate(owner);
  for (const member of [unverified, verified]) {
    await share(owner, slug, member.email);
    expect(await canRead(member, slug)).toBe(true);
    api.replaceHolder(member);
    expect(await canRead(member, slug)).toBe(false);
    await share(owner, slug, member.email);
    expect(await canRead(member, slug)).toBe(true);
  }
});

test('a member who has left reads nothing more of it', async () => {
  const owner = api.person();
  const member = api.person({ workspaceId: owner.workspaceId, emailVerified: false });
  const slug = await publishPrivate(owner);
  await share(owner, slug, member.email);
  api.removeFromWorkspaces(member);
  expect((await api.as(member).get(`/api/v1/skills/${slug}`)).status).toBe(403);
});
