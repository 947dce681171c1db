import { parseModels } from '../test/parse-models';
import { toModelFailure } from './call-failure';
import { createModelRegistry } from './model-registry';

const KEY = 'sk-"of"/the+operator';
const [model] = createModelRegistry(
  parseModels([
    { name: 'a', kind: 'openai-compatible', base_url: 'http://10.0.0.3:8000/v1', api_key: KEY, models: ['m'] },
  ]),
).list;

const getDetail = (err: unknown): string => {
  if (!model) throw new Error('there is no model');
  return toModelFailure(err, model, null).detail;
};

test('the address of an unreachable provider is not disclosed', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 10.0.0.3:8000'), { code: 'ECONNREFUSED' });
  const err = new TypeError('Cannot connect to API: connect ECONNREFUSED 10.0.0.3:8000', { cause });
  expect(getDetail(err)).toBe('a/m: could not be reached, or was interrupted (ECONNREFUSED)');
});

const FORMS: [string, string][] = [
  ['plain', KEY],
  ['percent-encoded', encodeURIComponent(KEY)],
  ['base64', Buffer.from(KEY).toString('base64')],
  ['base64 of more', Buffer.from(`Bearer ${KEY}`).toString('base64').slice(8)],
  ['hex', Buffer.from(KEY).toString('hex')],
  ['escaped in JSON', JSON.stringify(KEY).slice(1, -1)],
];

test.each(FORMS)('the error of a provider that repeats the key is reported without it: %s', (_, form) => {
  const refused = Object.assign(new Error(`no such key: ${form}`), { statusCode: 400 });
  expect(getDetail(refused)).toMatch(
    /^a\/m: the provider rejected the request \(400\): no such key: \S{0,4}[*]{3}\S{0,4}$/,
  );
});

test.each(FORMS)('nothing of the key is left where a long refusal is truncated: %s', (_, form) => {
  const refused = Object.assign(new Error(`${'x'.repeat(250)} ${`${form} `.repeat(100)}`), { statusCode: 400 });
  const detail = getDetail(refused);
  for (let at = 0; at + 8 <= form.length; at++) expect(detail).not.toContain(form.slice(at, at + 8));
});

test('an error that a provider writes into its stream is reported', () => {
  expect(getDetail('overloaded')).toBe('a/m: could not be reached, or was interrupted: overloaded');
});
