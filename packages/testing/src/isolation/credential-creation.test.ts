/** The rules of key making, on surfaces with holes: one that finds nothing proves nothing. */
import path from 'node:path';
import { readOperations } from '@gantry/http';
import {
  type CredentialRule,
  checkCredentialCreation,
  listCredentialOperations,
  type OpenApi,
  type SendAs,
} from './credential-creation';

const expiresAt = Date.UTC(2030, 0, 1);
const limited = {
  expired: 'expired',
  viewer: 'viewer',
  expiring: 'expiring',
  expiresAt,
  restricted: 'restricted',
  admin: 'admin',
};

const refusal = (status: number) => ({ status, text: '{}' });
const createdKey = (role: string | null, expires: number | null) => ({
  status: 201,
  text: JSON.stringify({ role, expires_at: expires === null ? null : new Date(expires).toISOString() }),
});

/** Refuses every token. */
const forPeople: SendAs = async (token) => refusal(token === 'expired' ? 401 : 403);

/** Makes what is no more than the token. */
const inheriting: SendAs = async (token, more) => {
  if (token === 'expired') return refusal(401);
  if (token === 'restricted' || more) return refusal(403);
  return token === 'viewer' ? createdKey('viewer', null) : createdKey(null, expiresAt);
};

const check = (rule: CredentialRule, answerTo: SendAs, states: Record<string, string>[] = [{}]) =>
  checkCredentialCreation({ rule, answerTo, limited, readState: async () => states.shift() ?? {} });

test('operations that follow their rules pass', async () => {
  expect(await check('person', forPeople)).toEqual([]);
  expect(await check('inherits', inheriting)).toEqual([]);
  // Refusing more than it must is no hole.
  expect(await check('inherits', forPeople)).toEqual([]);
});

/** Answers one token with a key, and the others as they should be. */
const only =
  (favoured: string, others: SendAs): SendAs =>
  (token, more) =>
    token === favoured ? refusing201() : others(token, more);

const holes: [string, CredentialRule, SendAs, RegExp][] = [
  ['a viewer token that makes a key', 'person', only('viewer', forPeople), /^viewer token: 201/],
  ['an expiring token that makes a key', 'person', only('expiring', forPeople), /^expiring token: 201/],
  ['a workspace token that makes a key', 'person', only('admin', forPeople), /^workspace token: 201/],
  ['an expired token that is accepted', 'inherits', only('expired', inheriting), /^expired token: 201/],
  [
    'a viewer token that gets a higher role on request',
    'inherits',
    (token, more) => (token === 'viewer' && more ? refusing201() : inheriting(token, more)),
    /asks for more: 201/,
  ],
  [
    'an expiring token that gets a later expiry on request',
    'inherits',
    (token, more) => (token === 'expiring' && more ? refusing201() : inheriting(token, more)),
    /asks for longer: 201/,
  ],
  [
    'a viewer token that gets a higher role by default',
    'inherits',
    async (token, more) => (token === 'viewer' && !more ? createdKey(null, null) : inheriting(token, more)),
    /made one of null/,
  ],
  [
    'an expiring token whose key does not end',
    'inherits',
    async (token, more) => (token === 'expiring' && !more ? createdKey(null, null) : inheriting(token, more)),
    /ends null/,
  ],
];
const refusing201 = async () => createdKey(null, null);

test.each(holes)('%s is detected', async (_what, rule, answerTo, problem) => {
  expect((await check(rule, answerTo)).join('\n')).toMatch(problem);
});

test('a refusal that writes is detected', async () => {
  const problems = await check('person', forPeople, [{ tokens: '1:1' }, { tokens: '2:2' }]);
  expect(problems).toEqual(['a refusal changed tokens']);
});

test('an operation whose response contains a credential is found by the OpenAPI file, behind references too', () => {
  const file = path.resolve(__dirname, '../../../http/src/test/echo.yaml');
  const answer = {
    description: 'x',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Key' } } },
  };
  const document = {
    components: { schemas: { Key: { allOf: [{ type: 'object', properties: { key: { type: 'string' } } }] } } },
    paths: {
      '/api/secret-things': { post: { responses: { 201: answer } } },
      '/api/things': { post: { responses: {} } },
    },
  } as unknown as OpenApi;
  expect(listCredentialOperations(document, readOperations(file))).toEqual(['makeSecretThing']);
});
