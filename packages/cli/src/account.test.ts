/** Signing in and out, and what goes with an account, at the real worker surface. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { reserveFreePort, setupNats, setupWorkerApi } from '@gantry/testing';
import { createCli } from './test/run-cli';

const api = setupWorkerApi(setupNats());

/** Approves, or denies, the code that a login prints, as its person does in the browser. */
async function decideInBrowser(login: ReturnType<ReturnType<typeof createCli>['start']>, decision: 'approve' | 'deny') {
  const code = await new Promise<string>((resolve) => {
    let written = '';
    login.stderr.on('data', (chunk) => {
      written += chunk;
      const [found] = /[A-Z0-9]{4}-[A-Z0-9]{4}/.exec(written) ?? [];
      if (found) resolve(found);
    });
  });
  const response = await fetch(`${api.url}/api/cli-auth/devices/${decision}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${api.owner.jwt}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ user_code: code }),
  });
  expect(response.status).toBe(204);
}

async function signIn() {
  const cli = createCli();
  const { token } = await api.createToken('personal', api.owner.jwt);
  await cli.run(['login', api.url, '--with-token'], { stdin: `${token}\n` });
  return cli;
}

test('a device is approved in the browser, works, and logs out', async () => {
  const cli = createCli();
  const login = cli.start(['login', api.url, '--json']);
  await decideInBrowser(login, 'approve');
  const { code, stdout } = await login.finished;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ url: api.url, email: api.owner.email, workspace_id: api.workspaceId });
  expect(statSync(cli.configFile('credentials.json')).mode & 0o777).toBe(0o600);
  expect(await cli.json(['whoami'])).toMatchObject({
    email: api.owner.email,
    role: 'owner',
    credential: 'personal_token',
  });

  const { token } = JSON.parse(readFileSync(cli.configFile('credentials.json'), 'utf8')).default;
  expect(await cli.json(['logout'])).toMatchObject({ signed_out: true, revoked: true });
  expect(await cli.json(['logout'])).toMatchObject({ signed_out: false, revoked: false });
  expect((await cli.run(['whoami'])).code).toBe(4);
  const { code: refused } = await cli.run(['whoami'], { env: { GANTRY_TOKEN: token } });
  expect(refused).toBe(4);
});

test('a device that is denied ends with 2 and stores nothing', async () => {
  const cli = createCli();
  const login = cli.start(['login', api.url]);
  await decideInBrowser(login, 'deny');
  expect(await login.finished).toMatchObject({ code: 2, stderr: expect.stringContaining('denied') });
  expect((await cli.run(['whoami'])).code).toBe(4);
});

test('a token that the server refuses is not stored', async () => {
  const cli = createCli();
  expect((await cli.run(['login', api.url, '--with-token'], { stdin: 'svc_wrong' })).code).toBe(4);
  expect(await cli.json(['config'])).toMatchObject({ signed_in: false });
});

test('login repairs a damaged credentials file', async () => {
  const cli = await signIn();
  writeFileSync(cli.configFile('credentials.json'), '{"default": {"url":');
  expect((await cli.run(['whoami'])).code).toBe(4);
  const { token } = await api.createToken('personal', api.owner.jwt);
  expect((await cli.run(['login', '--with-token'], { stdin: token })).code).toBe(0);
  expect((await cli.run(['whoami'])).code).toBe(0);
});

test('profiles keep several servers apart, and the environment wins over them', async () => {
  const cli = await signIn();
  const { token } = await api.createToken('workspace', api.owner.jwt);
  await cli.run(['login', api.url, '--with-token', '--profile', 'ci'], { stdin: token });
  expect((await cli.json(['whoami'])).credential).toBe('workspace_token');
  expect((await cli.json(['whoami', '--profile', 'default'])).credential).toBe('personal_token');
  await cli.run(['config', 'use', 'default']);
  expect((await cli.json(['whoami'])).credential).toBe('personal_token');
  expect((await cli.json(['whoami'], { env: { GANTRY_TOKEN: token } })).credential).toBe('workspace_token');
  expect(await cli.json(['config', 'profiles'])).toMatchObject([{ name: 'default', current: true }, { name: 'ci' }]);
});

test('a token for a profile is sent to the server of that profile, whichever is the current one', async () => {
  const cli = createCli();
  const { token } = await api.createToken('personal', api.owner.jwt);
  await cli.run(['login', api.url, '--with-token', '--profile', 'work'], { stdin: token });
  await cli.run(['config', 'set', 'url', `http://127.0.0.1:${await reserveFreePort()}`, '--profile', 'work']);
  await cli.run(['login', api.url, '--with-token', '--profile', 'home'], { stdin: token });
  await cli.run(['config', 'use', 'work']);
  expect(await cli.json(['login', '--with-token', '--profile', 'home'], { stdin: token })).toMatchObject({
    profile: 'home',
    url: api.url,
  });
});

