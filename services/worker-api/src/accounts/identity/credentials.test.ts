/** Tests the checks that every request to this surface passes before its handler. */
import { createHmac, createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { connect } from 'node:net';
import { createOpaqueToken } from '@gantry/auth';
import jwt from 'jsonwebtoken';
import request from 'supertest';
import { BASE_URL, testWorkerApi, withCookie } from '../../test/test-worker-api';

let personalToken: string;
let workspaceToken: string;
const api = testWorkerApi();
beforeAll(async () => {
  personalToken = (await api.createToken('personal', api.owner.jwt)).token;
  workspaceToken = (await api.createToken('workspace', api.owner.jwt)).token;
});

const getMe = (headers: Record<string, string>) => request(api.url).get('/auth/me').set(headers);

test('without a credential the response is 401 and names the accepted ones', async () => {
  const { body } = await getMe({}).expect(401);
  expect(body).toMatchObject({ detail: expect.stringContaining('Bearer'), code: 'no_credential' });
});

describe('malformed credentials are a 401, whatever they look like', () => {
  test.each([
    'svc_',
    'svc_short',
    'nonsense',
    `svc_${'a'.repeat(49)}`,
    `rly_${'a'.repeat(49)}`,
    'svc_../../etc/passwd',
    `svc_${'é'.repeat(20)}`.normalize('NFKD').replace(/[^ -~]/g, '%'),
    'undefined',
    'null',
    '{}',
  ])('%s', async (token) => {
    await getMe({ 'x-svc-token': token }).expect(401);
    await getMe({ Authorization: `Bearer ${token}` }).expect(401);
  });
  test.each(['Bearer', 'Basic dTpw', 'Bearer a b', 'svc_x', 'Token x'])('Authorization: %s', async (value) => {
    await getMe({ Authorization: value }).expect(401);
  });
  test('an unknown token with a valid checksum', () => getMe({ 'x-svc-token': createOpaqueToken('svc_') }).expect(401));
  test('a session cookie sent as a token', () => getMe({ 'x-svc-token': api.owner.cookie }).expect(401));
  test('a token sent as a session cookie', () => getMe({ Cookie: withCookie(personalToken) }).expect(401));
  test('one changed character', async () => {
    const swapped = personalToken.slice(0, 20) + (personalToken[20] === 'a' ? 'b' : 'a') + personalToken.slice(21);
    await getMe({ 'x-svc-token': swapped }).expect(401);
  });
});

test('an access JWT in x-svc-token gets an error that names the right header', async () => {
  const { body } = await getMe({ 'x-svc-token': api.owner.jwt }).expect(401);
  expect(body.detail).toContain('Authorization: Bearer');
});

describe('conflicting and oversized headers are a 400', () => {
  test('two headers with different credentials', async () => {
    const { body } = await getMe({ 'x-svc-token': personalToken, Authorization: `Bearer ${workspaceToken}` }).expect(
      400,
    );
    expect(body.code).toBe('ambiguous_credential');
  });
  test('the same credential twice is one credential', () =>
    getMe({ 'x-svc-token': personalToken, Authorization: `Bearer ${personalToken}` }).expect(200));
  test('a credential for a proxy, beside a token, is ignored', async () => {
    await getMe({ 'x-svc-token': personalToken, Authorization: 'Basic dTpw' }).expect(200);
    await getMe({ 'x-svc-token': personalToken, Authorization: 'Bearer' }).expect(401);
  });
  test('a header of eight kilobytes', () => getMe({ 'x-svc-token': 'x'.repeat(8_192) }).expect(400));
  test.each([
    ['x-svc-token', 'x-svc-token: A\r\nx-svc-token: B'],
    ['authorization', 'Authorization: Bearer A\r\nAuthorization: Bearer B'],
    ['x-svc-workspace', `x-svc-token: TOKEN\r\nx-svc-workspace: a\r\nx-svc-workspace: b`],
    ['cookie', `Cookie: svc_cloud_session=a; svc_cloud_session=b`],
  ])('%s sent twice', async (_header, lines) => {
    expect(await sendRaw(`GET /auth/me HTTP/1.1\r\nHost: x\r\n${lines.replace('TOKEN', personalToken)}`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
  });
  test('a header wins over the cookie that a browser adds by itself', async () => {
    const { body } = await getMe({
      Authorization: `Bearer ${personalToken}`,
      Cookie: withCookie(api.foreign.owner.cookie),
    });
    expect(body.id).toBe(api.owner.userId);
  });
});

describe('forged JWTs are a 401', () => {
  const options = { audience: 'gantry', issuer: BASE_URL, expiresIn: 3600 } as const;
  const subject = () => api.owner.userId;
  const requestWithForgedJwt = async (signJwt: (key: { kid: string; pem: string }) => string) => {
    const { kid, privateKey } = await api.signingKeys.signer();
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    return getMe({ Authorization: `Bearer ${signJwt({ kid, pem })}` });
  };
  const buildSigner = (overrides: object) => (key: { kid: string; pem: string }) =>
    jwt.sign({}, createPrivateKey(key.pem), {
      algorithm: 'ES256',
      keyid: key.kid,
      subject: subject(),
      ...options,
      ...overrides,
    });

  test('a valid JWT is accepted', async () => expect((await requestWithForgedJwt(buildSigner({}))).status).toBe(200));
  test('another audience', async () =>
    expect((await requestWithForgedJwt(buildSigner({ audience: 'other' }))).status).toBe(401));
  test('another issuer', async () =>
    expect((await requestWithForgedJwt(buildSigner({ issuer: 'http://evil.test' }))).status).toBe(401));
  test('expired', async () => expect((await requestWithForgedJwt(buildSigner({ expiresIn: -60 }))).status).toBe(401));
  test('not yet valid', async () =>
    expect((await requestWithForgedJwt(buildSigner({ notBefore: 3600 }))).status).toBe(401));
  test('a user who does not exist', async () =>
    expect((await requestWithForgedJwt(buildSigner({ subject: 'usr_x' }))).status).toBe(401));
  test('an unknown key', async () =>
    expect((await requestWithForgedJwt(buildSigner({ keyid: 'nope' }))).status).toBe(401));
  test('a key id that is a path', async () =>
    expect((await requestWithForgedJwt(buildSigner({ keyid: '../../dev/null' }))).status).toBe(401));
  test('signed with another key under our key id', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const answer = await requestWithForgedJwt(({ kid }) =>
      buildSigner({})({ kid, pem: String(privateKey.export({ format: 'pem', type: 'pkcs8' })) }),
    );
    expect(answer.status).toBe(401);
  });
  test('algorithm none', async () => {
    const answer = await requestWithForgedJwt(({ kid }) => buildUnsignedJwt({ alg: 'none', typ: 'JWT', kid }, 'x'));
    expect(answer.status).toBe(401);
  });
  test('an HMAC under our public key', async () => {
    const published = (await request(api.url).get('/.well-known/jwks.json').expect(200)).body.keys[0];
    const answer = await requestWithForgedJwt(({ kid }) => {
      const body = buildUnsignedJwt({ alg: 'HS256', typ: 'JWT', kid }, '').slice(0, -1);
      return `${body}.${createHmac('sha256', JSON.stringify(published)).update(body).digest('base64url')}`;
    });
    expect(answer.status).toBe(401);
  });

  const buildUnsignedJwt = (header: object, signature: string) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { sub: subject(), aud: 'gantry', iss: BASE_URL, iat: now, exp: now + 3600 };
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part(header)}.${part(claims)}.${signature}`;
  };
});

describe('the workspace of a request', () => {
  test('is chosen by the header among those of the caller', async () => {
    await api.database.pool.query("INSERT INTO memberships (workspace_id, user_id, role) VALUES ($1, $2, 'viewer')", [
      api.foreign.workspaceId,
      api.owner.userId,
    ]);
    api.identities.evictUser(api.owner.userId);
    const { body } = await getMe({ 'x-svc-token': personalToken, 'x-svc-workspace': api.foreign.workspaceId }).expect(
      200,
    );
    expect(body).toMatchObject({ workspace_id: api.foreign.workspaceId, role: 'viewer' });
    await request(api.url)
      .get('/api/workspace/tokens')
      .set({ 'x-svc-token': personalToken, 'x-svc-workspace': api.foreign.workspaceId })
      .expect(403);
  });
  test.each(['ws_unknown', '', '__proto__', 'constructor', '*'])('%j is a 403', async (workspace) => {
    await getMe({ 'x-svc-token': personalToken, 'x-svc-workspace': workspace }).expect(403);
  });
  test('a workspace token stays in its own workspace, whichever member created it', async () => {
    await getMe({ 'x-svc-token': workspaceToken, 'x-svc-workspace': api.workspaceId }).expect(200);
    await getMe({ 'x-svc-token': workspaceToken, 'x-svc-workspace': api.foreign.workspaceId }).expect(403);
  });
  test('is listed and read only by its members', async () => {
    const member = await api.addMember('viewer');
    const list = await request(api.url).get('/v1/workspaces').set('Authorization', `Bearer ${member.jwt}`).expect(200);
    expect(list.body).toEqual([
      expect.objectContaining({ id: api.workspaceId, name: 'Home', role: 'viewer', active: true }),
    ]);
    const read = (id: string) =>
      request(api.url).get(`/api/workspaces/${id}`).set('Authorization', `Bearer ${member.jwt}`);
    await read(api.workspaceId).expect(200);
    const [foreign, unknown] = [await read(api.foreign.workspaceId).expect(404), await read('ws_unknown').expect(404)];
    expect(foreign.body.code).toBe(unknown.body.code);
  });
});

describe('aliases', () => {
  test.each(['', '/api', '/v1', '/api/v1'])('%s/... is the same surface', async (prefix) => {
    await request(api.url).get(`${prefix}/auth/me`).set('x-svc-token', personalToken).expect(200);
    await request(api.url).get(`${prefix}/workspaces`).set('x-svc-token', personalToken).expect(200);
    await request(api.url).get(`${prefix}/healthz`).expect(200);
    await request(api.url).get(`${prefix}/system/info`).expect(200);
  });
  test.each([
    '/api/api/workspaces',
    '/v2/workspaces',
    '/apiworkspaces',
    '//workspaces',
    '/api/v1/v1/workspaces',
    '/api/auth/tokens',
    '/api/v1/auth/tokens',
  ])('%s is not', async (path) => {
    await request(api.url).get(path).set('x-svc-token', personalToken).expect(404);
  });
  test('another method is a 405', () =>
    request(api.url).put('/auth/me').set('x-svc-token', personalToken).send({}).expect(405));
  test('an unknown query parameter is a 400', () =>
    request(api.url).get('/api/workspaces?workspace_id=x').set('x-svc-token', personalToken).expect(400));
});

/** Sends a request that HTTP clients refuse to send. */
function sendRaw(head: string): Promise<string> {
  const { port } = new URL(api.url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(`${head}\r\nConnection: close\r\n\r\n`));
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.once('close', () => resolve(answer)).once('error', reject);
  });
}
