import { type Bus, connectBus, enqueue, startRelay, workspacePurged } from '@gantry/events';
import { catchLogs, startTestNats, type TestNats, until } from '@gantry/testing';
import { startTestSkillsApi, type TestPerson, type TestSkillsApi } from '../test/test-skills-api';
import { consumeWorkspaceEvents } from './workspace-events';

let api: TestSkillsApi;
let nats: TestNats;
let bus: Bus;
const { log } = catchLogs();

beforeAll(async () => {
  [api, nats] = await Promise.all([startTestSkillsApi(), startTestNats()]);
  bus = await connectBus({ url: nats.url('skills-api'), name: 'test', log });
});
afterAll(async () => {
  await bus.nc.close();
  await api.stop();
  await nats.stop();
});

const sql = (text: string, values: unknown[] = []) => api.database.pool.query(text, values);

/** Somebody with a row in every table, whose skill somebody else keeps. */
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
    `INSERT INTO idempotency_keys (workspace_id, key, request_hash, locked_until) VALUES ($1, 'k', 'h', now())`,
    [person.workspaceId],
  );
  return { person, skill: skill.slug, library: library.slug };
}

async function rowsByTable(workspaceId: string): Promise<Record<string, number>> {
  const { rows: tables } = await sql(
    "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'workspace_id' AND table_name <> 'outbox'",
  );
  const counted = tables.map(async ({ table_name }) => {
    const { rowCount } = await sql(`SELECT 1 FROM ${table_name} WHERE workspace_id = $1`, [workspaceId]);
    return [table_name, rowCount ?? 0] as const;
  });
  return Object.fromEntries(await Promise.all(counted));
}

test('of a purged workspace nothing is left, in no table, and others keep all of theirs', async () => {
  const other = api.person();
  const [gone, kept] = [await seed(other), await seed(other)];
  const before = await rowsByTable(kept.person.workspaceId);
  // A table that this test does not fill may be one that the purge forgets.
  expect(Object.entries(before).filter(([, rows]) => rows === 0)).toEqual([]);
  const consumer = await consumeWorkspaceEvents({ bus, pool: api.database.pool, log });
  const relay = startRelay({ pool: api.database.pool, bus, service: 'worker-api', log });
  const { workspaceId } = gone.person;
  await enqueue(sql, workspacePurged, workspaceId, { workspaceId });
  await until(async () => Object.values(await rowsByTable(workspaceId)).every((rows) => rows === 0));
  expect(await rowsByTable(kept.person.workspaceId)).toEqual(before);
  await api.as(null).get(`/api/v1/skills/${gone.skill}`).expect(404);
  await api.as(null).get(`/api/v1/libraries/${gone.library}`).expect(404);
  await api.as(null).get(`/api/v1/skills/${kept.skill}`).expect(200);
  const { body: saved } = await api.as(other).get('/api/v1/me/library').expect(200);
  expect(saved.map(({ slug }: { slug: string }) => slug)).toEqual([kept.skill]);
  await consumer.stop();
  await relay.stop();
});
