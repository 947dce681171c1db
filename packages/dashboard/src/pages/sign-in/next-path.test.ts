import { getNextParam, signInPath } from '../../shell/paths';
import { resolveNextPath } from './next-path';

const ORIGIN = 'https://gantry.example';

test.each(['/a/aut_1?run=run_2#log', '/', '/a/b%2F%2Fc'])('%s is a valid path to return to', (path) => {
  expect(resolveNextPath(path, ORIGIN)).toBe(path);
});

test.each([
  null,
  '',
  'a',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '/..//evil.example',
  'https://evil.example',
  'javascript:alert(1)',
  '/sign-in?next=/',
])('%s leads to the home page', (path) => {
  expect(resolveNextPath(path, ORIGIN)).toBe('/');
});

test('resolveNextPath reads what signInPath writes', () => {
  const params = new URL(signInPath({ pathname: '/a/x', search: '?run=1&b=2' }), ORIGIN).searchParams;
  expect(resolveNextPath(getNextParam(params), ORIGIN)).toBe('/a/x?run=1&b=2');
});
