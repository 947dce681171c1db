import { listDocumentedVariables } from '@gantry/testing';
import { envSchema } from './env';

test('docs/operations/configuration.md lists every variable that the service reads, and no other', () => {
  const documented = listDocumentedVariables('All three services', 'worker-api and automation-api', 'worker-api');
  expect(documented).toEqual(Object.keys(envSchema.shape).sort());
});
