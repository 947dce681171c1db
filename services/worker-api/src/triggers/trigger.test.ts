import { parseTriggers, type TriggerBody, triggersToApi } from './trigger';

const listProblems = (body: TriggerBody): string[] => {
  try {
    parseTriggers(body);
    return [];
  } catch (err) {
    return (err as { fields: { path: string }[] }).fields.map(({ path }) => path);
  }
};

test('a body without triggers does not change them, and an empty list is manual', () => {
  expect(parseTriggers({})).toBeNull();
  for (const none of [null, 'manual', { type: 'manual' }]) expect(parseTriggers({ trigger: none })).toEqual([]);
  expect(parseTriggers({ triggers: [] })).toEqual([]);
  expect(triggersToApi({ id: 'w' }, [], 'http://x')).toEqual([{ type: 'manual' }]);
});

test.each([
  [{ trigger: { type: 'cron', cron: ' 0 9 * * * ' } }, 'trigger'],
  [{ trigger: { type: 'schedule', schedule: '0 9 * * *' } }, 'trigger'],
  [{ schedule: '0 9 * * *' }, 'schedule'],
  [{ schedule: { cron: '0 9 * * *' } }, 'schedule'],
  [{ triggers: [{ type: 'cron', cron: '0 9 * * *' }] }, 'triggers.0'],
])('%j is a cron trigger in UTC with misfire fire_once', (body, path) => {
  expect(parseTriggers(body)).toEqual([
    { type: 'cron', cron: '0 9 * * *', timezone: 'UTC', misfire: 'fire_once', inputs: {}, path },
  ]);
});

test.each<[TriggerBody, string]>([
  [{ trigger: { type: 'cron' } }, 'trigger.cron'],
  [{ trigger: { type: 'cron', cron: '61 * * * *' } }, 'trigger.cron'],
  [{ trigger: { type: 'cron', cron: '0 0 31 2 *' } }, 'trigger.cron'],
  [{ trigger: { type: 'cron', cron: '* * * * *', misfire: 'never' } }, 'trigger.misfire'],
  [{ trigger: { type: 'cron', cron: '* * * * *', inputs: [] } }, 'trigger.inputs'],
  [{ trigger: { type: 'cron', cron: '* * * * *', inputs: { a: 'x'.repeat(70_000) } } }, 'trigger.inputs'],
  [{ trigger: { type: 'cron', cron: '* * * * *', timezome: 'UTC' } }, 'trigger.timezome'],
  [{ trigger: { type: 'carrier-pigeon' } }, 'trigger.type'],
  [{ trigger: 7 }, 'trigger'],
  [{ trigger: ['manual'] }, 'trigger'],
  [{ schedule: 'nonsense' }, 'schedule.cron'],
  [
    { triggers: [{ type: 'webhook' }, { type: 'cron', cron: '* * * * *', timezone: 'Mars/Olympus' }] },
    'triggers.1.timezone',
  ],
  [{ triggers: [{ type: 'event', on: [] }] }, 'triggers.0.on'],
  [{ triggers: [{ type: 'event', on: ['run.started'] }] }, 'triggers.0.on.0'],
  [{ triggers: [{ type: 'event', on: ['run.failed'], source_id: 'a\u0000' }] }, 'triggers.0.source_id'],
  [{ triggers: [{ type: 'webhook' }, { type: 'webhook' }] }, 'triggers'],
  [{ triggers: Array(11).fill({ type: 'event', on: ['run.failed'] }) }, 'triggers'],
  [{ triggers: 'webhook' }, 'triggers'],
  [{ trigger: 'manual', schedule: '* * * * *' }, 'schedule'],
])('%j is refused at %s', (body, path) => {
  expect(listProblems(body)).toEqual([path]);
});
