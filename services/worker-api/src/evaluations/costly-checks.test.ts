/** Checks and outputs that were made to cost as much as they can: members write both. */
import { randomUUID } from 'node:crypto';
import { createOutputChecks, type OutputChecks } from './output-checks';

const WORK = { status: 'completed' as const, error: null, durationMs: 1, costUsd: 0 };
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, at]));
const json = (value: unknown) => ({ json: Buffer.from(JSON.stringify(value)) });
const bounds = { maxDurationSeconds: null, maxCostUsd: null };

let open: OutputChecks | undefined;
afterEach(() => open?.stop());
function checksWith(limits: Parameters<typeof createOutputChecks>[0] = {}): OutputChecks {
  open = createOutputChecks({ taskMs: 60_000, ...limits });
  return open;
}

const object = { ...keys(3_000), last: 1 };
const choices = (of: string, count: number) => Array.from({ length: count }, (_, at) => `${of} ${at}`);

test.each([
  [
    'an object in a list of many that are almost it',
    { kind: 'contains' as const, path: '/items', value: object },
    { items: Array.from({ length: 150 }, () => ({ ...object, last: 2 })) },
    /^\/items has no item that is/,
  ],
  [
    'many choices for each of many',
    { kind: 'schema' as const, path: '/items', schema: { items: { enum: choices('a choice', 8_000) } } },
    { items: choices('no choice', 60_000) },
    /^\[0\] must be one of "a choice 0"/,
  ],
  [
    'a text that repeats itself',
    { kind: 'contains' as const, path: '/text', value: `${'a'.repeat(60_000)}b${'a'.repeat(60_000)}` },
    { text: 'a'.repeat(7_000_000) },
    /^\/text does not contain/,
  ],
])('%s is compared in linear time', async (_, check, output, problem) => {
  const checks = checksWith();
  const outcome = await checks.run({ example: { checks: [check], ...bounds }, run: WORK, output: json(output) });
  expect(outcome).toMatchObject({ result: { found: [{ passed: false, message: expect.stringMatching(problem) }] } });
  const [verdict] = 'result' in outcome ? outcome.result.found : [];
  expect(JSON.stringify(verdict).length).toBeLessThan(4_000);
});

test('checks that exceed their time limit fail alone', async () => {
  const checks = checksWith({ taskMs: 300 });
  const [first, second] = await Promise.all([
    checks.run({
      example: { checks: Array(20).fill({ kind: 'equal', value: randomUUID() }), ...bounds },
      run: WORK,
      output: json({ items: choices('an item', 300_000) }),
    }),
    checks.run({
      example: { checks: [{ kind: 'equal', value: 1, path: '/a' }], ...bounds },
      run: WORK,
      output: json({ a: 1 }),
    }),
  ]);
  expect(first).toMatchObject({ reason: 'costly' });
  expect(second).toMatchObject({ result: { found: [{ passed: true }], output: '{"a":1}' } });
});
