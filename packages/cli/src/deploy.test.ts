/** Folders and the workers that they become, at the real worker surface. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createTemporaryDir, setupNats, setupWorkerApi } from '@gantry/testing';
import { type Cli, createCli } from './test/run-cli';

const api = setupWorkerApi(setupNats());
let cli: Cli;

beforeAll(async () => {
  const { token } = await api.createToken('personal', api.owner.jwt);
  cli = createCli({ GANTRY_URL: api.url, GANTRY_TOKEN: token });
});

/** A folder with a worker of its own, made by `gantry init`. */
async function createFolder(name: string, template = 'minimal'): Promise<string> {
  const dir = path.join(createTemporaryDir('worker'), name);
  await cli.json(['init', dir, '--template', template]);
  return dir;
}
const writeText = (dir: string, file: string, content: string) => writeFileSync(path.join(dir, file), content);
const readText = (dir: string, file: string) => readFileSync(path.join(dir, file), 'utf8');

test.each(['minimal', 'cron', 'webhook', 'approval', 'agent'])(
  'the template %s can be deployed as it is',
  async (template) => {
    const dir = await createFolder(`from-${template}`, template);
    const deployed = await cli.json(['deploy', dir]);
    expect(deployed).toMatchObject({ id: `from-${template}`, created: true, version: 1 });
    if (template === 'cron') expect(deployed.next_run_at).not.toBeNull();
    if (template === 'webhook') expect(deployed.webhook_url).toContain('token=');
    expect(await cli.json(['diff', dir])).toMatchObject({ files: [], settings: [] });
    if (template !== 'agent') execFileSync('python3', ['-m', 'unittest', '--quiet'], { cwd: dir, stdio: 'pipe' });
  },
);

test('an upload reports its progress on stderr, and none with --json', async () => {
  const dir = await createFolder('uploading');
  writeText(dir, 'worker.yaml', `${readText(dir, 'worker.yaml')}python_dependencies: [six]\n`);
  const { code, stdout, stderr } = await cli.run(['deploy', dir, '--no-wait']);
  expect(code).toBe(0);
  expect(stderr).toMatch(/\nUploading \d\.\d KB\nUploaded; waiting for the server to validate it\n$/);
  expect(stdout).toContain('Packages  six: not installed yet; the first run installs them');
  writeText(dir, 'main.py', `${readText(dir, 'main.py')}\n# another line\n`);
  const again = await cli.run(['deploy', dir, '--json', '--no-wait']);
  expect({ ...again, stdout: '' }).toEqual({ code: 0, stdout: '', stderr: '' });
  expect((await cli.run(['deploy', dir])).stdout).not.toContain('Packages');
});

async function createFolderWithPackages(name: string): Promise<string> {
  const dir = await createFolder(name);
  writeText(dir, 'worker.yaml', `${readText(dir, 'worker.yaml')}python_dependencies: [six]\n`);
  return dir;
}

const six = { name: 'six', version: '1.17.0', file: 'six-1.17.0-py2.py3-none-any.whl', sha256: 'a'.repeat(64) };
const installing = { status: 'installing', progress: { phase: 'installing', done: 1, total: 2 } };

test('deploying waits until the packages are installed, with progress on stderr', async () => {
  const stop = await (await api.connectExecutor()).handleInstallations((report) => {
    report(installing);
    setTimeout(() => report({ status: 'installed', platform: 'cp311-linux-x64', packages: [six] }), 1_500);
  });
  const { code, stdout, stderr } = await cli.run(['deploy', await createFolderWithPackages('waits')]);
  expect(stderr).toContain('Installing packages: 1 of 2');
  expect(stdout).toContain('Packages  six 1.17.0');
  expect(code).toBe(0);
  const deployed = await cli.json(['deploy', await createFolderWithPackages('waits-json')]);
  expect(deployed.dependencies).toMatchObject({ status: 'installed', packages: [{ name: 'six', version: '1.17.0' }] });
  stop();
});

