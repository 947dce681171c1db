/** Three replicas on one database; the clock is the test's. */
import type { AutomationApi } from '../automation-api';
import { type Caller, createArtifact, deployArtifact, testService } from '../test/service';

let replicas: AutomationApi[];
let now = new Date('2026-01-05T08:59:30Z');
let me: Caller;

const service = testService({ now: () => now });
beforeAll(async () => {
  const replica = () => service.replica({ now: () => now });
  replicas = [service.api, await replica(), await replica()];
  me = service.createCaller();
});
afterEach(async () => {
  await service.api.deps.pool.query('UPDATE automations SET next_run_at = NULL');
});

const files = { 'main.py': 'def run(who="x"): pass' };
const manifest = { name: 'Scheduled', inputs: [{ name: 'who', default: 'world' }] };
const deployScheduled = (deploy: object) => deployArtifact(me, { files, manifest, deploy });
const setClock = (time: string) => {
  now = new Date(time);
};
/** Every replica ticks at once, several times. */
const tickAll = async () => {
  const counts = await Promise.all([...replicas, ...replicas].map(({ ticker }) => ticker.tick()));
  return counts.reduce((sum, count) => sum + count, 0);
};
const listRuns = async (id: string) => (await me.get(`/api/runs?automationId=${id}&limit=200`)).body.runs;
const getScheduling = async (id: string) => (await me.get(`/api/automations/${id}`)).body.scheduling;

test('a schedule fires once at its time, however many replicas tick', async () => {
  setClock('2026-01-05T08:59:30Z');
  const { id } = await deployScheduled({ schedule: '0 9 * * MON-FRI' });
  expect(await tickAll()).toBe(0);
  expect(await getScheduling(id)).toMatchObject({ enabled: true, nextRunAt: Date.parse('2026-01-05T09:00:00Z') });
  setClock('2026-01-05T09:00:00.200Z');
  expect(await tickAll()).toBe(1);
  setClock('2026-01-05T09:00:01Z');
  expect(await tickAll()).toBe(0);
  expect(await listRuns(id)).toMatchObject([{ trigger: 'schedule', version: 1, status: 'pending' }]);
  expect(await getScheduling(id)).toMatchObject({
    nextRunAt: Date.parse('2026-01-06T09:00:00Z'),
    lastScheduledAt: Date.parse('2026-01-05T09:00:00Z'),
    missedFires: 0,
  });
});

test('many schedules at one moment are distributed and each fires once', async () => {
  setClock('2026-01-05T10:00:30Z');
  const artifactId = await createArtifact(me, { files, manifest });
  const ids: string[] = [];
  for (let i = 0; i < 15; i++) {
    ids.push((await me.post('/api/deploy', { artifactId, schedule: '*/5 * * * *' }).expect(201)).body.id);
  }
  setClock('2026-01-05T10:05:01Z');
  expect(await tickAll()).toBe(15);
  for (const id of ids) expect(await listRuns(id)).toHaveLength(1);
});

test('a scheduled run gets its own inputs over the defaults', async () => {
  setClock('2026-01-05T11:00:30Z');
  const plain = await deployScheduled({ schedule: '1 11 * * *' });
  const named = await deployScheduled({ schedule: '1 11 * * *', scheduleInputs: { who: 'Ada' } });
  setClock('2026-01-05T11:01:00Z');
  expect(await tickAll()).toBe(2);
  const getFirstInputs = async (id: string) => (await me.get(`/api/runs/${(await listRuns(id))[0].runId}`)).body.inputs;
  expect(await getFirstInputs(plain.id)).toEqual({ who: 'world' });
  expect(await getFirstInputs(named.id)).toEqual({ who: 'Ada' });
});

test.each([
  ['skip', 0],
  ['fire_once', 1],
  ['catch_up', 3],
] as const)('after three missed hours %s starts %i, and the missed ones are counted', async (misfire, started) => {
  setClock('2026-01-05T12:00:30Z');
  const { id } = await deployScheduled({ schedule: '0 * * * *', misfire });
  setClock('2026-01-05T15:30:00Z');
  expect(await tickAll()).toBe(started);
  expect(await listRuns(id)).toHaveLength(started);
  expect(await getScheduling(id)).toMatchObject({ missedFires: 3, nextRunAt: Date.parse('2026-01-05T16:00:00Z') });
  expect(service.logs.lines).toContainEqual(
    expect.objectContaining({ msg: 'fires missed', automationId: id, missed: 3 }),
  );
});

test('a replica that dies before its commit has started nothing, and another one does', async () => {
  setClock('2026-01-05T17:00:30Z');
  const { id } = await deployScheduled({ schedule: '1 17 * * *' });
  setClock('2026-01-05T17:01:00Z');
  const [dying] = replicas as [AutomationApi];
  const submitIn = jest.spyOn(dying.engine, 'submitInTransaction').mockImplementationOnce(async () => {
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '57P01' });
  });
  await dying.ticker.tick().catch(() => {});
  submitIn.mockRestore();
  await tickAll();
  expect(await listRuns(id)).toHaveLength(1);
});

