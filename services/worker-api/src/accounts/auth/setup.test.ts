import { Client } from 'pg';
import request from 'supertest';
import { getCookie, PASSWORD, SETUP_TOKEN, testWorkerApi, withCookie } from '../../test/test-worker-api';

const api = testWorkerApi();

const valid = { setup_token: SETUP_TOKEN, email: 'ada@example.com', password: PASSWORD };
const setUp = (body: object) => request(api.url).post('/auth/setup').send(body);

/** Each test starts with an empty installation. */
beforeEach(() => api.database.pool.query('TRUNCATE users, workspaces CASCADE'));

test('the owner is created once; a second setup is a conflict, also with another address', async () => {
  await setUp(valid).expect(201);
  await setUp({ ...valid, email: 'someone@example.com' }).expect(409);
  const { body } = await request(api.url).get('/api/system/platform-config').expect(200);
  expect(body.setup_required).toBe(false);
});

test('a wrong setup token is refused before anything else is reported', async () => {
  await setUp(valid).expect(201);
  const answer = await setUp({ ...valid, setup_token: 'guess', password: 'x' }).expect(403);
  expect(answer.body.code).toBe('wrong_setup_token');
});

describe('on a fresh installation', () => {
  test('setup signs the owner in: JWT, cookie and membership work at once', async () => {
    expect((await request(api.url).get('/system/platform-config')).body.setup_required).toBe(true);
    const { body, headers } = await setUp({ ...valid, name: 'Ada', workspace_name: ' Lab ' }).expect(201);
    expect(body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      user: { email: 'ada@example.com', name: 'Ada' },
      workspace: { name: 'Lab', role: 'owner' },
    });
    expect(String(headers['set-cookie'])).toMatch(/HttpOnly; SameSite=Lax/);
    const me = await request(api.url).get('/auth/me').set('Authorization', `Bearer ${body.access_token}`).expect(200);
    expect(me.body).toMatchObject({ email: 'ada@example.com', role: 'owner', workspace_id: body.workspace.id });
  });

  test('two simultaneous setups create one owner', async () => {
    const answers = await Promise.all([setUp(valid), setUp({ ...valid, email: 'eve@example.com' })]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409]);
    const { rows } = await api.database.pool.query('SELECT count(*)::int AS users FROM users');
    expect(rows[0].users).toBe(1);
  });

  test.each([
    ['too short', 'Ab3$xyz'],
    ['a repeated character', 'aaaaaaaaaaaa'],
    ['a common password', 'Password1234'],
    ['the email address itself', 'ada@example.com'],
  ])('a weak password is refused with its reason: %s', async (_why, password) => {
    const { body } = await setUp({ ...valid, password }).expect(400);
    expect(body).toMatchObject({ code: 'weak_password', errors: [{ path: 'password', message: expect.any(String) }] });
  });

  test('a password of a megabyte is refused without hashing it', async () => {
    await setUp({ ...valid, password: 'x'.repeat(1_025) }).expect(400);
    await setUp({ ...valid, password: 'x'.repeat(1024 * 1024) }).expect(413);
  });

  test('a password in any script works, whatever its Unicode composition', async () => {
    await setUp({ ...valid, password: 'Çok gizli šifra 🦆 日本' }).expect(201);
    const decomposed = 'Çok gizli šifra 🦆 日本'.normalize('NFD');
    await request(api.url).post('/auth/login').send({ email: 'ada@example.com', password: decomposed }).expect(200);
  });

  test.each([
    'not an address',
    'a@b@c',
    '@example.com',
    'a\u0000b@example.com',
    'ada@exam ple.com',
    `${'a'.repeat(65)}@x.io`,
  ])('an impossible email address is refused: %j', async (email) => {
    const { body } = await setUp({ ...valid, email }).expect(400);
    expect(body.detail).toContain('email');
  });

  test.each([
    ['name', 'a\u0000b'],
    ['name', '   '],
    ['workspace_name', '\u0000'],
    ['workspace_name', 'x'.repeat(101)],
    ['email', { $ne: null }],
    ['password', ['a']],
  ])('a bad %s is a 400 that names it', async (field, value) => {
    const { body } = await setUp({ ...valid, [field]: value }).expect(400);
    expect(body.errors).toEqual(expect.arrayContaining([expect.objectContaining({ path: field })]));
  });

  test('all problems are reported at once, of whichever kind', async () => {
    const listProblemPaths = async (fields: object) =>
      (await setUp({ ...valid, ...fields }).expect(400)).body.errors.map(({ path }: { path: string }) => path).sort();
    expect(await listProblemPaths({ email: 'nobody', password: 'short' })).toEqual(['email', 'password']);
    expect(await listProblemPaths({ email: 'nobody', password: 'short', name: 5 })).toEqual([
      'email',
      'name',
      'password',
    ]);
  });

  test('unknown properties are refused by name', async () => {
    const { body } = await setUp({ ...valid, role: 'owner' }).expect(400);
    expect(body.errors).toEqual([{ path: 'role', message: 'unknown property' }]);
  });

  test('no secret of the sign-in is in the database in plain text', async () => {
    const answer = await setUp(valid).expect(201);
    const client = new Client({ connectionString: api.databaseUrl });
    await client.connect();
    const tables = await client.query("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'");
    let everything = '';
    for (const { table_name } of tables.rows) {
      const { rows } = await client.query(`SELECT t::text AS row FROM "${table_name}" t`);
      everything += rows.map((row) => row.row).join('\n');
    }
    await client.end();
    expect(everything).toContain('ada@example.com');
    for (const secret of [PASSWORD, getCookie(answer), SETUP_TOKEN, 'BEGIN PRIVATE KEY']) {
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(Buffer.from(secret).toString('hex'));
    }
    expect(api.logs.text()).not.toContain(PASSWORD);
    expect(api.logs.text()).not.toContain(withCookie(''));
  });
});
