import { compareOutputs } from './compare-outputs';
import { judgeCase } from './compare-run-outcomes';
import type { RunOutcome } from './run-outcome';

const ended = { unrecorded: null, durationMs: 1, costUsd: 0 };
const buildCompleted = (output: unknown): RunOutcome => ({ ...ended, status: 'completed', error: null, output });
const buildFailed = (message: string, error: Partial<RunOutcome['error']> = {}): RunOutcome => ({
  ...ended,
  status: 'failed',
  error: { message, code: 'exception', type: 'ValueError', ...error },
  output: undefined,
});

describe('outputs', () => {
  test('the order of keys does not matter, and 1 is not "1"', () => {
    expect(compareOutputs({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toEqual([]);
    expect(compareOutputs({ a: 1 }, { a: '1' })).toEqual([{ path: '/a', change: 'changed', was: '1', now: '"1"' }]);
    expect(compareOutputs(0.1 + 0.2, 0.3)).toHaveLength(1);
  });

  test('each difference has a JSON pointer; null is a value, and a missing value is none', () => {
    expect(
      compareOutputs({ 'a/b': { '~': null }, gone: null, list: [1] }, { 'a/b': { '~': 0 }, list: [1, 2] }),
    ).toEqual([
      { path: '/a~1b/~0', change: 'changed', was: 'null', now: '0' },
      { path: '/gone', change: 'removed', was: 'null', now: null },
      { path: '/list/1', change: 'added', was: null, now: '2' },
    ]);
    expect(compareOutputs([1], { 0: 1 })).toEqual([{ path: '', change: 'changed', was: '[1]', now: '{"0":1}' }]);
  });

  test('there are at most fifty, and long values are shortened between characters', () => {
    const many = Array.from({ length: 80 }, (_, index) => index);
    expect(compareOutputs(many, many.map(String))).toHaveLength(50);
    const [one] = compareOutputs('a', '😀'.repeat(400));
    expect(one?.now?.length).toBeLessThanOrEqual(500);
    expect(one?.now).toMatch(/…$/);
    expect(JSON.stringify(one)).not.toMatch(/\\ud83d(?!\\ude00)/);
  });

  test('wide outputs are compared without deep recursion', () => {
    const wide = Array.from({ length: 300_000 }, () => 1);
    expect(compareOutputs(wide, [...wide, 2])).toEqual([{ path: '/300000', change: 'added', was: null, now: '2' }]);
  });

  test('deep outputs are compared without deep recursion', () => {
    const deep = (end: unknown) => Array.from({ length: 20_000 }).reduce<unknown>((inner) => [inner], end);
    expect(compareOutputs(deep(1), deep(1))).toEqual([]);
  });
});

describe('a case', () => {
  test('with the same output needs no second rehearsal', () => {
    expect(judgeCase(buildCompleted({ a: 1 }), buildCompleted({ a: 1 }), null)).toMatchObject({
      outcome: 'same',
      reason: null,
    });
  });

  test('with another output is paired before it is judged', () => {
    const [was, now] = [buildCompleted(1), buildCompleted(2)];
    expect(judgeCase(was, now, null)).toBeNull();
    expect(judgeCase(was, now, buildCompleted(1))).toMatchObject({
      outcome: 'different',
      differences: [{ was: '1', now: '2' }],
    });
    expect(judgeCase(was, now, buildCompleted(2))).toMatchObject({
      outcome: 'same',
      reason: expect.stringContaining('has changed'),
    });
    // The world changed from 1 to 3, and the candidate makes 2 of it.
    expect(judgeCase(was, now, buildCompleted(3))).toMatchObject({
      outcome: 'different',
      differences: [{ was: '3', now: '2' }],
    });
  });

  test('that newly fails is broken only if the version before does not fail', () => {
    const [was, now] = [buildCompleted(1), buildFailed('boom')];
    expect(judgeCase(was, now, null)).toBeNull();
    expect(judgeCase(was, now, buildCompleted(1))).toMatchObject({ outcome: 'broken' });
    expect(judgeCase(was, now, buildFailed('boom'))).toMatchObject({ outcome: 'inconclusive' });
    expect(judgeCase(was, now, buildFailed('else', { type: 'KeyError' }))).toMatchObject({
      outcome: 'inconclusive',
    });
  });

  test('that failed is fixed only if the version before still fails', () => {
    const [was, now] = [buildFailed('boom'), buildCompleted(1)];
    expect(judgeCase(was, now, null)).toBeNull();
    expect(judgeCase(was, now, buildFailed('boom'))).toMatchObject({ outcome: 'fixed' });
    expect(judgeCase(was, now, buildCompleted(1))).toMatchObject({ outcome: 'inconclusive' });
    expect(judgeCase(was, buildFailed('boom'), null)).toMatchObject({ outcome: 'still_failing', reason: null });
    expect(judgeCase(was, buildFailed('x', { type: 'KeyError' }), null)).toMatchObject({
      outcome: 'still_failing',
      reason: expect.stringContaining('differently than before'),
    });
  });

  test.each([
    ['asked for what was not recorded', { ...buildFailed('no'), unrecorded: 'run run_1 never asked for it' }],
    ['was cancelled', { ...buildFailed('no', { code: 'cancelled' }), status: 'cancelled' as const }],
    ['lost its executor', buildFailed('gone', { code: 'executor_lost' })],
    ['had no budget', buildFailed('spent', { code: 'budget_exceeded' })],
  ])('whose rehearsal %s shows nothing', (_what, rehearsed) => {
    for (const recorded of [buildCompleted(1), buildFailed('boom')]) {
      expect(judgeCase(recorded, rehearsed, null)).toMatchObject({
        outcome: 'inconclusive',
        reason: expect.any(String),
      });
    }
  });
});
