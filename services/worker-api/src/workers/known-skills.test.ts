/** Agents made of published skills: who is told of a newer text, and what skills-api is told of agents. */
import {
  buildEventSubjectPattern,
  connectBus,
  type Envelope,
  type EventType,
  runFinished,
  skillChanged,
  skillDeleted,
  workerSkillPinned,
} from '@gantry/events';
import { setupResource, setupTestEventPublisher, waitUntil } from '@gantry/testing';
import { createCaller } from '../test/caller';
import { hashText, startSkillsSurface } from '../test/skills-surface';
import { testWorkerApi } from '../test/test-worker-api';

const [OLD, NEW] = ['# Review\n\nRead the tests.\n', '# Review\n\nRead the tests first.\n'];
/** Text of the published skill, as the stand-in for the skills surface serves it. */
let text = OLD;

const surface = setupResource(
  () => startSkillsSurface((slug) => (slug.startsWith('review') ? { title: 'Review', body_md: text } : null)),
  ({ stop }) => stop(),
);
const api = testWorkerApi(() => ({ skillsUrl: surface.url }));
const owner = setupResource(() => createCaller(api.url, api.owner.jwt));
const announcer = setupTestEventPublisher(api, 'skills-api');
beforeEach(() => {
  text = OLD;
});

interface Told {
  content: string;
  revision: number;
  version?: number;
  visibility?: string;
  workspaceId?: string;
  ownerId?: string;
}
/** Publishes an event of another workspace by default. */
const publishEvent = (event: EventType, slug: string, { content, workspaceId = 'ws_elsewhere', ...more }: Told) => {
  const usual = { ownerId: 'usr_elsewhere', version: 1, visibility: 'public' };
  return announcer.announce(event, workspaceId, {
    skillId: `skl_${slug}`,
    slug,
    contentHash: hashText(content),
    ...usual,
    ...more,
  });
};
const publishChanged = (slug: string, countEvents: Told) => publishEvent(skillChanged, slug, countEvents);
const publishDeleted = (slug: string, countEvents: Told) => publishEvent(skillDeleted, slug, countEvents);

const createAgent = async (skill: string, as = owner): Promise<string> =>
  (await as.post('/api/workers', { runner: 'agent', skill }).expect(201)).body.id;
const getSkillUpdate = async (id: string, as = owner) => {
  const { skill_update: update, skill_deleted: isDeleted } = (await as.get(`/api/workers/${id}`).expect(200)).body;
  return { update, isDeleted };
};
const nothing = { update: null, isDeleted: false };
const getRevision = async (slug: string): Promise<number | undefined> =>
  (await api.database.pool.query('SELECT revision FROM known_skills WHERE slug = $1', [slug])).rows[0]?.revision;

test('a newer text is offered, adopted only on request, and late events change nothing', async () => {
  await publishChanged('review', { content: OLD, revision: 1 });
  const id = await createAgent('review');
  expect(await getSkillUpdate(id)).toEqual(nothing);
  text = NEW;
  await publishChanged('review', { content: NEW, revision: 3, version: 2 });
  await publishChanged('review', { content: OLD, revision: 2 });
  await waitUntil(async () => (await getSkillUpdate(id)).update !== null);
  const update = { slug: 'review', hash: hashText(NEW), version: 2, published_at: expect.any(String) };
  expect(await getSkillUpdate(id)).toEqual({ update, isDeleted: false });
  expect((await owner.get(`/api/workers/${id}`)).body).toMatchObject({ version: 1, skill: `review@${hashText(OLD)}` });

  const { body } = await owner.patch(`/api/workers/${id}`, { skill: `review@${hashText(NEW)}` }).expect(200);
  expect(body).toMatchObject({
    version: 2,
    skill: `review@${hashText(NEW)}`,
    skill_update: null,
    skill_deleted: false,
  });
});

test('the copy of a deleted skill stays, and the worker reports that until the skill is restored', async () => {
  await publishChanged('review-gone', { content: OLD, revision: 1 });
  const id = await createAgent('review-gone');
  await publishDeleted('review-gone', { content: OLD, revision: 2 });
  await waitUntil(async () => (await getSkillUpdate(id)).isDeleted);
  expect((await owner.get(`/api/workers/${id}`)).body).toMatchObject({ skill_update: null, status: 'active' });
  await publishChanged('review-gone', { content: NEW, revision: 3, version: 2 });
  await waitUntil(async () => (await getSkillUpdate(id)).update !== null);
  expect((await getSkillUpdate(id)).isDeleted).toBe(false);
});

