import request from 'supertest';
import { createCaller } from '../../test/caller';
import { findToken, setupMail } from '../../test/mail-catcher';
import {
  DASHBOARD_URL,
  PASSWORD,
  type Person,
  startTestWorkerApi,
  testWorkerApi,
  withCookie,
} from '../../test/test-worker-api';

let person: Person;
const mail = setupMail();
const api = testWorkerApi(() => ({ smtpUrl: mail.url }));
beforeEach(async () => {
  person = await api.addMember('member', { emailVerified: false });
});

const as = ({ jwt }: Person) => createCaller(api.url, jwt);
const isProven = async (credential: string) =>
  (await createCaller(api.url, credential).get('/auth/me').expect(200)).body.email_verified;
const verify = (who: Person, token: string) => as(who).post('/auth/email/verify', { token });

async function link(): Promise<string> {
  const { body } = await as(person).post('/auth/email/verification').expect(202);
  expect(body).toEqual({ email: person.email });
  return findToken(await mail.messageTo(person.email));
}

test('the setup token verifies no address: the first owner verifies it like any other member', async () => {
  expect(await isProven(api.owner.jwt)).toBe(false);
});

test('a signed-in user who opens the mailed link has verified the address, at once and with the cookie too', async () => {
  expect(await isProven(person.jwt)).toBe(false);
  const token = await link();
  expect(await mail.messageTo(person.email)).toContain(`${DASHBOARD_URL}/verify-email#vfy_`);
  const { body } = await verify(person, token).expect(200);
  expect(body).toMatchObject({ id: person.userId, email_verified: true });
  expect(await isProven(person.jwt)).toBe(true);
  const byCookie = await request(api.url).get('/auth/me').set('Cookie', withCookie(person.cookie)).expect(200);
  expect(byCookie.body.email_verified).toBe(true);
  const again = await as(person).post('/auth/email/verification').expect(409);
  expect(again.body.code).toBe('already_verified');
});

test('the link alone verifies nothing: not for another account, not for a signed-out visitor, not for a token of the account', async () => {
  const token = await link();
  const other = await api.addMember('member', { emailVerified: false });
  await verify(other, token).expect(404);
  await createCaller(api.url).post('/auth/email/verify', { token }).expect(401);
  const made = await api.createToken('personal', person.jwt);
  const program = createCaller(api.url, made.token);
  expect((await program.post('/auth/email/verify', { token }).expect(403)).body.code).toBe('needs_sign_in');
  expect((await program.post('/auth/email/verification').expect(403)).body.code).toBe('needs_sign_in');
  expect([await isProven(other.jwt), await isProven(person.jwt)]).toEqual([false, false]);
  await verify(person, token).expect(200);
});

test('it works once and for a day, and ends with a newer one or with signing out', async () => {
  const older = await link();
  const newer = await link();
  await verify(person, older).expect(404);
  await api.database.pool.query('UPDATE email_verifications SET expires_at = now() WHERE user_id = $1', [
    person.userId,
  ]);
  await verify(person, newer).expect(410);
  const last = await link();
  await as(person).post('/auth/logout/everywhere').expect(204);
  const signedIn = await createCaller(api.url)
    .post('/auth/login', { email: person.email, password: PASSWORD })
    .expect(200);
  await createCaller(api.url, signedIn.body.access_token).post('/auth/email/verify', { token: last }).expect(404);
  for (const made of ['vfy_made-up', 'rst_made-up', `vfy_${'a'.repeat(49)}`]) {
    await createCaller(api.url, signedIn.body.access_token).post('/auth/email/verify', { token: made }).expect(404);
  }
});

test('every other session ends, and older tokens do not gain the address', async () => {
  const elsewhere = await createCaller(api.url)
    .post('/auth/login', { email: person.email, password: PASSWORD })
    .expect(200);
  const before = await api.createToken('personal', person.jwt);
  await verify(person, await link()).expect(200);
  await createCaller(api.url, elsewhere.body.access_token).get('/auth/me').expect(401);
  expect(await isProven(before.token)).toBe(false);
  const after = await api.createToken('personal', person.jwt);
  expect(await isProven(after.token)).toBe(true);
});

test('without a mail server the error says so', async () => {
  const plain = await startTestWorkerApi({ nats: api.nats });
  try {
    const answer = await createCaller(plain.url, plain.owner.jwt).post('/auth/email/verification').expect(409);
    expect(answer.body).toMatchObject({ code: 'email_not_configured', detail: expect.stringContaining('SMTP_URL') });
  } finally {
    await plain.stop();
  }
});
