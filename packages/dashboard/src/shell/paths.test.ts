import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { automationPath, buildRunUrls, getRunIdParam, identityProviderUrl, runPath } from './paths';

const sources = path.join(__dirname, '..');

/**
 * A place to go to that is written out, or a string that begins like one. Those under /api and /auth are the typed
 * client's.
 */
const LITERAL = /(\b(to|href|path)=\{?|navigate\()["'`]\/|["'`]\/(?!(api|auth)\/)[a-z]/;

test('no address is written in any other file', () => {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.tsx?$/.test(file) && !/\.test\.|^test\/|^shell\/paths\.ts$/.test(file),
  );
  const found = files.flatMap((file) =>
    readFileSync(path.join(sources, file), 'utf8')
      .split('\n')
      .filter((line) => LITERAL.test(line) && !/^\s*(\/\*)?\*/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(files.length).toBeGreaterThan(50);
  expect(found).toEqual([]);
});

test('whatever characters an id has, a link to it resolves to that id', () => {
  const id = 'a/b?c=%2F#$& d';
  expect(automationPath(id).split('/').map(decodeURIComponent)).toEqual(['', 'a', id]);
  const { pathname, searchParams, hash } = new URL(runPath(id, id), 'https://gantry.example');
  expect([pathname, getRunIdParam(searchParams), hash]).toEqual([automationPath(id), id, '']);
  expect(buildRunUrls(id, 'link').artifact(id, id).split('/').map(decodeURIComponent)).toEqual([
    '',
    'api',
    'pages',
    id,
    'runs',
    id,
    'artifacts',
    id,
    'download',
  ]);
});

test('an identity provider returns to the page that asked', () => {
  expect(identityProviderUrl('/auth/oidc/start', '/a/b?run=1&x=2', { prove: true })).toBe(
    '/auth/oidc/start?prove=true&return_to=%2Fa%2Fb%3Frun%3D1%26x%3D2',
  );
});
