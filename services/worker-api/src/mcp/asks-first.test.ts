import type { Tool } from './tool';
import { createToolbox } from './toolbox';
import { TOOLS } from './tools';

const toolbox = createToolbox();
const listOfferedTools = () =>
  toolbox.list(async () => ({ status: 200, headers: new Headers(), body: [] }), undefined, AbortSignal.timeout(60_000));
const asksFirst = async (name: string, given: Record<string, unknown>) =>
  (await listOfferedTools()).get(name)?.asksFirst(given);
const listToolNames = (matches: (tool: Tool) => boolean) => TOOLS.filter(matches).map(({ name }) => name);

test.each([
  [{}],
  [{ trigger: 'manual' }],
  [{ trigger: { type: 'manual' }, triggers: [], schedule: null }],
  [{ triggers: ['manual', { type: 'manual' }] }],
])('a worker without automatic triggers is created without asking: %j', async (given) => {
  expect(await asksFirst('create_worker', given)).toBe(false);
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
])('one with an automatic trigger is not: %j', async (given) => {
  expect(await asksFirst('create_worker', given)).toBe(true);
});

test('only these are called without a person', async () => {
  const unasked = [...(await listOfferedTools()).values()]
    .filter((tool) => !tool.asksFirst({}))
    .map(({ name }) => name);
  const reading = listToolNames(({ hints }) => hints.readOnlyHint);
  expect(unasked.sort()).toEqual([...reading, 'connect_app', 'create_worker', 'start_conversation'].sort());
});

test('clients are told which tools let code run or reach external systems', () => {
  expect(listToolNames(({ hints }) => !hints.readOnlyHint && !hints.destructiveHint)).toEqual([
    ...['start_conversation', 'save_example', 'connect_app'],
  ]);
  expect(listToolNames(({ hints }) => !hints.readOnlyHint && !hints.openWorldHint)).toEqual([
    ...['start_conversation', 'save_example', 'cancel_run', 'drop_candidate', 'write_context_file'],
  ]);
});
