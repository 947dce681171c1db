import { workspaceDeleted, workspacePurged, workspaceRestored } from '@gantry/events';
import { setupResource, waitUntil } from '@gantry/testing';
import { setupTestEvents, type TestPerson, testSkillsApi } from '../test/test-skills-api';
import { consumeWorkspaceEvents } from './workspace-events';

const api = testSkillsApi();
const { log, bus, announcer } = setupTestEvents();
setupResource(
  () => consumeWorkspaceEvents({ bus, pool: api.database.pool, log }),
  async (consumers) => {
    for (const consumer of consumers) await consumer.stop();
  },
);

const sql = (text: string, values: unknown[] = []) => api.database.pool.query(text, values);

/** A person with a row in every table, whose skill another person saves. */
async function seed(other: TestPerson): Promise<{ person: TestPerson; skill: string; library: string }> {
  const person = api.person();
  const me = api.as(person);
  const { body: skill } = await me
    .post('/api/v1/skills')
    .set('Idempotency-Key', person.userId)
    .send({ title: `Of ${person.userId}`, visibility: 'public', body_md: 'x' })
    .expect(201);
  const { body: library } = await me
    .post('/api/v1/libraries')
    .send({ title: 'Ours', visibility: 'public' })
    .expect(201);
  await api.apiKey(person);
  await api.as(other).post(`/api/v1/skills/${skill.slug}/save`).expect(200);
  await sql(
    `INSERT INTO idempotency_keys (scope, operation, key, workspace_id, request_hash) VALUES ($1, 'o', 'k', $1, 'h')`,
    [person.workspaceId],
  );
  await sql('INSERT INTO workspace_closures (workspace_id, purge_at, restored) VALUES ($1, now(), true)', [
    person.workspaceId,
  ]);
  await sql('INSERT INTO skill_pins (worker_uid, workspace_id, skill_id, revision) VALUES ($1, $2, $3, 1)', [
    ...[`wrk_${person.userId}`, person.workspaceId, null],
  ]);
  return { person, skill: skill.slug, library: library.slug };
}

async function rowsByTable(workspaceId: string): Promise<Record<string, number>> {
  const { rows: tables } = await sql(
    `SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'workspace_id'
     AND table_name NOT IN ('outbox', 'published_events')`,
  );
  const counted = tables.map(async ({ table_name }) => {
    const { rowCount } = await sql(`SELECT 1 FROM ${table_name} WHERE workspace_id = $1`, [workspaceId]);
    return [table_name, rowCount ?? 0] as const;
  });
  return Object.fromEntries(await Promise.all(counted));
}

test('a purged workspace leaves nothing behind, in no table, and others keep everything', async () => {
  const other = api.person();
  const [gone, kept] = [await seed(other), await seed(other)];
  const before = await rowsByTable(kept.person.workspaceId);
  // A table that this test does not fill may be one that the purge forgets.
  expect(Object.entries(before).filter(([, rows]) => rows === 0)).toEqual([]);
  const { workspaceId } = gone.person;
  await announcer.announce(workspacePurged, workspaceId, { workspaceId });
  await waitUntil(async () => Object.values(await rowsByTable(workspaceId)).every((rows) => rows === 0));
  expect(await rowsByTable(kept.person.workspaceId)).toEqual(before);
  await api.as(null).get(`/api/v1/skills/${gone.skill}`).expect(404);
  await api.as(null).get(`/api/v1/libraries/${gone.library}`).expect(404);
  await api.as(null).get(`/api/v1/skills/${kept.skill}`).expect(200);
  const { body: saved } = await api.as(other).get('/api/v1/me/library').expect(200);
  expect(saved.map(({ slug }: { slug: string }) => slug)).toEqual([kept.skill]);
});

test('skills that a deleted workspace has published are gone for all readers, on every route, and are back once it is restored', async () => {
  const [other, purgeAt] = [api.person(), Date.now() + 1_000_000];
  const { person, skill, library } = await seed(other);
  const { workspaceId } = person;
  const { key } = await api.apiKey(person);
  const shelf = await api
    .as(other)
    .post('/api/v1/libraries')
    .send({ title: 'Shelf', visibility: 'public' })
    .expect(201);
  await api.as(other).post(`/api/v1/libraries/${shelf.body.slug}/skills`).send({ skill_slug: skill }).expect(200);
  await api.as(other).post('/api/v1/me/subscriptions').send({ library_slug: library }).expect(200);

  const nobody = api.as(null);
  const title = encodeURIComponent(`Of ${person.userId}`);
  const isListed = async (path: string, slug: string, as = nobody) =>
    (await as.get(path).expect(200)).text.includes(slug);
  const listVisible = async () => ({
    statuses: await Promise.all(
      [
        nobody.get(`/api/v1/skills/${skill}`),
        nobody.get(`/s/${skill}`),
        nobody.get(`/s/${skill}.md`),
        nobody.get(`/s/${skill}.json`),
        nobody.get(`/s/${skill}.zip`),
        nobody.get(`/.well-known/agent-skills/${skill}/SKILL.md`),
        nobody.get(`/api/v1/libraries/${library}`),
        nobody.get(`/l/${library}`),
        api.as(other).get(`/api/v1/skills/${skill}`),
        api.as(person).get(`/api/v1/skills/${skill}`),
        api.as(key).get('/api/v1/me/skills'),
      ].map(async (response) => (await response).status),
    ),
    listed: await Promise.all([
      isListed(`/api/v1/search?q=${title}`, skill),
      isListed(`/?q=${title}`, skill),
      isListed('/', skill),
      isListed('/.well-known/agent-skills/index.json?limit=1000', skill),
      isListed(`/api/v1/libraries/${shelf.body.slug}`, skill),
      isListed(`/l/${shelf.body.slug}`, skill),
      isListed('/api/v1/me/library', skill, api.as(other)),
      isListed('/api/v1/me/subscriptions', library, api.as(other)),
    ]),
  });
  const open = await listVisible();
  expect(open).toEqual({ statuses: Array(11).fill(200), listed: Array(8).fill(true) });

  await announcer.announce(workspaceDeleted, workspaceId, { workspaceId, purgeAt });
  await waitUntil(() => api.closures.has(workspaceId));
  expect(await listVisible()).toEqual({
    statuses: [404, 404, 404, 404, 404, 404, 404, 404, 404, 403, 403],
    listed: Array(8).fill(false),
  });

  await announcer.announce(workspaceRestored, workspaceId, { workspaceId, purgeAt });
  await waitUntil(() => !api.closures.has(workspaceId));
  expect(await listVisible()).toEqual(open);
});