test('a workspace is chosen by its name, for this profile alone', async () => {
  const cli = await signIn();
  const { id } = await cli.json(['api', 'POST', '/api/workspaces', '-d', '{"name":"Second"}']);
  expect(await cli.json(['workspace', 'switch', 'Second'])).toEqual({ id, name: 'Second' });
  expect((await cli.json(['whoami'])).workspace_id).toBe(id);
  expect((await cli.json(['whoami', '--workspace', api.workspaceId])).workspace_id).toBe(api.workspaceId);
  expect((await cli.json(['whoami'], { env: { GANTRY_WORKSPACE: api.workspaceId } })).workspace_id).toBe(
    api.workspaceId,
  );
  const stored = readFileSync(cli.configFile('config.json'), 'utf8');
  const elsewhere = { GANTRY_URL: `http://127.0.0.1:${await reserveFreePort()}` };
  expect(await cli.run(['workspace', 'switch', 'Second'], { env: elsewhere })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('differs from the server of profile default'),
  });
  expect(readFileSync(cli.configFile('config.json'), 'utf8')).toBe(stored);
  expect(await cli.run(['workspace', 'switch', 'Third'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Third'),
  });
});

test('a workspace that the account cannot enter is left by choosing another one', async () => {
  const cli = await signIn();
  await cli.run(['config', 'set', 'workspace', 'ws_left']);
  expect(await cli.run(['whoami'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('gantry workspace list'),
  });
  expect(await cli.json(['workspace', 'list', '--fields', 'id'])).toContainEqual({ id: api.workspaceId });
  await cli.json(['workspace', 'switch', api.workspaceId]);
  expect((await cli.json(['whoami'])).workspace_id).toBe(api.workspaceId);
});

test('an empty variable, as CI sets for a missing value, is none', async () => {
  const cli = await signIn();
  const env = { GANTRY_URL: '', GANTRY_PROFILE: '', GANTRY_TOKEN: '', GANTRY_WORKSPACE: '' };
  expect(await cli.json(['config'], { env })).toMatchObject({ profile: 'default', url: api.url, workspace_id: null });
  expect(await cli.json(['whoami'], { env })).toMatchObject({ workspace_id: api.workspaceId });
});

test('status shows the server and the workspace', async () => {
  const cli = await signIn();
  const { length: total } = await cli.json(['workers', 'list']);
  expect(await cli.json(['status'])).toMatchObject({ url: api.url, workers: { total }, approvals_pending: 0 });
  expect((await cli.run(['status'])).stdout).toContain('pending');
});

test('any operation is reached, and its fields are chosen', async () => {
  const cli = await signIn();
  const worker = { name: 'Reached', files: [{ path: 'main.py', content: 'def run():\n    return 1\n' }] };
  await cli.run(['api', 'post', '/api/workers', '-d', '@-'], { stdin: JSON.stringify(worker) });
  const { stdout } = await cli.run(['api', 'GET', '/api/workers?q=reached', '--fields', 'id,permissions.edit']);
  const { stderr } = await cli.run(['api', 'GET', '/api/workers?q=reached', '--fields', 'id,permisions.edit']);
  expect(stderr).toMatch(/^--fields: no field is named permisions\nThe fields are id, name, /);
  expect(JSON.parse(stdout)).toEqual([{ id: 'reached', 'permissions.edit': true }]);
  const csv = await cli.run(['api', 'GET', '/api/runs/export.csv']);
  expect(csv.stdout).toMatch(/^id,worker_id/);
  const missing = await cli.run(['api', 'GET', '/api/workers/missing']);
  expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('See: gantry workers list') });
});
