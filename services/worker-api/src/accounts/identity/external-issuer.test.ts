import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import jwt from 'jsonwebtoken';
import { createCaller } from '../../test/caller';
import { type Person, startTestWorkerApi, type TestWorkerApi } from '../../test/test-worker-api';

let api: TestWorkerApi;
let server: Server;
let issuer: string;
let privateKey: KeyObject;
let member: Person;
let unproven: Person;
beforeAll(async () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
  privateKey = pair.privateKey;
  const keys = [
    { kty: 'OKP', kid: 'of another kind' },
    { ...pair.publicKey.export({ format: 'jwk' }), kid: 'k=1' },
  ];
  server = createServer((_req, res) => res.end(JSON.stringify({ keys })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const trusted = { issuer, audience: 'our-api', jwksUrl: `${issuer}/keys`, algorithm: 'RS256' as const };
  api = await startTestWorkerApi({ externalIssuer: trusted });
  member = await api.addMember('member');
  unproven = await api.addMember('member', { emailVerified: false });
});
afterAll(async () => {
  await api.stop();
  server.close();
});

const signClaims = (claims: object, options: jwt.SignOptions = {}) =>
  jwt.sign({ sub: 'ext|1', aud: 'our-api', iss: issuer, ...claims }, privateKey, {
    algorithm: 'RS256',
    keyid: 'k=1',
    expiresIn: 60,
    ...options,
  });
const me = (token: string) => createCaller(api.url, token).get('/auth/me');
const verifiedClaims = () => ({ email: member.email, email_verified: true });

test("the configured issuer's JWT is accepted for the user with the verified address, or the linked identity", async () => {
  const { body } = await me(signClaims(verifiedClaims())).expect(200);
  expect(body).toMatchObject({ id: member.userId, credential: 'jwt', role: 'member' });
  await api.database.prisma.externalIdentity.create({ data: { issuer, subject: 'ext|2', userId: member.userId } });
  await me(signClaims({ sub: 'ext|2' })).expect(200);
});

test('an address that was reassigned to another person of the issuer gives no access to the account that had it', async () => {
  const former = await api.addMember('member');
  await api.database.prisma.externalIdentity.create({ data: { issuer, subject: 'ext|5', userId: former.userId } });
  await me(signClaims({ sub: 'ext|5' })).expect(200);
  await me(signClaims({ sub: 'ext|6', email: former.email, email_verified: true })).expect(401);
});

test('an address that looks like one of ours is another address', async () => {
  const other = await api.addMember('member');
  await me(signClaims({ sub: 'ext|7', email: other.email.toUpperCase(), email_verified: true })).expect(200);
  const alike = `\uff0d${other.email}`;
  await api.database.prisma.user.update({ where: { id: other.userId }, data: { email: `-${other.email}` } });
  await me(signClaims({ sub: 'ext|8', email: alike, email_verified: true })).expect(401);
});

test('our own JWTs are still accepted', async () => {
  await me(member.jwt).expect(200);
});

test.each<[string, () => string]>([
  ['an unknown person', () => signClaims({ email: 'nobody@example.com', email_verified: true })],
  ['an address that is not verified', () => signClaims({ email: member.email })],
  [
    'an account with an unverified address',
    () => signClaims({ sub: 'ext|3', email: unproven.email, email_verified: true }),
  ],
  ['another audience', () => signClaims({ ...verifiedClaims(), aud: 'another-api' })],
  ['another issuer', () => signClaims({ ...verifiedClaims(), iss: 'http://evil.test' })],
  ['an expired one', () => signClaims(verifiedClaims(), { expiresIn: -60 })],
  ['an unknown key', () => signClaims(verifiedClaims(), { keyid: 'another' })],
  ['another algorithm', () => signClaims(verifiedClaims(), { algorithm: 'RS512' })],
  [
    'a signature made with the public key as a secret',
    () => jwt.sign({ sub: 'ext|1', aud: 'our-api', iss: issuer, ...verifiedClaims() }, 'public', { keyid: 'k=1' }),
  ],
  ['no signature', () => `${signClaims(verifiedClaims()).split('.').slice(0, 2).join('.')}.AA`],
])('%s is a 401', async (_what, token) => {
  await me(token()).expect(401);
});
