import request from 'supertest';
import { DASHBOARD_URL, getCookie, PASSWORD, type Person, testWorkerApi, withCookie } from '../../test/test-worker-api';

let person: Person;
const api = testWorkerApi();
beforeEach(async () => {
  person = await api.addMember('member');
});

const refresh = (cookie: string) => request(api.url).post('/auth/refresh').set('Cookie', withCookie(cookie));
/** Moves the refreshes of the person's sessions into the past. */
const lastReplaced = (secondsAgo: number) =>
  api.database.pool.query(
    `UPDATE session_cookies SET replaced_at = now() - make_interval(secs => $2)
     WHERE replaced_at IS NOT NULL AND session_id IN (SELECT id FROM sessions WHERE user_id = $1)`,
    [person.userId, secondsAgo],
  );
const me = (cookie: string) => request(api.url).get('/auth/me').set('Cookie', withCookie(cookie));

test('refreshing returns a new JWT that works, and another cookie', async () => {
  const answer = await refresh(person.cookie).expect(200);
  expect(getCookie(answer)).not.toBe(person.cookie);
  const { body } = await request(api.url)
    .get('/auth/me')
    .set('Authorization', `Bearer ${answer.body.access_token}`)
    .expect(200);
  expect(body).toMatchObject({ id: person.userId, credential: 'jwt' });
  expect((await me(getCookie(answer)).expect(200)).body).toMatchObject({ id: person.userId, credential: 'session' });
});

test('a reload before the response arrived does not end the session: the previous cookie gets another successor', async () => {
  const lost = getCookie(await refresh(person.cookie).expect(200));
  await lastReplaced(18);
  const kept = getCookie(await refresh(person.cookie).expect(200));
  expect(kept).not.toBe(lost);
  await me(kept).expect(200);
  await refresh(kept).expect(200);
});

test('refreshing with a cookie that was replaced longer ago ends the whole session, since it was copied', async () => {
  const fresh = getCookie(await refresh(person.cookie).expect(200));
  await lastReplaced(21);
  await refresh(person.cookie).expect(401);
  await refresh(fresh).expect(401);
  await me(fresh).expect(401);
});

test('refreshing with the cookie before the previous one ends the session at once', async () => {
  const second = getCookie(await refresh(person.cookie).expect(200));
  const third = getCookie(await refresh(second).expect(200));
  await refresh(person.cookie).expect(401);
  await refresh(third).expect(401);
});

test('two simultaneous refreshes with one cookie both succeed, but only one continues', async () => {
  const answers = await Promise.all([refresh(person.cookie).expect(200), refresh(person.cookie).expect(200)]);
  const [one = '', other = ''] = answers.map(getCookie);
  const next = getCookie(await refresh(one).expect(200));
  await lastReplaced(21);
  await refresh(other).expect(401);
  await refresh(next).expect(401);
});

test('a request that was in flight while another tab refreshed still succeeds', async () => {
  await refresh(person.cookie).expect(200);
  await me(person.cookie).expect(200);
});

test('ending one session leaves the others of the same person alone', async () => {
  const other = await request(api.url).post('/auth/login').send({ email: person.email, password: PASSWORD });
  await request(api.url).post('/auth/logout').set('Cookie', withCookie(person.cookie)).expect(204);
  await me(person.cookie).expect(401);
  await me(getCookie(other)).expect(200);
});

test('signing out deletes the cookie, and is no error without one', async () => {
  const answer = await request(api.url).post('/auth/logout').set('Cookie', withCookie(person.cookie)).expect(204);
  expect(String(answer.headers['set-cookie'])).toMatch(/svc_cloud_session=;.*Expires=Thu, 01 Jan 1970/);
  await refresh(person.cookie).expect(401);
  await request(api.url).post('/auth/logout').expect(204);
});

test('an expired session is refused', async () => {
  await api.database.pool.query("UPDATE sessions SET expires_at = now() - interval '1 second' WHERE user_id = $1", [
    person.userId,
  ]);
  await refresh(person.cookie).expect(401);
  await me(person.cookie).expect(401);
});

test.each([
  ['no cookie', ''],
  ['an invented one', 'ses_made-up'],
  ['a token', `svc_${'a'.repeat(49)}`],
])('refreshing with %s is a 401', async (_what, cookie) => {
  await (cookie ? refresh(cookie) : request(api.url).post('/auth/refresh')).expect(401);
});

test('a foreign page can neither refresh nor sign out', async () => {
  for (const path of ['/auth/refresh', '/auth/logout']) {
    const post = () => request(api.url).post(path).set('Cookie', withCookie(person.cookie));
    await post().set('Origin', 'http://evil.test').expect(403);
    await post().set('Sec-Fetch-Site', 'cross-site').expect(403);
    await post().set({ Origin: DASHBOARD_URL, 'Sec-Fetch-Site': 'same-site' }).expect(403);
    await post().set('Origin', 'null').expect(403);
  }
  await refresh(person.cookie).set({ Origin: DASHBOARD_URL, 'Sec-Fetch-Site': 'same-origin' }).expect(200);
});

test('a foreign page cannot put a user into a session of its choice', async () => {
  const credentials = { email: person.email, password: 'not this one' };
  const links: [string, object][] = [
    ['/auth/login', credentials],
    ['/auth/setup', { ...credentials, setup_token: 'a-guess', password: 'correct horse battery', name: 'Eve' }],
    ['/auth/password/reset', { token: 'a-guess', new_password: 'correct horse battery' }],
    ['/auth/invitations/register', { token: 'a-guess', name: 'Eve', password: 'correct horse battery' }],
  ];
  for (const [path, body] of links) {
    const post = () => request(api.url).post(path).send(body);
    const foreign = [
      ['Origin', 'http://evil.test'],
      ['Origin', 'null'],
      ['Sec-Fetch-Site', 'cross-site'],
    ] as const;
    for (const [name, value] of foreign) {
      const refused = await post().set(name, value);
      expect([path, refused.status, refused.body.code]).toEqual([path, 403, 'cross_origin']);
    }
    const own = await post().set({ Origin: DASHBOARD_URL, 'Sec-Fetch-Site': 'same-origin' });
    expect([path, own.body.code]).not.toEqual([path, 'cross_origin']);
    expect((await post()).body.code).not.toBe('cross_origin');
  }
});

test('with the cookie, unsafe methods need the exact origin of one of our pages', async () => {
  const create = () =>
    request(api.url).post('/auth/tokens').set('Cookie', withCookie(person.cookie)).send({ name: 'from a page' });
  await create().expect(403);
  await create().set('Origin', `${DASHBOARD_URL}.evil.test`).expect(403);
  await create().set({ Origin: DASHBOARD_URL, 'Sec-Fetch-Site': 'cross-site' }).expect(403);
  await create().set('Origin', DASHBOARD_URL).expect(201);
});
