/**
 * The skills surface as strangers see it, and at last what is left of a deleted workspace.
 * @sequential
 */
import { createOpaqueToken } from '@gantry/auth';
import { upsertClosure } from '@gantry/events';
import { openapiFiles } from '@gantry/openapi';
import { startTestSkillsApi } from '../../../../services/skills-api/src/test/test-skills-api';
import type { ClosingSurface } from './closed-matrix';
import { createUnknownIds, type Fixture } from './matrix';
import { testIsolation } from './test-isolation';

const nothing: Fixture = { send: () => ({}) };
const ofSkill: Fixture = { send: ({ skill }) => ({ path: { slug: skill } }) };
const ofLibrary: Fixture = { send: ({ library }) => ({ path: { slug: library } }) };
const ofKey: Fixture = { send: ({ key }) => ({ path: { id: key } }), key: 'person' };
const publish: Fixture = { send: () => ({ body: { title: 'Of a stranger', body_md: '# Hello' } }) };

const fixtures: Record<string, Fixture> = {
  live: nothing,
  ready: nothing,
  me: nothing,
  publishSkill: publish,
  publishSkillInBrowser: publish,
  importSkill: {
    send: () => ({
      form: () => {
        const form = new FormData();
        form.append('bundle', new Blob(['no zip'], { type: 'application/zip' }), 'skill.zip');
        return form;
      },
    }),
  },
  getSkill: ofSkill,
  changeSkill: { send: ({ skill }) => ({ path: { slug: skill }, body: { title: 'Taken over' } }) },
  deleteSkill: ofSkill,
  restoreSkill: { send: ({ deletedSkill }) => ({ path: { slug: deletedSkill } }) },
  listSkillVersions: ofSkill,
  getSkillVersion: { send: ({ skill }) => ({ path: { slug: skill, version: '1' } }) },
  saveSkill: ofSkill,
  unsaveSkill: { ...ofSkill, doneAlready: true },
  listShares: ofSkill,
  shareSkill: { send: ({ skill }) => ({ path: { slug: skill }, body: { emails: ['stranger@example.test'] } }) },
  renderSkill: publish,
  listWorkspaceSkills: nothing,
  listMySkills: nothing,
  listSavedSkills: nothing,
  overrideSkill: { send: ({ skill }) => ({ path: { slug: skill }, body: { folder: 'mine' } }) },
  searchSkills: { send: () => ({ query: 'q=hidden' }) },
  listApiKeys: { ...nothing, key: 'person' },
  createApiKey: { send: () => ({ body: { name: 'of a stranger' } }), key: 'person' },
  revokeApiKey: ofKey,
  rotateApiKey: ofKey,
  listLibraries: nothing,
  createLibrary: { send: () => ({ body: { title: 'Of a stranger' } }) },
  getLibrary: ofLibrary,
  changeLibrary: { send: ({ library }) => ({ path: { slug: library }, body: { title: 'Taken over' } }) },
  deleteLibrary: ofLibrary,
  orderLibrary: { send: ({ library, skill }) => ({ path: { slug: library }, body: { skill_slugs: [skill] } }) },
  addToLibrary: { send: ({ library, skill }) => ({ path: { slug: library }, body: { skill_slug: skill } }) },
  removeFromLibrary: { send: ({ library, skill }) => ({ path: { slug: library, skill_slug: skill } }) },
  listMyLibraries: nothing,
  listSubscriptions: nothing,
  subscribe: { send: ({ library }) => ({ body: { library_slug: library } }) },
  unsubscribe: { ...ofLibrary, doneAlready: true },
  skillAsMarkdown: ofSkill,
  skillAsJson: ofSkill,
  skillAsZip: ofSkill,
  skillPage: ofSkill,
  libraryPage: ofLibrary,
  homePage: nothing,
  agentSkillIndex: nothing,
  agentSkillMd: ofSkill,
};

async function start(): Promise<ClosingSurface & { stop(): Promise<void> }> {
  const api = await startTestSkillsApi();
  const owner = api.person({ role: 'owner' });
  const { workspaceId } = owner;
  const inHome = (role: 'viewer' | 'member' | 'admin') => api.person({ role, workspaceId }).jwt;
  const foreigner = api.person({ role: 'owner' });
  const asOwner = api.as(owner);
  const createByRoute = async (route: string, body: object): Promise<string> =>
    (
      await asOwner
        .post(route)
        .send({ visibility: 'private', ...body })
        .expect(201)
    ).body.slug;

  const skill = await createByRoute('/api/v1/skills', { title: 'Hidden procedure', body_md: '# Hidden words' });
  const deletedSkill = await createByRoute('/api/v1/skills', { title: 'Hidden and gone', body_md: '# Hidden words' });
  await asOwner.delete(`/api/v1/skills/${deletedSkill}`).expect(204);
  const library = await createByRoute('/api/v1/libraries', { title: 'Hidden shelf' });
  await asOwner.post(`/api/v1/libraries/${library}/skills`).send({ skill_slug: skill });
  const { id: key, key: keyText } = await api.apiKey(owner);

  const real = { skill, deletedSkill, library, key };
  const expiresAt = Date.now() + 3_600_000;
  const expired = api.person({ workspaceId, expiresAt: Date.now() - 1 }).token;
  return {
    openapiFile: openapiFiles.skills,
    url: api.url,
    pool: api.database.pool,
    aliases: (documented) => [documented],
    fixtures,
    real,
    unknown: createUnknownIds(real),
    homeWorkspaceId: workspaceId,
    // Signed in: what some operations ask for beside a role.
    home: { viewer: inHome('viewer'), member: inHome('member'), admin: inHome('admin'), owner: owner.jwt },
    foreign: {
      workspaceId: foreigner.workspaceId,
      personal: foreigner.jwt,
      workspaceToken: api.workspaceToken(foreigner.workspaceId),
    },
    // A token that worker-api no longer knows.
    revoked: createOpaqueToken('wst_'),
    credentials: {
      'a workspace token': { Authorization: `Bearer ${api.workspaceToken(workspaceId)}` },
      'an rly_ key': { Authorization: `Bearer ${keyText}` },
      'a session': {
        Cookie: `svc_cloud_session=${owner.cookie}`,
        'Sec-Fetch-Site': 'same-origin',
        Origin: 'http://skills.test',
      },
    },
    closeHome: async () => {
      await asOwner.patch(`/api/v1/skills/${skill}`).send({ visibility: 'public' }).expect(200);
      await asOwner.patch(`/api/v1/libraries/${library}`).send({ visibility: 'public' }).expect(200);
      await api.as(null).get(`/api/v1/skills/${skill}`).expect(200);
      await api.views.flush();
      const closure = { workspaceId, purgeAt: Date.now() + 1_000_000, restored: false };
      await upsertClosure(api.database.pool, closure);
      api.closures.note(closure);
    },
    expired,
    limited: {
      expired,
      viewer: api.person({ role: 'viewer', workspaceId }).token,
      expiring: api.person({ role: 'owner', workspaceId, expiresAt }).token,
      expiresAt,
      restricted: api.workspaceToken(workspaceId, 'viewer'),
      admin: api.workspaceToken(workspaceId),
    },
    restricted: {
      readonly: api.person({ role: 'owner', workspaceId, restriction: { readonly: true } }).token,
      elsewhere: api.person({ role: 'owner', workspaceId, restriction: { workers: ['another-worker'] } }).token,
    },
    stop: api.stop,
  };
}

testIsolation(openapiFiles.skills, start);
