import { listDocumentedVariables } from '@gantry/testing';
import { envSchema } from './env';

test('docs/operations/configuration.md has every variable, and none that is not read', () => {
  const documented = listDocumentedVariables('executor');
  // Declared only to reject the setting.
  const refused = ['EXECUTOR_UNSANDBOXED'];
  expect([...documented, ...refused].sort()).toEqual(Object.keys(envSchema.shape).sort());
});
