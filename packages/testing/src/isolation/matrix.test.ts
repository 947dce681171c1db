/** The matrix itself, on a surface with holes: one that finds nothing proves nothing. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { AppError, notFound } from '@gantry/errors';
import { type Call, created, createSurface, type HandlerResponse, ok } from '@gantry/http';
import type { Principal } from '@gantry/limits';
import { pino } from 'pino';
import { setupPool } from '../database';
import { createIsolationMatrix, type IsolatedSurface } from './matrix';

const pool = setupPool('worker-api');
let server: Server;
let surface: IsolatedSurface;
type GetThing = (call: Call<{ id: string }>) => HandlerResponse | Promise<HandlerResponse>;
let getThing: GetThing;
let knows: (token: string) => Pick<Principal, 'workspaceId' | 'role'> | undefined;

const people: Record<string, Pick<Principal, 'workspaceId' | 'role'>> = {
  viewer: { workspaceId: 'ws_home', role: 'viewer' },
  owner: { workspaceId: 'ws_home', role: 'owner' },
  foreigner: { workspaceId: 'ws_foreign', role: 'owner' },
};

const well: GetThing = ({ req, path }) => {
  if (req.principal?.workspaceId !== 'ws_home' || path.id !== 'thing_real') throw notFound('thing', path.id);
  return ok({ id: 'thing_real' });
};

const makes = { create: () => created({ id: 'x' }), assertVisible: () => {} };

beforeAll(async () => {
  const app = createSurface({
    openapiFile: path.resolve(__dirname, '../../../http/src/test/echo.yaml'),
    operations: {
      makeThing: makes,
      makeSecretThing: makes,
      getThing: (call: Call<{ id: string }>) => getThing(call),
    },
    authenticate: async (req) => {
      const token = (req.get('Authorization') ?? req.get('x-svc-token') ?? '').replace('Bearer ', '');
      if (!token) return null;
      const person = knows(token);
      if (!person) throw new AppError('unauthorized', 'bad_credential', 'no such token');
      const workspaceId = req.get('x-svc-workspace') ?? person.workspaceId;
      if (workspaceId !== person.workspaceId) throw new AppError('forbidden', 'not_a_member', 'no member');
      const nobody = { userId: token, email: null, emailVerified: false, name: null, tokenId: token };
      return { kind: 'personal_token', ...nobody, ...person, memberships: { [workspaceId]: person.role } };
    },
    errorShape: 'error',
    pool,
    hasher: { hash: (text) => ({ hash: Buffer.from(text) }), candidates: (text) => [Buffer.from(text)] },
    log: pino({ level: 'silent' }),
    rateLimits: { requestsPerMinute: 1e6, runsPerMinute: 1e6, signInsPerMinute: 1e6 },
  });
  server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sends = { send: () => ({ body: { name: 'a' } }) };
  surface = {
    openapiFile: path.resolve(__dirname, '../../../http/src/test/echo.yaml'),
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pool,
    aliases: (documented) => [documented],
    fixtures: {
      makeThing: sends,
      makeSecretThing: { send: () => ({}) },
      getThing: { send: ({ thing }) => ({ path: { id: thing } }) },
    },
    real: { thing: 'thing_real' },
    unknown: { thing: 'thing_none' },
    homeWorkspaceId: 'ws_home',
    home: { viewer: 'viewer', member: 'owner', admin: 'owner', owner: 'owner' },
    foreign: { workspaceId: 'ws_foreign', personal: 'foreigner', workspaceToken: 'foreigner' },
    revoked: 'revoked',
    expired: 'expired',
    // Asked in credential-creation.test.ts.
    limited: { expired: '', viewer: '', expiring: '', expiresAt: 0, restricted: '', admin: '' },
    // Asked of the surfaces that have tokens.
    restricted: { readonly: '', elsewhere: '' },
  };
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

beforeEach(() => {
  getThing = well;
  knows = (token) => (Object.hasOwn(people, token) ? people[token] : undefined);
});

async function findProblem(id: string, fixtures = surface.fixtures): Promise<string> {
  const matrix = createIsolationMatrix({ ...surface, fixtures });
  const operation = matrix.operations.find((one) => one.id === id);
  if (!operation) throw new Error(`no operation ${id}`);
  return [...matrix.unmatched, ...(await matrix.check(operation))].join('\n');
}

test('a surface without holes passes', async () => {
  expect(await findProblem('getThing')).toBe('');
  expect(await findProblem('makeThing')).toBe('');
});

test('an operation that is open to foreign credentials is detected', async () => {
  getThing = ({ path }) => ok({ id: path.id });
  expect(await findProblem('getThing')).toMatch(/foreign personal token: 200/);
});

test('a foreign id that is distinguishable from an unknown one is detected', async () => {
  getThing = (call) => {
    if (call.path.id === 'thing_real') throw new AppError('not_found', 'not_yours', 'not yours');
    return well(call);
  };
  expect(await findProblem('getThing')).toMatch(/a foreign id is told from an unknown one/);
});

test('a credential that still works is detected', async () => {
  knows = (token) => people[token === 'revoked' ? 'owner' : token];
  expect(await findProblem('makeThing')).toMatch(/revoked: 201/);
});

test('a refusal that writes is detected', async () => {
  getThing = async (call) => {
    await pool.query(`INSERT INTO workspaces (id, name) VALUES ('ws_' || gen_random_uuid(), 'made by a refusal')`);
    return well(call);
  };
  expect(await findProblem('getThing')).toMatch(/changed workspaces/);
});

test('an operation without a fixture, or a fixture without an operation, is detected', async () => {
  const { getThing: _, ...others } = surface.fixtures;
  expect(await findProblem('makeThing', { ...others, gone: { send: () => ({}) } })).toBe(
    'no fixture for getThing\nno operation for fixture gone',
  );
});
