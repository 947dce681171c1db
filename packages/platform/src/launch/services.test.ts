import { createTemporaryDir } from '@gantry/testing';
import { loadOrCreateLocalState } from './local-state';
import {
  buildAutomationApiSpec,
  buildExecutorSpec,
  buildSkillsApiSpec,
  buildWorkerApiSpec,
  type ServiceOptions,
} from './services';
import { readSettings } from './settings';

const keys = {
  MODEL_PROVIDERS: '[{"api_key":"sk-of-the-operator"}]',
  MODEL_ALIASES: '{"smart":"local/m"}',
  OAUTH_APPS_FILE: '/secrets/oauth-apps.json',
};

const options = (): ServiceOptions => ({
  settings: readSettings({ GANTRY_DATA_DIR: createTemporaryDir('services') }),
  state: loadOrCreateLocalState(createTemporaryDir('services')),
  gateway: true,
  inherited: { PATH: '/bin', TZ: 'Europe/Paris', EXECUTOR_DIR: createTemporaryDir('executor'), ...keys },
});

test('worker-api is given the keys of models and of OAuth clients', () => {
  expect(buildWorkerApiSpec(options(), 'a setup token').env).toMatchObject({ TZ: 'Europe/Paris', ...keys });
});

test.each([
  ['automation-api', buildAutomationApiSpec],
  ['skills-api', buildSkillsApiSpec],
  ['executor', (given: ServiceOptions) => buildExecutorSpec(given, { bwrap: '/usr/bin/bwrap', uv: undefined })],
])('%s is given none of them', (_name, specOf) => {
  const { env } = specOf(options());
  expect(env).toMatchObject({ TZ: 'Europe/Paris' });
  for (const name of Object.keys(keys)) expect(env).not.toHaveProperty(name);
});
