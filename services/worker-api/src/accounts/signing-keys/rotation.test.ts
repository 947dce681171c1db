import { createCaller } from '../../test/caller';
import { PASSWORD, testWorkerApi } from '../../test/test-worker-api';
import { createSigningKeys } from './signing-keys';

const api = testWorkerApi();

const getKid = (jwt: string): string => JSON.parse(Buffer.from(jwt.split('.')[0] ?? '', 'base64url').toString()).kid;

/** Another replica, with a fresh cache of the keys. */
const createReplica = () => createSigningKeys({ pool: api.database.pool, vault: api.deps.vault });

test('while the key rotates no request fails: JWTs from before and after are both valid', async () => {
  const { pool } = api.database;
  const anonymous = createCaller(api.url);
  const signIn = async (): Promise<string> =>
    (await anonymous.post('/auth/login', { email: api.owner.email, password: PASSWORD }).expect(200)).body.access_token;
  const before = await signIn();
  const works = (jwt: string) => createCaller(api.url, jwt).get('/auth/me').expect(200);

  // A month later another replica creates the next key: published at once, but not yet used.
  await pool.query("UPDATE signing_keys SET created_at = created_at - interval '31 days'");
  await createReplica().rotate();
  await api.signingKeys.rotate();
  expect((await anonymous.get('/.well-known/jwks.json').expect(200)).body.keys).toHaveLength(2);
  expect(getKid(await signIn())).toBe(getKid(before));

  // A quarter of an hour later every service can know it, and it signs.
  await pool.query("UPDATE signing_keys SET created_at = created_at - interval '16 minutes'");
  await api.signingKeys.rotate();
  const after = await signIn();
  expect(getKid(after)).not.toBe(getKid(before));
  api.identities.clear();
  await works(before);
  await works(after);

  // When the last JWT of the old key has expired, it is removed.
  await pool.query("UPDATE signing_keys SET created_at = created_at - interval '3 hours'");
  await api.signingKeys.rotate();
  expect((await anonymous.get('/.well-known/jwks.json').expect(200)).body.keys).toHaveLength(1);
  api.identities.clear();
  await works(after);
});
