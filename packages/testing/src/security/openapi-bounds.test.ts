import path from 'node:path';
import { unboundedParts } from './openapi-bounds';

const openapi = (name: string) => path.resolve(__dirname, `../../../../openapi/${name}.yaml`);

test.each(['worker', 'automation', 'skills'])('every part of a request to the %s surface has a bound', (name) => {
  expect(unboundedParts(openapi(name))).toEqual([]);
});

test('a part without a bound is found', () => {
  expect(unboundedParts(path.join(__dirname, 'test/unbounded.yaml'))).toEqual([
    'makeThing word: a text without maxLength',
    'Names: a list without maxItems',
    'Names: uniqueItems of objects, or of more than 500',
    'Names[]: a text without maxLength',
    'Pair: uniqueItems of objects, or of more than 500',
    'Pair[]: an object with any number of properties',
  ]);
});
