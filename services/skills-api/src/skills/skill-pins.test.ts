/** Workers that use skills: repeated, late or forged events change no count. */
import { createHash } from 'node:crypto';
import { consumeWithSingleHandler, workerSkillPinned } from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import { setupTestEvents, type TestPerson, testSkillsApi } from '../test/test-skills-api';
import { sweepPins, upsertPin } from './skill-pins';

const api = testSkillsApi();
const { log, bus, announcer } = setupTestEvents();
setupResource(
  () =>
    consumeWithSingleHandler({
      bus,
      pool: api.database.pool,
      service: 'skills-api',
      event: workerSkillPinned,
      handle: upsertPin,
      log,
    }),
  (consumer) => consumer.stop(),
);

const hashText = (text: string) => createHash('sha256').update(text).digest('hex');

async function publish(owner: TestPerson, title: string, body_md: string, visibility = 'public'): Promise<string> {
  const { body } = await api.as(owner).post('/api/v1/skills').send({ title, visibility, body_md }).expect(201);
  expect(body.used_by_workers).toEqual({ workspace: 0, total: 0 });
  return body.slug;
}

/** A text of null: the worker no longer uses a skill. */
const pin = (workspaceId: string, workerUid: string, revision: number, slug: string, text: string | null) =>
  announcer.announce(workerSkillPinned, workspaceId, {
    workerUid,
    revision,
    skill: text === null ? null : { slug, contentHash: hashText(text) },
  });

const getWorkerCounts = async (slug: string, reader: TestPerson | null) =>
  (await api.as(reader).get(`/api/v1/skills/${slug}`).expect(200)).body.used_by_workers;

/** Waits until every earlier event was handled: one consumer takes them in order. */
async function drainEvents() {
  const [marker, owner] = [`Marker ${Date.now()}`, api.person()];
  const slug = await publish(owner, marker, 'marker');
  await pin(owner.workspaceId, `wrk_${slug}`, 1, slug, 'marker');
  await waitUntil(async () => (await getWorkerCounts(slug, owner)).total === 1);
}

test('each reader sees the workers of their workspace, the owner those of all, and no reader others', async () => {
  const [ada, bob] = [api.person(), api.person()];
  const slug = await publish(ada, 'Sort the mail', 'Sort it.');
  await pin(ada.workspaceId, 'wrk_a1', 1, slug, 'Sort it.');
  await pin(bob.workspaceId, 'wrk_b1', 1, slug, 'Sort it.');
  await pin(bob.workspaceId, 'wrk_b2', 1, slug, 'Sort it.');
  await drainEvents();
  expect(await getWorkerCounts(slug, ada)).toEqual({ workspace: 1, total: 3 });
  expect(await getWorkerCounts(slug, bob)).toEqual({ workspace: 2, total: null });
  expect(await getWorkerCounts(slug, null)).toEqual({ workspace: null, total: null });
});

test('events that are delivered twice, or after a newer one, change nothing', async () => {
  const ada = api.person();
  const [first, second] = [await publish(ada, 'First', 'One'), await publish(ada, 'Second', 'Two')];
  await pin(ada.workspaceId, 'wrk_moves', 1, first, 'One');
  await pin(ada.workspaceId, 'wrk_moves', 2, second, 'Two');
  await pin(ada.workspaceId, 'wrk_moves', 1, first, 'One');
  await pin(ada.workspaceId, 'wrk_moves', 2, second, 'Two');
  await pin(ada.workspaceId, 'wrk_gone', 4, '', null);
  await pin(ada.workspaceId, 'wrk_gone', 3, first, 'One');
  await drainEvents();
  expect([await getWorkerCounts(first, ada), await getWorkerCounts(second, ada)]).toEqual([
    { workspace: 0, total: 0 },
    { workspace: 1, total: 1 },
  ]);
  await pin(ada.workspaceId, 'wrk_moves', 3, '', null);
  await drainEvents();
  expect(await getWorkerCounts(second, ada)).toEqual({ workspace: 0, total: 0 });
});

test('a worker whose authors never had the text does not count, and one with an older version does', async () => {
  const [ada, bob] = [api.person(), api.person()];
  const slug = await publish(ada, 'Kept private', 'Ours alone', 'private');
  await pin(bob.workspaceId, 'wrk_forged', 1, slug, 'Whatever');
  await pin(ada.workspaceId, 'wrk_true', 1, slug, 'Ours alone');
  await api.as(ada).patch(`/api/v1/skills/${slug}`).send({ body_md: 'Ours, better' }).expect(200);
  await drainEvents();
  expect(await getWorkerCounts(slug, ada)).toEqual({ workspace: 1, total: 1 });
  await api.database.pool.query(
    'DELETE FROM skill_versions WHERE version = 1 AND skill_id = (SELECT id FROM skills WHERE slug = $1)',
    [slug],
  );
  await pin(ada.workspaceId, 'wrk_true', 2, slug, 'Ours alone');
  await drainEvents();
  expect(await getWorkerCounts(slug, ada)).toEqual({ workspace: 1, total: 1 });
});

test('rows that only record an end are deleted once no older event can arrive', async () => {
  const { pool } = api.database;
  const countRows = async () =>
    (await pool.query("SELECT worker_uid FROM skill_pins WHERE worker_uid LIKE 'wrk_old%' ORDER BY 1")).rowCount;
  await pin('ws_old', 'wrk_old1', 1, '', null);
  await pin('ws_old', 'wrk_old2', 1, '', null);
  await waitUntil(async () => (await countRows()) === 2);
  await pool.query("UPDATE skill_pins SET updated_at = now() - interval '8 days' WHERE worker_uid = 'wrk_old1'");
  await sweepPins(pool);
  expect(await countRows()).toBe(1);
});
