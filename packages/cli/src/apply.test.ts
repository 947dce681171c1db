/** A workspace as files, at the real worker surface. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createApiClient, createTemporaryDir, setupNats, setupWorkerApi } from '@gantry/testing';
import { type Cli, createCli } from './test/run-cli';

const api = setupWorkerApi(setupNats());
/** A command line that is signed in to a workspace of the test, as CI is. */
let cli: Cli;

beforeEach(async () => {
  cli = await createWorkspaceCli(api.owner.jwt);
});

/** A command line that is signed in to a new workspace of the owner, as CI is. */
async function createWorkspaceCli(jwt: string): Promise<Cli> {
  const { body: workspace } = await createApiClient(api.url, jwt)('POST', '/api/workspaces', { name: 'As files' });
  const callWorkspace = createApiClient(api.url, jwt, workspace.id);
  const { body } = await callWorkspace('POST', '/api/workspace/tokens', { name: 'ci', role: 'admin' });
  return createCli({ GANTRY_URL: api.url, GANTRY_TOKEN: body.token, CI: 'true' });
}

const writeText = (dir: string, file: string, content: string) => {
  mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
  writeFileSync(path.join(dir, file), content);
};
const readText = (dir: string, file: string) => readFileSync(path.join(dir, file), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: what the command prints
const summarize = ({ items }: any): string[] =>
  items.map(({ kind, name, change }: { kind: string; name: string; change: string }) => `${change} ${kind} ${name}`);

/** A workspace with one of each. */
async function createFolder(): Promise<string> {
  const dir = path.join(createTemporaryDir('workspace'), 'files');
  for (const template of ['minimal', 'cron', 'webhook', 'approval', 'agent']) {
    await cli.json(['init', path.join(dir, 'workers', `of-${template}`), '--template', template]);
  }
  appendFileSync(
    path.join(dir, 'workers/of-minimal/worker.yaml'),
    'secrets: [SHOP_KEY]\ncontexts: [price-list]\nnetwork: none\nvisibility: private\n',
  );
  writeText(dir, 'contexts/price-list/prices.csv', 'sku,price\n');
  writeText(dir, 'contexts/price-list/img/.logo.bin', '\0\u0001binary');
  writeText(dir, 'contexts.yaml', 'price-list: { description: What things cost }\nseen: { writeable: true }\n');
  writeText(dir, 'contexts/seen/seen.json', '[]');
  writeText(
    dir,
    'alerts.yaml',
    `- { worker: of-cron, on: [run.timed_out, run.failed], url: "https://hooks.example.com/very-secret" }
- { on: [run.failed], url: "\${ON_CALL_URL}", description: Page who is on call }
`,
  );
  writeText(dir, 'secrets.yaml', '- CRM_TOKEN\n');
  return dir;
}
/** Values of the variables in that folder. */
const env = { ON_CALL_URL: 'https://oncall.example.com/secret-path' };

test('a folder becomes a workspace, its export is the same again, and applying either again changes nothing', async () => {
  const dir = await createFolder();
  const refused = await cli.run(['apply', dir, '--json']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('alerts.yaml:2:3: ') });
  expect(refused.stderr).toContain('ON_CALL_URL');
  expect(await cli.json(['workers', 'list'])).toEqual([]);

  const planned = await cli.json(['apply', dir, '--dry-run'], { env });
  expect(planned).toMatchObject({ dry_run: true, created: 9, changed: 0, missing_secrets: ['CRM_TOKEN', 'SHOP_KEY'] });
  expect(await cli.json(['workers', 'list'])).toEqual([]);

  const applied = await cli.json(['apply', dir], { env });
  expect(summarize(applied)).toEqual([
    'create context price-list',
    'create context seen',
    ...['agent', 'approval', 'cron', 'minimal', 'webhook'].map((name) => `create worker of-${name}`),
    'create alert of-cron to hooks.example.com',
    'create alert all workers to oncall.example.com',
  ]);
  expect(await cli.json(['workers', 'get', 'of-minimal'])).toMatchObject({ visibility: 'private', version: 1 });
  const again = await cli.json(['apply', dir], { env });
  expect(again).toMatchObject({ created: 0, changed: 0, same: 9, failed: 0 });
  const shown = await cli.run(['apply', dir, '--dry-run'], { env });
  expect(shown.stdout).toContain('CRM_TOKEN is not set: gantry secrets set CRM_TOKEN');

  const tar = path.join(createTemporaryDir('exports'), 'workspace.tar');
  expect(await cli.json(['export', '--output', tar])).toMatchObject({ workers: 5, contexts: 2, alerts: 2, secrets: 1 });
  expect(readFileSync(tar, 'utf8')).not.toContain('secret-path');
  expect(readFileSync(tar, 'utf8')).not.toContain('very-secret');
  // In the same workspace the variables are not needed: the alerts are known by their hosts.
  expect(await cli.json(['apply', tar, '--dry-run'])).toMatchObject({ created: 0, changed: 0, same: 9 });

  const urls = {
    ALERT_URL_HOOKS_EXAMPLE_COM: 'https://hooks.example.com/other',
    ALERT_URL_ONCALL_EXAMPLE_COM: 'https://oncall.example.com/other',
  };
  const foreign = await createWorkspaceCli(api.foreign.owner.jwt);
  expect(await foreign.json(['apply', tar], { env: urls })).toMatchObject({ created: 9, failed: 0 });
  expect(await foreign.json(['apply', tar], { env: urls })).toMatchObject({ same: 9 });
  const exportDir = path.join(createTemporaryDir('exports'), 'copy');
  await foreign.json(['export', '--output', exportDir]);
  expect(readdirSync(exportDir).sort()).toEqual([
    'alerts.yaml',
    'contexts',
    'contexts.yaml',
    'secrets.yaml',
    'workers',
  ]);
  expect(await foreign.json(['diff', path.join(exportDir, 'workers/of-cron')])).toMatchObject({
    worker_id: 'of-cron',
    files: [],
    settings: [],
  });
  expect(readText(exportDir, 'contexts/price-list/img/.logo.bin')).toBe('\0\u0001binary');
  const listed = execFileSync('tar', ['-tf', tar]).toString().split('\n').sort();
  expect(listed).toContain('workers/of-webhook/main.py');

  // A change is one of what was changed, and shown before it is made.
  writeText(dir, 'workers/of-webhook/main.py', `${readText(dir, 'workers/of-webhook/main.py')}\n# Changed.\n`);
  writeText(dir, 'contexts/price-list/prices.csv', 'sku,price\nA1,12\n');
  rmSync(path.join(dir, 'contexts/price-list/img'), { recursive: true });
  writeText(dir, 'contexts/seen/seen.json', '["changed"]');
  writeText(dir, 'alerts.yaml', readText(dir, 'alerts.yaml').replace('Page who', 'Call who'));
  const changed = await cli.json(['apply', dir], { env });
  expect(summarize(changed).filter((line) => !line.startsWith('same'))).toEqual([
    'change context price-list',
    'change worker of-webhook',
    'change alert all workers to oncall.example.com',
  ]);
  expect(changed.items[0].changes.files.map(({ path: file }: { path: string }) => file)).toEqual([
    'img/.logo.bin',
    'prices.csv',
  ]);
  expect(await cli.json(['apply', dir], { env })).toMatchObject({ changed: 0, same: 9 });
  // Its runs write it: what a folder has is how it begins.
  expect((await cli.json(['api', 'GET', '/api/contexts/seen/files']))[0].content).toBe('[]');
});