test('deploying fails with the error of the installation, and says where the worker is', async () => {
  const error = 'There is no package called six. Check its spelling.';
  const stop = await (await api.connectExecutor()).handleInstallations((report) => report({ status: 'failed', error }));
  const dir = await createFolderWithPackages('misspelt');
  const { code, stdout, stderr } = await cli.run(['deploy', dir]);
  expect(stderr).toMatch(/version 1 is deployed, but .*There is no package called six[\s\S]*If the packages are wrong/);
  expect(stdout).toMatch(/Page .*misspelt[\s\S]*six: not installed/);
  expect(code).toBe(1);
  expect(await cli.run(['deploy', dir])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Packages  six: not installed; the next run retries: ${error}`),
  });
  const json = await cli.run(['deploy', await createFolderWithPackages('misspelt-json'), '--json']);
  expect({ code: json.code, dependencies: JSON.parse(json.stdout).dependencies }).toMatchObject({
    code: 1,
    dependencies: { status: 'failed', error },
  });
  stop();
});

test('a state that cannot be read fails no deployment, and its secrets are printed', async () => {
  const proxy = createServer(async (req, res) => {
    if (/\/versions\/\w+$|\/api\/events/.test(req.url ?? '')) {
      return void res.writeHead(503, { 'X-Request-Id': 'req_1', 'RateLimit-Limit': '1' }).end();
    }
    const headers = Object.entries(req.headers).filter(([name]) => !/^(host|connection|expect)$/.test(name));
    const hasBody = req.method !== 'GET' && req.method !== 'HEAD';
    const response = await fetch(`${api.url}${req.url}`, {
      method: req.method,
      headers: Object.fromEntries(headers) as Record<string, string>,
      ...(hasBody && { body: await buffer(req) }),
    });
    const names = ['content-type', 'x-request-id', 'ratelimit-limit'];
    res.writeHead(response.status, Object.fromEntries(names.map((name) => [name, response.headers.get(name) ?? ''])));
    res.end(Buffer.from(await response.arrayBuffer()));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const env = { GANTRY_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  const { code, stdout, stderr } = await cli.run(['deploy', await createFolder('unread', 'webhook')], { env });
  expect(stderr).toContain('The status of the packages could not be read: ');
  expect(stdout).toMatch(/Webhook .*token=/);
  expect(code).toBe(0);
  const deployed = await cli.json(['deploy', await createFolder('unread-json', 'webhook')], { env });
  expect(deployed).toMatchObject({ created: true, dependencies: null, webhook_url: expect.any(String) });
  proxy.close();
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s stops waiting, and neither the deployment nor the installation',
  async (signal) => {
    const stop = await (await api.connectExecutor()).handleInstallations((report) => report(installing));
    const name = `interrupted-by-${signal.toLowerCase()}`;
    const started = cli.start(['deploy', await createFolderWithPackages(name)]);
    await new Promise<void>((resolve) =>
      started.stderr.on('data', (chunk) => String(chunk).includes('Installing packages') && resolve()),
    );
    started.kill(signal);
    const { code, stdout, stderr } = await started.finished;
    expect(stdout).toContain(`Created ${name}`);
    expect(stderr).toContain('still being installed');
    expect(code).toBe(2);
    stop();
  },
);

test('a second folder of that name is refused, and init overwrites nothing', async () => {
  const dir = await createFolder('twice');
  await cli.json(['deploy', dir]);
  writeText(dir, 'main.py', 'def run(name):\n    return {}\n');
  expect(await cli.run(['init', dir, '-t', 'minimal'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('main.py'),
  });
  const another = await createFolder('twice');
  expect(await cli.run(['deploy', another])).toMatchObject({ code: 0, stdout: expect.stringContaining('twice-2') });
});

test('a change is shown, deployed as a version, and nothing is deployed twice', async () => {
  const dir = await createFolder('changing');
  await cli.json(['deploy', dir]);
  writeText(dir, 'main.py', readText(dir, 'main.py').replace('Hello', 'Good morning'));
  writeText(dir, 'worker.yaml', readText(dir, 'worker.yaml').replace('60', '30'));
  writeText(dir, '.env', 'TOKEN=secret\n');
  mkdirSync(path.join(dir, 'prices'));
  writeText(dir, 'prices/parse.py', 'LIMIT = 1\n');
  const diff = await cli.json(['diff', dir]);
  expect(diff.files.map(({ path: name, change }: { path: string; change: string }) => `${change} ${name}`)).toEqual([
    'modified main.py',
    'added prices/parse.py',
  ]);
  expect(diff.settings).toEqual([{ field: 'limits', before: { timeout_seconds: 60 }, after: { timeout_seconds: 30 } }]);
  const { stdout } = await cli.run(['diff', dir]);
  expect(stdout).toMatch(/^- .*Hello/m);
  expect(stdout).toMatch(/^\+ .*Good morning/m);

  expect(await cli.json(['deploy', dir, '--dry-run'])).toMatchObject({
    worker_id: 'changing',
    settings: diff.settings,
  });
  expect(await cli.json(['workers', 'get', 'changing'])).toMatchObject({ version: 1 });
  expect(await cli.json(['deploy', dir, '-m', 'Friendlier'])).toMatchObject({
    version: 2,
    changed: true,
    created: false,
  });
  expect(await cli.json(['deploy', dir])).toMatchObject({ version: 2, changed: false });
  const versions = await cli.json(['versions', 'changing', '--fields', 'version,message,current']);
  expect(versions).toEqual([
    { version: 2, message: 'Friendlier', current: true },
    { version: 1, message: null, current: false },
  ]);
});

test('a worker that was changed elsewhere is not overwritten without --force', async () => {
  const dir = await createFolder('shared');
  await cli.json(['deploy', dir]);
  const copyDir = path.join(createTemporaryDir('elsewhere'), 'copy');
  await cli.json(['pull', 'shared', copyDir]);
  writeText(copyDir, 'main.py', 'def run(name):\n    return {"greeting": "from elsewhere"}\n');
  await cli.json(['deploy', copyDir]);

  writeText(dir, 'main.py', 'def run(name):\n    return {"greeting": "from here"}\n');
  expect(await cli.run(['deploy', dir])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('changed elsewhere'),
  });
  expect(await cli.json(['deploy', dir, '--force'])).toMatchObject({ version: 3 });
});

test('pulling asks before it replaces anything, and keeps a manifest that says the same', async () => {
  const dir = await createFolder('pulled');
  await cli.json(['deploy', dir]);
  writeText(dir, 'worker.yaml', `# Kept.\n${readText(dir, 'worker.yaml')}`);
  writeText(dir, 'main.py', 'broken');
  writeText(dir, 'left.py', '');
  const refused = await cli.run(['pull'], { cwd: dir });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/overwrites main\.py\n.*deletes left\.py/s) });
  expect(readText(dir, 'main.py')).toBe('broken');
  await cli.json(['pull', '--yes'], { cwd: dir });
  expect(readText(dir, 'main.py')).toContain('Hello');
  expect(readText(dir, 'worker.yaml')).toContain('# Kept.');
  expect(existsSync(path.join(dir, 'left.py'))).toBe(false);
  expect(existsSync(path.join(dir, 'gantry.pyi'))).toBe(true);
  expect(await cli.json(['diff'], { cwd: dir })).toMatchObject({ worker_id: 'pulled', files: [], settings: [] });
});

