import { AppError } from '@gantry/errors';
import type { Restriction } from '@gantry/events';
import {
  assertAllowedByRestriction,
  getTokenScope,
  isInTokenScope,
  isOperationAllowed,
  type RestrictDeclaration,
  restrictDeclaration,
} from './restriction';

const operation = (restrict: RestrictDeclaration, method = 'post') => ({
  id: 'doIt',
  method,
  restrict: restrictDeclaration.parse(restrict),
});

/** Returns the rule that refuses; null without one. */
function getRefusedRule(
  restriction: Restriction,
  restrict: RestrictDeclaration,
  method?: string,
  params = {},
): string | null {
  try {
    assertAllowedByRestriction(restriction, operation(restrict, method), params);
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
  expect(getRefusedRule(restriction, {})).toBe(rule);
  expect(isOperationAllowed(restriction, operation({}))).toBe(false);
  expect(isOperationAllowed(undefined, operation({}))).toBe(true);
});

test('reads are open to read-only tokens and to tokens that require approval', () => {
  for (const restriction of [{ readonly: true }, { requireApproval: true }] as Restriction[]) {
    expect(getRefusedRule(restriction, {}, 'get')).toBeNull();
    expect(getRefusedRule(restriction, { effect: 'reads' })).toBeNull();
  }
  expect(getRefusedRule({ readonly: true }, { effect: 'contained' })).toBe('readonly');
  expect(getRefusedRule({ readonly: true }, { effect: 'starts' })).toBe('readonly');
  expect(getRefusedRule({ requireApproval: true }, { effect: 'starts' })).toBeNull();
});

test('a GET that declares nothing is closed to tokens for named resources or toolsets', () => {
  expect(getRefusedRule({ workers: ['a'] }, {}, 'get')).toBe('workers');
  expect(getRefusedRule({ toolsets: ['runs'] }, {}, 'get')).toBe('toolsets');
  expect(getRefusedRule({ toolsets: ['runs'] }, { toolsets: ['workers'] }, 'get')).toBe('toolsets');
  expect(getRefusedRule({ toolsets: ['runs'] }, { toolsets: ['workers', 'runs'] }, 'get')).toBeNull();
  expect(getRefusedRule({ toolsets: ['runs'] }, { toolsets: 'any' }, 'get')).toBeNull();
});

test('the resource in the path must be in the token’s scope', () => {
  const refusalForWorker = (id: string) =>
    getRefusedRule({ workers: ['a'] }, { things: 'workers' }, 'get', { worker_id: id });
  expect([refusalForWorker('a'), refusalForWorker('b'), refusalForWorker('__proto__')]).toEqual([
    null,
    'workers',
    'workers',
  ]);
  expect(getRefusedRule({ workers: ['a'] }, { things: 'automations' }, 'get', { automationId: 'a' })).toBe(
    'automations',
  );
  expect(getRefusedRule({ workers: ['a'] }, { things: 'none' }, 'get')).toBeNull();
});

test('a token for workers reaches no automation, and an unrestricted one reaches all', () => {
  const principal = { restriction: { workers: ['a'] } };
  expect(getTokenScope(principal, 'workers')).toEqual(['a']);
  expect(getTokenScope(principal, 'automations')).toEqual([]);
  expect(getTokenScope({}, 'workers')).toBeNull();
  expect(getTokenScope({ restriction: { readonly: true } }, 'workers')).toBeNull();
  expect([isInTokenScope(principal, 'workers', 'a'), isInTokenScope(principal, 'workers', 'b')]).toEqual([true, false]);
});