test('an export over a folder asks before it loses anything, and keeps comments', async () => {
  await cli.json(['apply', await createFolder()], { env });
  const dir = path.join(createTemporaryDir('again'), 'workspace');
  await cli.json(['export', '--output', dir]);
  writeText(dir, 'secrets.yaml', `# Kept.\n${readText(dir, 'secrets.yaml')}`);
  writeText(dir, 'workers/gone/main.py', 'def run():\n    return 1\n');
  writeText(dir, 'README.md', 'Ours.\n');
  const refused = await cli.run(['export', '--output', dir]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('deletes workers/gone/main.py') });
  await cli.json(['export', '--output', dir, '--yes']);
  expect(existsSync(path.join(dir, 'workers/gone/main.py'))).toBe(false);
  expect(readText(dir, 'secrets.yaml')).toMatch(/^# Kept/);
  expect(readText(dir, 'README.md')).toBe('Ours.\n');
});

test('invalid content of a file is shown with its line and column before anything is changed', async () => {
  const apply = async (file: string, content: string) => {
    const dir = createTemporaryDir('wrong');
    writeText(dir, 'contexts/never-made/a.txt', 'a');
    if (file.startsWith('workers/')) writeText(dir, path.join(path.dirname(file), 'main.py'), '');
    writeText(dir, file, content);
    const { code, stderr } = await cli.run(['apply', dir]);
    expect(code).toBe(1);
    return stderr;
  };
  expect(await apply('alerts.yaml', '- on: [run.failed]\n  urll: x\n')).toContain(
    'alerts.yaml:2:3: urll is not an alert field',
  );
  expect(await apply('alerts.yaml', '- on: 3\n')).toContain('alerts.yaml:1:3: on: ');
  expect(await apply('contexts.yaml', 'price-list:\n  writeable: "yes"\n')).toContain(
    'contexts.yaml:2:3: expected true or',
  );
  expect(await apply('secrets.yaml', '- A\n- B=secret\n')).toContain('secrets.yaml:2:3: expected the name of a secret');
  expect(await apply('workers/one/worker.yaml', 'name: [\n')).toContain('workers/one/worker.yaml:2:1: ');
  expect(await apply('workers/one/worker.yaml', 'name: One\nid: two\n')).toContain(
    'workers/one/worker.yaml:2:1: the id',
  );
  expect(await cli.run(['api', 'GET', '/api/contexts/never-made'])).toMatchObject({ code: 1 });
  expect(await cli.run(['apply', createTemporaryDir('empty')])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('gantry export'),
  });
});

