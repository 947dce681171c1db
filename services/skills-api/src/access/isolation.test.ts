/** Calls every operation of the OpenAPI file without permission; the file is the list, so none is missed. */

import { readFileSync } from 'node:fs';
import { createOpaqueToken } from '@gantry/auth';
import { readOperations } from '@gantry/http';
import { openapiFiles } from '@gantry/openapi';
import { setupResource } from '@gantry/testing';
import { type Method, type TestPerson, testSkillsApi } from '../test/test-skills-api';

const operations = readOperations(openapiFiles.skills);
const document = JSON.parse(readFileSync(openapiFiles.skills, 'utf8'));

let revoked: string;
let key: string;
let keyId: string;

/** A private skill and a private library of the owner: enough for every operation to find what it names. */
const SKILL = 'isolated-skill';
const LIBRARY = 'isolated-library';

const BODIES: Record<string, object> = {
  publishSkill: { title: 'By a stranger', body_md: 'x' },
  publishSkillInBrowser: { title: 'By a stranger', body_md: 'x' },
  changeSkill: { title: 'taken over' },
  shareSkill: { emails: ['thief@example.test'] },
  overrideSkill: { folder: 'stolen' },
  createApiKey: { name: 'stolen' },
  createLibrary: { title: 'By a stranger' },
  changeLibrary: { title: 'taken over' },
  addToLibrary: { skill_slug: SKILL },
  orderLibrary: { skill_slugs: [SKILL] },
  subscribe: { library_slug: LIBRARY },
  renderSkill: { body_md: 'x' },
};

const api = testSkillsApi();
const owner = setupResource(() => api.person());
const viewer = setupResource(() => api.person({ workspaceId: owner.workspaceId, role: 'viewer' }));
beforeAll(async () => {
  const gone = await api.apiKey(owner);
  revoked = gone.key;
  await api.as(owner.jwt).delete(`/api/v1/api-keys/${gone.id}`).expect(204);
  ({ key, id: keyId } = await api.apiKey(owner));
  const mine = api.as(owner);
  await mine
    .post('/api/v1/skills')
    .send({ title: 'Isolated', slug: SKILL, body_md: 'the secret text', visibility: 'private' })
    .expect(201);
  await mine.post('/api/v1/libraries').send({ title: 'Isolated', slug: LIBRARY, visibility: 'private' }).expect(201);
  await mine.post(`/api/v1/libraries/${LIBRARY}/skills`).send({ skill_slug: SKILL }).expect(200);
});

function buildPath({ id, path }: { id: string; path: string }): string {
  const slug = /ibrar|ubscri/.test(id) ? LIBRARY : SKILL;
  const query = id === 'searchSkills' ? '?q=secret' : '';
  return (
    path.replace(':slug', slug).replace(':skill_slug', SKILL).replace(':version', '1').replace(':id', keyId) + query
  );
}

function call(operation: (typeof operations)[number], credential: string | TestPerson | null) {
  // Operations on keys need a session; all others use a token, as programs do.
  const isPerson = typeof credential === 'object' && credential !== null;
  const test = api
    .as(isPerson && /ApiKey/.test(operation.id) ? credential.jwt : credential)
    [operation.method as Method](buildPath(operation));
  if (operation.id === 'importSkill') return test.attach('bundle', Buffer.from('no zip'), 'skill.zip');
  return BODIES[operation.id] ? test.send(BODIES[operation.id]) : test;
}

const guardedOperations = operations.filter(({ access }) => access !== 'public' && access !== 'optional');
const optionalOperations = operations.filter(({ access }) => access === 'optional');
/** These act on the caller's own resources, so they cannot name one of another user. */
const OWN_RESOURCE_OPERATIONS =
  /^(me|publish|import|createApiKey|listApiKeys|createLibrary|listMy|listSaved|listSubscriptions|listWorkspaceSkills|renderSkill|searchSkills|listLibraries|homePage)/;

