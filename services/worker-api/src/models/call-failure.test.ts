import { parseModels } from '../test/parse-models';
import { failureOf } from './call-failure';
import { modelRegistry } from './model-registry';

const KEY = 'sk-of-the-operator';
const [model] = modelRegistry(
  parseModels([
    { name: 'a', kind: 'openai-compatible', base_url: 'http://10.0.0.3:8000/v1', api_key: KEY, models: ['m'] },
  ]),
).list;

const detailOf = (err: unknown): string => {
  if (!model) throw new Error('there is no model');
  return failureOf(err, model, null).detail;
};

test('the address of a provider that cannot be reached is told to nobody', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 10.0.0.3:8000'), { code: 'ECONNREFUSED' });
  const err = new TypeError('Cannot connect to API: connect ECONNREFUSED 10.0.0.3:8000', { cause });
  expect(detailOf(err)).toBe('a/m: could not be reached, or broke off (ECONNREFUSED)');
});

test('a provider that repeats the key is told on without it', () => {
  const refused = Object.assign(new Error(`no such key: ${KEY}`), { statusCode: 400 });
  expect(detailOf(refused)).toBe('a/m: the provider refused the request (400): no such key: [key]');
});

test('what a provider writes into its stream is told on', () => {
  expect(detailOf('overloaded')).toBe('a/m: could not be reached, or broke off: overloaded');
});
