/** Checks and outputs that were made to cost as much as they can: members write both. */
import { randomUUID } from 'node:crypto';
import type { Check } from '../examples/check';
import { createOutcomeJudge, type OutcomeJudge } from './outcome-judge';

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, at]));
const buildInput = (output: unknown, checks: Check[]) => ({
  checks,
  maxDurationSeconds: null,
  maxCostUsd: null,
  outcome: {
    ...{ status: 'completed' as const, error: null, unrecorded: null, durationMs: 1, costUsd: 0 },
    output: { json: Buffer.from(JSON.stringify(output)) },
  },
});

const subject = { evaluationId: 'eval_1', runId: 'run_1' };
const warn = jest.fn();
let judge: OutcomeJudge | undefined;
afterEach(() => judge?.stop());
function createJudge(limits: Parameters<typeof createOutcomeJudge>[1] = {}): OutcomeJudge {
  judge = createOutcomeJudge({ warn }, { taskMs: 60_000, ...limits });
  return judge;
}

const object = { ...keys(3_000), last: 1 };
const choices = (of: string, count: number) => Array.from({ length: count }, (_, at) => `${of} ${at}`);

test.each([
  [
    'an object in a list of many that are almost it',
    { kind: 'contains' as const, path: '/items', value: object },
    { items: Array.from({ length: 150 }, () => ({ ...object, last: 2 })) },
    /^\/items has no item equal to/,
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
  const result = await createJudge().check(buildInput(output, [check]), subject);
  expect(result).toMatchObject({ found: [{ passed: false, message: expect.stringMatching(problem) }] });
  expect(JSON.stringify(result?.found[0]).length).toBeLessThan(4_000);
});

test('checks that exceed their time limit fail alone', async () => {
  const { check } = createJudge({ taskMs: 300 });
  const [first, second] = await Promise.all([
    check(
      buildInput({ items: choices('an item', 300_000) }, Array(20).fill({ kind: 'equal', value: randomUUID() })),
      subject,
    ),
    check(buildInput({ a: 1 }, [{ kind: 'equal', value: 1, path: '/a' }]), subject),
  ]);
  expect(first).toBeNull();
  expect(warn.mock.calls).toEqual([
    [{ ...subject, reason: 'costly', problem: expect.any(String) }, 'a rehearsal was not judged'],
  ]);
  expect(second).toMatchObject({ found: [{ passed: true }], output: '{"a":1}' });
});