test.each(guardedOperations)(
  '$id: no credential, a malformed one, an unknown one and a revoked key are 401',
  async (operation) => {
    for (const credential of [null, 'rly_short', createOpaqueToken('rly_'), createOpaqueToken('svc_'), revoked]) {
      const response = await call(operation, credential);
      expect([credential, response.status]).toEqual([credential, 401]);
      expect(response.body).toEqual({ error: expect.any(String), code: expect.any(String) });
    }
  },
);

test.each(optionalOperations)(
  '$id: anonymous callers are allowed, but an invalid credential does not count as anonymous',
  async (operation) => {
    expect([200, 404]).toContain((await call(operation, null)).status);
    for (const credential of ['rly_short', createOpaqueToken('rly_'), revoked]) {
      expect((await call(operation, credential)).status).toBe(401);
    }
  },
);

test.each([...guardedOperations, ...optionalOperations].filter(({ id }) => !OWN_RESOURCE_OPERATIONS.test(id)))(
  '$id: a caller without access, also one of the same workspace, learns nothing and changes nothing',
  async (operation) => {
    const colleague = api.person({ workspaceId: owner.workspaceId, role: 'owner' });
    for (const stranger of [api.person({ role: 'owner' }), colleague]) {
      const response = await call(operation, stranger);
      expect(response.status).toBe(404);
      expect(response.text).not.toContain('the secret text');
    }
  },
);

test.each(guardedOperations)('$id: naming a workspace that the caller is not a member of is 403', async (operation) => {
  const stranger = api.person();
  expect((await call(operation, stranger).set('x-svc-workspace', owner.workspaceId)).status).toBe(403);
  expect((await call(operation, key).set('x-svc-workspace', stranger.workspaceId)).status).toBe(403);
});

test.each(guardedOperations)(
  '$id: a viewer reads and keeps lists, and writes nothing that others see',
  async (operation) => {
    const { status } = await call(operation, viewer);
    if (operation.access === 'member') expect(status).toBe(403);
    else expect([200, 201, 204, 404]).toContain(status);
  },
);

test.each(guardedOperations)(
  '$id: an API key opens it exactly where the OpenAPI file says so',
  async ({ id, method, path }) => {
    const { security = document.security } = document.paths[path.replace(/:(\w+)/g, '{$1}')][method];
    const listed = security.some((scheme: object) => 'apiKey' in scheme);
    const stranger = await api.apiKey(api.person());
    const { status, body } = await call({ id, method, path } as (typeof operations)[number], stranger.key);
    if (listed) expect(body.code).not.toBe('session_required');
    else expect([status, body.code]).toEqual([403, 'session_required']);
  },
);

test.each(guardedOperations)('$id: a token opens it unless the OpenAPI file asks for a person', async (operation) => {
  const { security = document.security } = document.paths[operation.path.replace(/:(\w+)/g, '{$1}')][operation.method];
  const forPeople = !security.some((scheme: object) => 'token' in scheme);
  for (const token of [api.person().token, api.workspaceToken(owner.workspaceId)]) {
    const { status, body } = await call(operation, token);
    if (forPeople) expect([status, body.code]).toEqual([403, 'session_required']);
    else expect(body.code).not.toBe('session_required');
  }
});

test('none of these requests has changed anything of the owner', async () => {
  const { body: skill } = await api.as(owner).get(`/api/v1/skills/${SKILL}`).expect(200);
  expect(skill).toMatchObject({ title: 'Isolated', version: 1, saves: 0, folder: null });
  expect((await api.as(owner).get(`/api/v1/skills/${SKILL}/share`)).body.emails).toEqual([]);
  const { body: library } = await api.as(owner).get(`/api/v1/libraries/${LIBRARY}`).expect(200);
  expect(library).toMatchObject({ title: 'Isolated', skill_count: 1, subscriber_count: 0 });
  expect((await api.as(owner.jwt).get('/api/v1/api-keys')).body).toHaveLength(1);
});
