import type { Restriction } from '@gantry/events';
import { AppError } from './errors';
import { type Declaration, declaration, isOpenTo, reaches, reachOf, requireUnrestricted } from './restriction';

const operation = (restrict: Declaration, method = 'post') => ({
  id: 'doIt',
  method,
  restrict: declaration.parse(restrict),
});

/** Returns the rule that refuses; null without one. */
function refusal(restriction: Restriction, restrict: Declaration, method?: string, params = {}): string | null {
  try {
    requireUnrestricted(restriction, operation(restrict, method), params);
    return null;
  } catch (err) {
    if (!(err instanceof AppError)) throw err;
    expect(err).toMatchObject({ status: 403, code: 'restricted' });
    return /^restrict\.(\w+)/.exec(err.detail)?.[1] ?? err.detail;
  }
}

const everyRule: [string, Restriction][] = [
  ['readonly', { readonly: true }],
  ['workers', { workers: ['a'] }],
  ['automations', { automations: ['a'] }],
  ['toolsets', { toolsets: ['runs'] }],
  ['require_approval', { requireApproval: true }],
  ['budget_usd', { budgets: [{ tokenId: 'tok_1', usd: 1 }] }],
];

test.each(everyRule)('an operation that declares nothing is closed to %s', (rule, restriction) => {
  expect(refusal(restriction, {})).toBe(rule);
  expect(isOpenTo(restriction, operation({}))).toBe(false);
  expect(isOpenTo(undefined, operation({}))).toBe(true);
});

test('reads are open to read-only tokens and to tokens that require approval', () => {
  for (const restriction of [{ readonly: true }, { requireApproval: true }] as Restriction[]) {
    expect(refusal(restriction, {}, 'get')).toBeNull();
    expect(refusal(restriction, { effect: 'reads' })).toBeNull();
  }
  expect(refusal({ readonly: true }, { effect: 'contained' })).toBe('readonly');
  expect(refusal({ readonly: true }, { effect: 'starts' })).toBe('readonly');
  expect(refusal({ requireApproval: true }, { effect: 'starts' })).toBeNull();
});

test('a GET that declares nothing is closed to tokens for named resources or toolsets', () => {
  expect(refusal({ workers: ['a'] }, {}, 'get')).toBe('workers');
  expect(refusal({ toolsets: ['runs'] }, {}, 'get')).toBe('toolsets');
  expect(refusal({ toolsets: ['runs'] }, { toolsets: ['workers'] }, 'get')).toBe('toolsets');
  expect(refusal({ toolsets: ['runs'] }, { toolsets: ['workers', 'runs'] }, 'get')).toBeNull();
  expect(refusal({ toolsets: ['runs'] }, { toolsets: 'any' }, 'get')).toBeNull();
});

test('the resource in the path must be in the token’s scope', () => {
  const of = (id: string) => refusal({ workers: ['a'] }, { things: 'workers' }, 'get', { worker_id: id });
  expect([of('a'), of('b'), of('__proto__')]).toEqual([null, 'workers', 'workers']);
  expect(refusal({ workers: ['a'] }, { things: 'automations' }, 'get', { automationId: 'a' })).toBe('automations');
  expect(refusal({ workers: ['a'] }, { things: 'none' }, 'get')).toBeNull();
});

test('a token for workers reaches no automation, and an unrestricted one reaches all', () => {
  const principal = { restriction: { workers: ['a'] } };
  expect(reachOf(principal, 'workers')).toEqual(['a']);
  expect(reachOf(principal, 'automations')).toEqual([]);
  expect(reachOf({}, 'workers')).toBeNull();
  expect(reachOf({ restriction: { readonly: true } }, 'workers')).toBeNull();
  expect([reaches(principal, 'workers', 'a'), reaches(principal, 'workers', 'b')]).toEqual([true, false]);
});
