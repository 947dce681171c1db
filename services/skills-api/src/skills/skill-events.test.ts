/** Events between services, over a real NATS, each handled once. */
import {
  buildEventSubject,
  connectBus,
  consumeWithSingleHandler,
  enqueue,
  runFinished,
  skillChanged,
  skillDeleted,
  skillPublished,
  startRelay,
} from '@gantry/events';
import { captureLogs, createDatabase, setupBus, setupNats, setupResource, waitUntil } from '@gantry/testing';
import { Pool } from 'pg';
import { type TestPerson, testSkillsApi } from '../test/test-skills-api';
import { incrementUses } from './skill-events';

const { log } = captureLogs();
const api = testSkillsApi();
const nats = setupNats();
const bus = setupBus(nats, 'skills-api');
const ada = setupResource(() => api.person());

const publish = async (title: string, visibility: string, person = ada): Promise<string> =>
  (await api.as(person).post('/api/v1/skills').send({ title, visibility, body_md: 'x' }).expect(201)).body.slug;

test('publishing, changing and deleting are announced in the events of the catalogue', async () => {
  const received: string[] = [];
  const spectator = await connectBus({ ...nats.spectator, name: 'spectator', log });
  for (const { type, data } of [skillPublished, skillChanged, skillDeleted]) {
    spectator.nc.subscribe(buildEventSubject({ type }, 'skills-api'), {
      callback: (_err, message) => {
        const envelope = message.json<{ workspaceid: string; data: unknown }>();
        const { slug } = data.parse(envelope.data) as { slug: string };
        received.push(`${type} ${slug} ${envelope.workspaceid}`);
      },
    });
  }
  await spectator.nc.flush();
  const relay = startRelay({ pool: api.database.pool, bus, service: 'skills-api', log });
  const slug = await publish('Is announced', 'public');
  await api.as(ada).patch(`/api/v1/skills/${slug}`).send({ title: 'Is changed' }).expect(200);
  await api.as(ada).delete(`/api/v1/skills/${slug}`).expect(204);
  // The relay also sends what other tests have published.
  const listOwn = () => received.filter((line) => line.includes(` ${slug} `));
  await waitUntil(() => listOwn().length === 3);
  expect(listOwn().sort()).toEqual(
    ['changed', 'deleted', 'published'].map((what) => `skill.${what}.v1 ${slug} ${ada.workspaceId}`),
  );
  await relay.stop();
  await spectator.nc.close();
});

test('a run that names its skills counts a use of each, once, and none of one that it could not have read', async () => {
  const other = api.person();
  const [open, own, foreign] = [
    await publish('Used by a run', 'public', other),
    await publish('Used in private', 'private'),
    await publish('Out of reach', 'private', other),
  ];
  const consumer = await consumeWithSingleHandler({
    bus,
    pool: api.database.pool,
    service: 'skills-api',
    event: runFinished,
    handle: incrementUses,
    log,
  });
  const runs = new Pool({ connectionString: (await createDatabase('automation-api')).url });
  const automations = await connectBus({ ...nats.as('automation-api'), name: 'automation-api', log });
  const relay = startRelay({ pool: runs, bus: automations, service: 'automation-api', log });
  const publishFinished = (runId: string, skills?: string[]) =>
    enqueue(runs, runFinished, ada.workspaceId, {
      runId,
      source: 'automation',
      subjectId: 'aut_1',
      status: 'completed',
      errorCode: null,
      durationMs: 5,
      finishedAt: Date.now(),
      ...(skills && { skills }),
    });
  await publishFinished('run_1', [open, open, own, foreign, 'no-such-skill']);
  await publishFinished('run_2');
  await publishFinished('run_3', [open]);
  const countUsesByPerson = async (slug: string, person: TestPerson) =>
    (await api.as(person).get(`/api/v1/skills/${slug}`)).body.uses;
  await waitUntil(async () => (await countUsesByPerson(open, other)) === 2);
  expect([await countUsesByPerson(own, ada), await countUsesByPerson(foreign, other)]).toEqual([1, 0]);
  await consumer.stop();
  await relay.stop();
  await automations.nc.close();
  await runs.end();
});
