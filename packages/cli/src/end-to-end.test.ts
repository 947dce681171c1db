/** From nothing to a watched worker with this program alone, on the built platform behind its gateway. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Stack, startStack, waitUntil } from '@gantry/testing';
import { type Cli, createCli } from './test/run-cli';

let stack: Stack;
let cli: Cli;
let url: string;

beforeAll(async () => {
  stack = await startStack({ skillsApi: true, gateway: true });
  cli = createCli();
  url = stack.gateway?.worker ?? '';
});
afterAll(() => stack?.stop());

/** The person's browser, signed in. */
async function approveDevice(userCode: string): Promise<void> {
  const post = async (name: string, body: object, token?: string) => {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) };
    const response = await fetch(`${url}${name}`, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(response.ok).toBe(true);
    return response.status === 204 ? null : response.json();
  };
  const { access_token: token } = (await post('/auth/login', stack.owner)) as { access_token: string };
  await post('/api/cli-auth/devices/approve', { user_code: userCode }, token);
}

test('sign in, deploy, run, break, go back, approve, and keep a secret', async () => {
  const login = cli.start(['login', url]);
  let written = '';
  login.stderr.on('data', (chunk) => (written += chunk));
  const code = await waitUntil(() => /[A-Z0-9]{4}-[A-Z0-9]{4}/.exec(written)?.[0]);
  await approveDevice(code);
  expect(await login.finished).toMatchObject({ code: 0, stdout: expect.stringContaining(stack.owner.email) });

  const dir = path.join(cli.home, 'payments');
  await cli.json(['init', dir, '--template', 'approval']);
  const deployed = await cli.json(['deploy'], { cwd: dir });
  expect(deployed).toMatchObject({
    id: 'payments',
    created: true,
    url: `${stack.gateway?.dashboard}/workers/payments`,
  });

  const small = await cli.run(['run', 'payments', '-i', 'amount=20', '-i', 'purpose=coffee', '--wait']);
  expect(JSON.parse(small.stdout)).toEqual({ paid: 20, approved_by: 'rule for small amounts' });
  expect((await cli.run(['logs', 'payments'])).stdout).toContain('paying 20.00 for coffee');

  const large = cli.start(['run', 'payments', '-d', '@-', '--wait'], { stdin: '{"amount": 900, "purpose": "dinner"}' });
  const [pending] = await waitUntil(async () => {
    const approvals = await cli.json(['approvals', 'list']);
    return approvals.length > 0 && approvals;
  });
  await cli.json(['approvals', 'approve', pending.id]);
  expect(JSON.parse((await large.finished).stdout)).toMatchObject({ paid: 900 });

  writeFileSync(path.join(dir, 'main.py'), 'def run(amount, purpose):\n    return {"paid": 1 / 0}\n');
  await cli.json(['deploy', '-m', 'Break it'], { cwd: dir });
  const broken = ['run', 'payments', '-i', 'amount=20', '-i', 'purpose=coffee', '--wait'];
  expect(await cli.run(broken)).toMatchObject({ code: 1, stderr: expect.stringContaining('division by zero') });
  await cli.json(['rollback', '--yes'], { cwd: dir });
  expect(await cli.run(broken)).toMatchObject({ code: 0 });

  await cli.run(['secrets', 'set', 'CRM_TOKEN'], { stdin: 'open-sesame' });
  expect(await cli.json(['secrets', 'list', '--fields', 'name'])).toEqual([{ name: 'CRM_TOKEN' }]);
  expect(await cli.json(['api', 'GET', '/api/automations', '--surface', 'automation'])).toMatchObject({
    automations: [],
  });
  expect(await cli.json(['logout'])).toMatchObject({ revoked: true });
});

describe('with a token', () => {
  let ci: Cli;
  beforeAll(() => {
    ci = createCli({ GANTRY_URL: url, GANTRY_TOKEN: stack.token });
  });

  test.each(['automations', 'contexts', 'connections', 'alerts', 'tokens', 'members'])(
    '%s are listed',
    async (name) => {
      const items = await ci.json([name]);
      expect(Array.isArray(items)).toBe(true);
      const { code, stdout } = await ci.run([name, 'list']);
      expect(code).toBe(0);
      if (name === 'members') expect(stdout).toContain(stack.owner.email);
    },
  );

  test('a skill is published, found, installed where agents look, and changed', async () => {
    const project = path.join(ci.home, 'project');
    mkdirSync(path.join(project, '.claude'), { recursive: true });
    const publish = (words: string, ...options: string[]) => {
      writeFileSync(
        path.join(project, 'SKILL.md'),
        `---\nname: say-hello\ndescription: How we greet\n---\n\n# Say hello\n\n${words}\n`,
      );
      return ci.json(['skills', 'publish', project, ...options]);
    };
    expect(await publish('Use their name.', '--visibility', 'public')).toMatchObject({
      slug: 'say-hello',
      visibility: 'public',
    });
    expect((await ci.json(['skills', 'search', 'greet'])).map(({ slug }: { slug: string }) => slug)).toEqual([
      'say-hello',
    ]);
    const install = (...options: string[]) => ci.run(['skills', 'install', 'say-hello', ...options], { cwd: project });
    expect(await install()).toMatchObject({ code: 0 });
    const installed = path.join(project, '.claude/skills/say-hello/SKILL.md');
    expect(readFileSync(installed, 'utf8')).toContain('Use their name.');

    await publish('Use their first name.', '--slug', 'say-hello');
    expect(await install()).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    expect(await install('--yes')).toMatchObject({ code: 0 });
    expect(readFileSync(installed, 'utf8')).toContain('first name');
    expect(await ci.json(['skills', 'save', 'say-hello'])).toMatchObject({ saved: true });
    expect(await ci.run(['skills', 'install', '../evil'])).toMatchObject({ code: 2 });
  });

  test('an agent uses the tools over stdio, and gets the reasons of failures', async () => {
    const files = [{ path: 'main.py', content: 'def run():\n    return 1\n' }];
    await ci.json(['api', 'POST', '/api/workers', '-d', JSON.stringify({ id: 'ledger', name: 'Ledger', files })]);
    const lines = [
      {
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list' },
      { id: 3, method: 'tools/call', params: { name: 'list_workers', arguments: {} } },
    ].map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }));
    const { stdout, code } = await ci.run(['mcp', '--toolsets', 'workers'], { stdin: `${lines.join('\n')}\nbroken\n` });
    const messages = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const byId = new Map(messages.map((message) => [message.id, message]));
    expect(code).toBe(0);
    expect(messages).toHaveLength(4);
    expect(byId.get(1).result.protocolVersion).toBe('2025-06-18');
    expect(byId.get(2).result.tools.map(({ name }: { name: string }) => name)).toContain('list_workers');
    expect(JSON.stringify(byId.get(3).result)).toContain('ledger');
    expect(byId.get(null).error.code).toBe(-32700);

    const stranger = createCli({ GANTRY_URL: url, GANTRY_TOKEN: 'svc_wrong' });
    const refused = await stranger.run(['mcp'], { stdin: `${lines[0]}\n` });
    expect(JSON.parse(refused.stdout)).toMatchObject({ id: 1, error: { message: expect.any(String) } });
  });
});