test('of a private skill only its owner is told, and no member of a closed workspace', async () => {
  const { owner: ada, workspaceId } = api;
  const member = createCaller(api.url, (await api.addMember('admin')).jwt);
  await publishChanged('review-own', {
    content: NEW,
    revision: 1,
    visibility: 'private',
    workspaceId,
    ownerId: ada.userId,
  });
  await publishChanged('review-foreign', { content: NEW, revision: 1, visibility: 'private' });
  await publishChanged('review-hidden', { content: NEW, revision: 1, visibility: 'private' });
  await publishDeleted('review-hidden', { content: NEW, revision: 2, visibility: 'private' });
  await publishChanged('review-closed', { content: NEW, revision: 1, workspaceId: 'ws_closed' });
  await waitUntil(async () => (await getRevision('review-closed')) === 1 && (await getRevision('review-hidden')) === 2);
  const ids = await Promise.all(['own', 'foreign', 'hidden', 'closed'].map((name) => createAgent(`review-${name}`)));
  const [own = '', foreign = '', hidden = '', closed = ''] = ids;
  await api.database.pool.query(
    "INSERT INTO workspace_closures (workspace_id, purge_at, restored) VALUES ('ws_closed', now() + interval '1 day', false)",
  );
  expect((await getSkillUpdate(own)).update).toMatchObject({ hash: hashText(NEW) });
  expect(await getSkillUpdate(own, member)).toEqual(nothing);
  for (const id of [foreign, hidden, closed]) expect(await getSkillUpdate(id)).toEqual(nothing);
});

test('skills-api is told of each version that has a skill, that no longer has it, and of the end of the worker', async () => {
  const heard: { workspaceid: string; data: { workerUid: string; skill: { slug: string } | null } }[] = [];
  // Those of the tests before may still be on their way.
  const countEvents = () => {
    const uid = heard.find(({ data }) => data.skill?.slug === 'review-told')?.data.workerUid;
    return heard.filter(({ data }) => data.workerUid === uid);
  };
  const spectator = await connectBus({ ...api.nats.spectator, name: 'spectator', log: api.logs.log });
  spectator.nc.subscribe(buildEventSubjectPattern(workerSkillPinned), {
    callback: (_err, message) => heard.push(message.json<Envelope & (typeof heard)[number]>()),
  });
  await spectator.nc.flush();
  const id = await createAgent('review-told');
  await owner
    .post('/api/workers', { name: 'Own text', runner: 'agent', files: [{ path: 'SKILL.md', content: OLD }] })
    .expect(201);
  await owner.patch(`/api/workers/${id}`, { files: [{ path: 'SKILL.md', content: '# Mine\n' }] }).expect(200);
  const { body: versions } = await owner.get(`/api/workers/${id}/versions`).expect(200);
  await owner.post(`/api/workers/${id}/rollback/${versions[1].sha}`).expect(200);
  await owner.remove(`/api/workers/${id}`).expect(204);
  await waitUntil(() => countEvents().length >= 4);
  const pinned = { slug: 'review-told', contentHash: hashText(OLD) };
  expect(countEvents().map(({ data: { workerUid: _, ...data } }) => data)).toEqual(
    [pinned, null, pinned, null].map((skill, index) => ({ revision: index + 1, skill })),
  );
  expect(new Set(countEvents().map(({ workspaceid }) => workspaceid))).toEqual(new Set([api.workspaceId]));
  await spectator.nc.close();
});

test('the end of a run names the skill that it was created from', async () => {
  const ended: unknown[] = [];
  const spectator = await connectBus({ ...api.nats.spectator, name: 'spectator', log: api.logs.log });
  spectator.nc.subscribe(buildEventSubjectPattern(runFinished), {
    callback: (_err, message) => ended.push(runFinished.data.parse(message.json<{ data: unknown }>().data)),
  });
  await spectator.nc.flush();
  const stop = await api.serveRuns(() => 'done');
  const id = await createAgent('review-runs');
  await owner.post(`/api/workers/${id}/runs`, { inputs: {} }).expect(201);
  await waitUntil(() => ended.length > 0);
  expect(ended[0]).toMatchObject({ status: 'completed', skills: ['review-runs'] });
  await stop();
  await spectator.nc.close();
});
