import { documentedVariables } from '@gantry/testing';
import { envSchema } from './env';

test('docs/operations/configuration.md has every variable, and none that is not read', () => {
  const documented = documentedVariables('executor');
  // Declared only to reject the setting.
  const refused = ['EXECUTOR_UNSANDBOXED'];
  expect([...documented, ...refused].sort()).toEqual(Object.keys(envSchema.shape).sort());
});
