import { setupResource } from '@gantry/testing';
import { createCaller } from '../../test/caller';
import { testWorkerApi } from '../../test/test-worker-api';

let now = new Date('2026-03-28T12:00:00Z');
const api = testWorkerApi({ now: () => now });
const viewer = setupResource(async () => createCaller(api.url, (await api.addMember('viewer')).jwt));

const listFires = async (body: object, from: string): Promise<string[]> => {
  now = new Date(from);
  const answer = await viewer.post('/api/schedules/preview', body).expect(200);
  return answer.body.fires.map((fire: string) => fire.slice(5, 16));
};

test('a preview is the next ten fires, in UTC unless it names a zone', async () => {
  const fires = await listFires({ cron: '0 9 * * MON-FRI' }, '2026-01-02T09:00:00Z');
  expect(fires.slice(0, 2)).toEqual(['01-05T09:00', '01-06T09:00']);
  expect(fires).toHaveLength(10);
});

/** [cron, zone, from, the fires that follow in UTC, what happens there] */
test.each([
  [
    '30 2 * * *',
    'Europe/Berlin',
    '2026-03-28T12:00',
    ['03-29T01:00', '03-30T00:30'],
    'a time that is skipped fires when the gap ends',
  ],
  [
    '30 2 * * *',
    'Europe/Berlin',
    '2026-10-24T12:00',
    ['10-25T00:30', '10-26T01:30'],
    'a time that comes twice fires the first time',
  ],
  [
    '0 * * * *',
    'Europe/Berlin',
    '2026-10-24T23:30',
    ['10-25T00:00', '10-25T01:00', '10-25T02:00'],
    'each hour is one, also the repeated one',
  ],
  ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00', ['10-03T15:30', '10-04T15:15'], 'a gap of thirty minutes'],
  [
    '45 1 * * *',
    'Australia/Lord_Howe',
    '2026-04-04T00:00',
    ['04-04T14:45', '04-05T15:15'],
    'thirty minutes that come twice',
  ],
])('%s in %s from %s', async (cron, timezone, from, expected, _what) => {
  const fires = await listFires({ cron, timezone }, `${from}:00Z`);
  expect(fires.slice(0, expected.length)).toEqual(expected);
});

test.each([
  [{ cron: 'nonsense' }, 'cron'],
  [{ cron: '0 0 31 2 *' }, 'cron'],
  [{ cron: '* * * * *', timezone: 'Mars/Olympus' }, 'timezone'],
  [{}, 'cron'],
  [{ cron: '* * * * *', zone: 'UTC' }, 'zone'],
])('%j is a 400 that names %s', async (body, path) => {
  const { body: problem } = await viewer.post('/api/schedules/preview', body).expect(400);
  expect(problem.errors[0].path).toBe(path);
});
