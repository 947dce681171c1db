import { listDocumentedVariables } from '@gantry/testing';
import { envSchema } from './env';

test('docs/operations/configuration.md has every variable, and none that is not read', () => {
  const documented = listDocumentedVariables('All three services', 'skills-api');
  expect(documented).toEqual(Object.keys(envSchema.shape).sort());
});