test('pulling writes nothing through a link that leads out of the folder', async () => {
  const dir = await createFolder('linked');
  mkdirSync(path.join(dir, 'data'));
  writeText(dir, 'data/table.csv', 'a,b\n');
  await cli.json(['deploy', dir]);
  const outside = createTemporaryDir('outside');
  rmSync(path.join(dir, 'data'), { recursive: true });
  symlinkSync(outside, path.join(dir, 'data'));
  expect(await cli.run(['pull', '--yes'], { cwd: dir })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('outside'),
  });
  expect(existsSync(path.join(outside, 'table.csv'))).toBe(false);
});

test('going back asks first, and takes a number, a sha or neither', async () => {
  const dir = await createFolder('going-back');
  const { sha } = await cli.json(['deploy', dir]);
  writeText(dir, 'main.py', 'def run(name):\n    return {}\n');
  await cli.json(['deploy', dir]);
  expect(await cli.run(['rollback', 'going-back'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  });
  expect(await cli.json(['rollback', '--yes'], { cwd: dir })).toMatchObject({ version: 3, sha });
  writeText(dir, 'main.py', 'def run(name):\n    return {"greeting": "fixed"}\n');
  expect(await cli.run(['deploy', dir])).toMatchObject({ code: 0, stderr: expect.not.stringContaining('elsewhere') });
  expect(await cli.json(['rollback', '--yes'], { cwd: dir })).toMatchObject({ version: 5, sha });
  expect(await cli.json(['rollback', 'going-back', '--to', '2', '--yes'])).toMatchObject({ version: 6 });
  expect(await cli.json(['rollback', 'going-back', '--to', sha.slice(0, 8), '--yes'])).toMatchObject({ sha });
  expect(await cli.run(['rollback', 'going-back', '--to', '99', '--yes'])).toMatchObject({ code: 1 });
});

test('the next step names the inputs that a run needs', async () => {
  const dir = await createFolder('letters');
  writeText(dir, 'worker.yaml', readText(dir, 'worker.yaml').replace('default: world', 'required: true'));
  const { stdout } = await cli.run(['deploy', dir]);
  expect(stdout).toContain('gantry run letters -i name=... --wait');
});

test('YAML that cannot be read is shown with its line and column, and what the server refuses with its field', async () => {
  const dir = await createFolder('wrong');
  writeText(dir, 'worker.yaml', 'name: Wrong\nlimits: { timeout_seconds: [\n');
  expect(await cli.run(['deploy', dir])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/worker\.yaml:3:1: (?!.*line \d)/),
  });
  writeText(dir, 'worker.yaml', 'name: Wrong\nlimits: { timeout: 3 }\n');
  expect(await cli.run(['deploy', dir])).toMatchObject({ code: 1, stderr: expect.stringContaining('limits') });
  writeText(dir, 'worker.yaml', 'name: Wrong\n');
  writeText(dir, 'main.py', 'def run(:\n');
  expect(await cli.run(['deploy', dir])).toMatchObject({ code: 1, stderr: expect.stringContaining('main.py') });
  expect(await cli.run(['deploy', createTemporaryDir('empty')])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('gantry init'),
  });
});