test('a problem that the server reports is shown with its place, and the rest is still applied', async () => {
  const dir = createTemporaryDir('refused');
  writeText(dir, 'workers/bad/worker.yaml', 'name: Bad\nlimits:\n  timeout_seconds: 60\n  timeout: 3\n');
  writeText(dir, 'workers/bad/main.py', 'def run():\n    return 1\n');
  writeText(dir, 'workers/good/worker.yaml', 'name: Good\n');
  writeText(dir, 'workers/good/main.py', 'def run():\n    return 1\n');
  const { code, stderr, stdout } = await cli.run(['apply', dir]);
  expect(code).toBe(1);
  expect(stderr).toContain('workers/bad/worker.yaml:4:3: limits.timeout');
  expect(stdout).toContain('1 created, 0 changed, 0 unchanged, 1 failed');
  writeText(dir, 'alerts.yaml', '- { on: [run.broken], url: "https://hooks.example.com/x" }\n');
  expect((await cli.run(['apply', dir])).stderr.match(/on\.0: must be/g)).toHaveLength(1);
  expect(await cli.json(['workers', 'get', 'good'])).toMatchObject({ version: 1 });
});

test('a tar is written to stdout, also where the shell redirects it, and applied from stdin', async () => {
  await cli.json(['apply', await createFolder()], { env });
  const tar = path.join(createTemporaryDir('exports'), 'workspace.tar');
  const redirected = await cli.run(['export'], { outputFile: tar });
  expect(redirected).toMatchObject({ code: 0, stderr: expect.stringContaining('stdout') });
  expect(existsSync(path.join(cli.home, 'workspace'))).toBe(false);
  const piped = await cli.run(['export', '--output', '-']);
  expect(piped.stdout).toBe(readFileSync(tar, 'utf8'));
  const applied = await cli.json(['apply', '-', '--dry-run'], { stdin: piped.stdout });
  expect(applied).toMatchObject({ created: 0, changed: 0, failed: 0 });
  expect(applied.same).toBeGreaterThan(0);
  expect(await cli.run(['export', '-o', '-', '--json'])).toMatchObject({ code: 2, stdout: '' });
  expect(await cli.run(['apply', 'missing.tar'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('missing.tar not found'),
  });
});

test('a tar that leads out of its folder is refused', async () => {
  const dir = createTemporaryDir('tar');
  const tar = path.join(dir, 'evil.tar');
  writeText(dir, 'in/secrets.yaml', '- A\n');
  execFileSync('tar', ['-cf', tar, '-C', path.join(dir, 'in'), '--transform', 's,^,../,', '-P', 'secrets.yaml']);
  expect(await cli.run(['apply', tar])).toMatchObject({ code: 1, stderr: expect.stringContaining('plain relative') });
  execFileSync('ln', ['-s', '/etc/passwd', path.join(dir, 'in/alerts.yaml')]);
  execFileSync('tar', ['-cf', tar, '-C', path.join(dir, 'in'), '.']);
  expect(await cli.run(['apply', tar])).toMatchObject({ code: 1, stderr: expect.stringContaining('is a link') });
  writeFileSync(tar, 'no tar at all'.repeat(100));
  expect(await cli.run(['apply', tar])).toMatchObject({ code: 1, stderr: expect.stringContaining('readable tar') });
});
