import { explainFailure } from './explain-failure';

const index = { indexUrl: null, extraIndexUrls: [], findLinks: [], fileHosts: [] };

test.each([
  ['ERROR: 404 for url: https://name:password@index.example/simple/six/', '404 for url: the index'],
  ["ERROR: [Errno 28] No space left on device: '/store/sets/a/six'", "No space left on device: 'a file'"],
  ['ERROR: cannot read file:///store/wheels/six.whl (3/4)', 'cannot read a file (3/4)'],
])('the error %s shows neither an address nor a path of this machine', async (line, expected) => {
  const text = await explainFailure(`Collecting six\n${line}\n`, ['six'], index);
  expect(text).toMatch(/^six could not be installed: ERROR: /);
  expect(text.endsWith(expected)).toBe(true);
  expect(text).not.toMatch(/:\/\/|password|store/);
});