test('fires while paused or disabled neither run nor count as missed', async () => {
  setClock('2026-01-05T18:00:30Z');
  const { id } = await deployScheduled({ schedule: '*/10 * * * *' });
  for (const [off, on] of [
    [{ status: 'paused' }, { status: 'active' }],
    [{ scheduleEnabled: false }, { scheduleEnabled: true }],
  ]) {
    const { body } = await me.patch(`/api/automations/${id}`, off as object).expect(200);
    expect(body.scheduling.nextRunAt).toBeNull();
    setClock(new Date(now.getTime() + 3_600_000).toISOString());
    expect(await tickAll()).toBe(0);
    await me.patch(`/api/automations/${id}`, on as object).expect(200);
    expect(await tickAll()).toBe(0);
  }
  expect(await getScheduling(id)).toMatchObject({ missedFires: 0, nextRunAt: Date.parse('2026-01-05T20:10:00Z') });
});

test('an edit that does not change the schedule does not change the next fire', async () => {
  setClock('2026-01-05T21:00:30Z');
  const { id } = await deployScheduled({ schedule: '1 21 * * *' });
  setClock('2026-01-05T21:01:01Z');
  await me.patch(`/api/automations/${id}`, { name: 'Renamed' }).expect(200);
  expect(await tickAll()).toBe(1);
  await me.patch(`/api/automations/${id}`, { schedule: null }).expect(200);
  expect(await getScheduling(id)).toMatchObject({ enabled: false, nextRunAt: null });
});

test('changing a disabled schedule leaves it disabled, and one that is set after a removal is enabled', async () => {
  setClock('2026-01-05T23:00:30Z');
  const { id } = await deployScheduled({ schedule: '*/10 * * * *' });
  await me.patch(`/api/automations/${id}`, { scheduleEnabled: false }).expect(200);
  await me.patch(`/api/automations/${id}`, { schedule: '*/20 * * * *' }).expect(200);
  expect(await getScheduling(id)).toMatchObject({ enabled: false, nextRunAt: null });
  await me.patch(`/api/automations/${id}`, { schedule: null }).expect(200);
  await me.patch(`/api/automations/${id}`, { schedule: '*/30 * * * *' }).expect(200);
  expect(await getScheduling(id)).toMatchObject({ enabled: true, nextRunAt: Date.parse('2026-01-05T23:30:00Z') });
});

test('all problems of a schedule are in one response', async () => {
  const artifactId = await createArtifact(me, { files, manifest: { name: 'x', inputs: ['who'] } });
  const wrong = { schedule: '* * *', timezone: 'Mars/Olympus', scheduleInputs: { who: 7 } };
  const { body } = await me.post('/api/deploy', { artifactId, ...wrong }).expect(400);
  expect(body.details).toEqual([
    { path: 'schedule', message: 'must have five fields, or six with seconds first; it has 3' },
    { path: 'timezone', message: '"Mars/Olympus" is not an IANA time zone such as Europe/Berlin or UTC' },
    { path: 'scheduleInputs.who', message: 'must be a text' },
  ]);
});

test('invalid schedules and inputs are a 400 that names the field', async () => {
  const artifactId = await createArtifact(me, {
    files,
    manifest: { name: 'x', inputs: ['who', { name: 'f', type: 'file' }] },
  });
  const expectRefusal = async (deploy: object) => {
    const { body } = await me.post('/api/deploy', { artifactId, ...deploy }).expect(400);
    return [body.code, body.details[0].path];
  };
  expect(await expectRefusal({ schedule: 'nonsense' })).toEqual(['bad_schedule', 'schedule']);
  expect(await expectRefusal({ schedule: '* * * * *', timezone: 'Mars/Olympus' })).toEqual([
    'bad_schedule',
    'timezone',
  ]);
  expect(await expectRefusal({ scheduleEnabled: true })).toEqual(['bad_schedule', 'scheduleEnabled']);
  expect(await expectRefusal({ schedule: '* * * * *' })).toEqual(['invalid_inputs', 'scheduleInputs.who']);
  expect(await expectRefusal({ schedule: '* * * * *', scheduleInputs: { who: 'x', f: { name: 'a' } } })).toEqual([
    'invalid_inputs',
    'scheduleInputs.f',
  ]);
});

test('a new version that the schedule’s inputs do not fit is a warning, and its runs fail visibly', async () => {
  setClock('2026-01-05T22:00:30Z');
  const { id } = await deployScheduled({ schedule: '1 22 * * *' });
  const artifactId = await createArtifact(me, { files, manifest: { name: 'x', inputs: ['colour'] } });
  const { body } = await me.post(`/api/automations/${id}/update`, { artifactId }).expect(200);
  expect(body.warnings).toEqual([expect.stringContaining('scheduleInputs.colour')]);
  setClock('2026-01-05T22:01:00Z');
  expect(await tickAll()).toBe(1);
  expect(await listRuns(id)).toHaveLength(1);
});
