import { TOOLS } from './tools';

const create = TOOLS.find(({ name }) => name === 'create_worker');

test.each([
  [{}],
  [{ trigger: 'manual' }],
  [{ trigger: { type: 'manual' }, triggers: [], schedule: null }],
  [{ triggers: ['manual', { type: 'manual' }] }],
])('a worker that nothing starts by itself is made without asking: %j', (given) => {
  expect(create?.asksFirst?.(given)).toBe(false);
});

test.each([
  [{ trigger: { type: 'cron', cron: '* * * * *' } }],
  [{ trigger: 'webhook' }],
  [{ trigger: { cron: '* * * * *' } }],
  [{ triggers: ['manual', { type: 'event', on: ['run.failed'] }] }],
  [{ schedule: '* * * * *' }],
  [{ schedule: { cron: '* * * * *' } }],
  [{ schedule: { type: 'manual', cron: '* * * * *' } }],
  [{ trigger: 7 }],
])('one that something starts is not: %j', (given) => {
  expect(create?.asksFirst?.(given)).toBe(true);
});

test('what others can see is never given away unasked', () => {
  const asked = ['publish_skill', 'deploy_automation'].map((name) =>
    TOOLS.find((tool) => tool.name === name)?.asksFirst?.({}),
  );
  expect(asked).toEqual([true, true]);
});
