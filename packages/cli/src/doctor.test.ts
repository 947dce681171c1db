import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDir, reserveFreePort, setupNats, setupWorkerApi } from '@gantry/testing';
import { type Cli, createCli } from './test/run-cli';

const api = setupWorkerApi(setupNats());

const runDoctor = async (cli: Cli, env: Record<string, string> = {}) => {
  const { code, stdout } = await cli.run(['doctor', '--json'], { env });
  const { ok, checks } = JSON.parse(stdout);
  const byName = Object.fromEntries(checks.map(({ check, ...finding }: { check: string }) => [check, finding]));
  return { code, ok, checks: byName };
};

test('where everything is right, each check reports its result', async () => {
  const { token } = await api.createToken('personal', api.owner.jwt);
  const cli = createCli();
  await cli.run(['login', api.url, '--with-token'], { stdin: token });
  const { code, ok, checks } = await runDoctor(cli);
  expect({ code, ok }).toEqual({ code: 0, ok: true });
  expect(Object.keys(checks)).toEqual(['configuration', 'credentials', 'server', 'sign-in', 'python', 'sandbox']);
  for (const check of Object.values(checks)) expect(check).toMatchObject({ status: 'ok', remedy: null });
  expect(checks['sign-in'].found).toContain(api.owner.email);
});

test('each problem is reported with its fix, and the exit code is 1', async () => {
  const cli = createCli();
  mkdirSync(path.dirname(cli.configFile('credentials.json')), { recursive: true });
  const stored = { default: { url: api.url, token: 'svc_expired', from: 'pasted' } };
  writeFileSync(cli.configFile('credentials.json'), JSON.stringify(stored));
  chmodSync(cli.configFile('credentials.json'), 0o644);
  const { code, ok, checks } = await runDoctor(cli, { GANTRY_URL: api.url, PATH: createTemporaryDir('no-programs') });
  expect({ code, ok }).toEqual({ code: 1, ok: false });
  expect(checks.credentials).toMatchObject({ status: 'problem', remedy: expect.stringContaining('chmod 600') });
  expect(checks.server).toMatchObject({ status: 'ok' });
  expect(checks['sign-in']).toMatchObject({ status: 'problem', remedy: expect.stringContaining('gantry login') });

  const away = { GANTRY_URL: `http://127.0.0.1:${await reserveFreePort()}`, GANTRY_PYTHON: '/no/python' };
  const unreachable = await runDoctor(cli, away);
  expect(unreachable.checks.server).toMatchObject({ status: 'problem', found: expect.stringContaining('reach') });
  expect(unreachable.checks.python).toMatchObject({ remedy: expect.stringContaining('GANTRY_PYTHON') });

  writeFileSync(cli.configFile('credentials.json'), '{"default": {"url": "http');
  chmodSync(cli.configFile('credentials.json'), 0o600);
  const halfWritten = await runDoctor(cli);
  expect(halfWritten.checks.credentials).toMatchObject({
    status: 'problem',
    found: expect.stringContaining('corrupted'),
  });

  writeFileSync(cli.configFile('config.json'), 'damaged');
  const damaged = await runDoctor(cli);
  expect(damaged.checks.configuration).toMatchObject({ status: 'problem', remedy: expect.stringContaining('Remove') });
});
