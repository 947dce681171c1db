import path from 'node:path';
import { openapiFiles } from '@gantry/openapi';
import { findUnboundedParts } from './openapi-bounds';

test.each(Object.entries(openapiFiles))('every part of a request to the %s surface has a bound', (_name, file) => {
  expect(findUnboundedParts(file)).toEqual([]);
});

test('an unbounded part is found', () => {
  expect(findUnboundedParts(path.join(__dirname, 'test/unbounded.yaml'))).toEqual([
    'makeThing word: a text without maxLength',
    'Names: a list without maxItems',
    'Names: uniqueItems of more than 500, or of items without the type string',
    'Names[]: a text without maxLength',
    'Pair: uniqueItems of more than 500, or of items without the type string',
    'Pair[]: an object with any number of properties',
  ]);
});
