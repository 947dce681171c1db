import { documentedVariables } from '@gantry/testing';
import { envSchema } from './env';

test('docs/operations/configuration.md has every variable, and none that is not read', () => {
  const documented = documentedVariables('All three services', 'worker-api and automation-api', 'worker-api');
  expect(documented).toEqual(Object.keys(envSchema.shape).sort());
});
