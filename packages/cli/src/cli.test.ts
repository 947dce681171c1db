/** Tests habits that all commands share, without a platform. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { ApiError } from '@gantry/sdk';
import { createTemporaryDir, reserveFreePort } from '@gantry/testing';
import { Command } from 'commander';
import { describeFailure } from './errors';
import { createProgram } from './program';
import { createCli } from './test/run-cli';

let server: Server;
let url: string;
/** `isForeign`: without the headers that a Gantry sends. */
let body: { type?: string; text: string; status?: number; isForeign?: boolean };

beforeAll(async () => {
  server = createServer((_req, res) => {
    res.writeHead(body.status ?? 200, {
      ...(body.type && { 'Content-Type': body.type }),
      ...(!body.isForeign && { 'X-Request-Id': 'req_1' }),
    });
    res.end(body.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const tokenEnv = { GANTRY_TOKEN: 'svc_test' };

test('a misspelt command suggests the one that exists, and ends with 2', async () => {
  const { code, stderr, stdout } = await createCli().run(['stauts']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('status');
});

test('the next step after a new folder is a command that a shell reads as one', async () => {
  const cli = createCli();
  const { stdout } = await cli.run(['init', 'my "first" worker!']);
  expect(stdout).toContain(`Next: gantry deploy 'my "first" worker!'\n`);
  expect((await cli.run(['init', 'plain'])).stdout).toContain('Next: gantry deploy plain\n');
});

test('an unknown option names those that exist', async () => {
  const { code, stderr } = await createCli().run(['login', '--tokn']);
  expect(code).toBe(2);
  expect(stderr).toContain('--with-token');
  expect(stderr).toContain('--json');
});

test('a missing argument is wrong usage, and help is none', async () => {
  const cli = createCli();
  expect((await cli.run(['api'])).code).toBe(2);
  expect(await cli.run(['help', 'api'])).toMatchObject({ code: 0, stdout: expect.stringContaining('<method>') });
  expect(await cli.run(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
});

test('help of a command below another one is its own, and a misspelt one suggests the nearest', async () => {
  const cli = createCli();
  expect((await cli.run(['help', 'runs', 'list'])).stdout).toBe((await cli.run(['runs', 'list', '--help'])).stdout);
  expect((await cli.run(['help', 'runs', 'list'])).stdout).toContain('gantry runs list');
  expect((await cli.run(['help'])).stdout).toBe((await cli.run(['--help'])).stdout);
  for (const [args, nearest] of [
    [['help', 'runs', 'lst'], 'list'],
    [['help', 'rns'], 'runs'],
    [['secrets', 'st', 'NAME'], 'set'],
    [['config', 'usee', 'work'], 'use'],
    [['members', 'lst'], 'list'],
  ] as const) {
    const { code, stderr } = await cli.run([...args]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`Did you mean ${nearest}?`) });
  }
});

test('wrong usage is JSON with --json, and has a next step', async () => {
  const cli = createCli();
  const usage = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run([...args, '--json']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    return JSON.parse(stderr).error;
  };
  expect(await usage('api')).toMatchObject({
    code: 'usage',
    message: "missing required argument 'method'",
    hint: 'See: gantry api --help',
  });
  expect(await usage('runs', 'lst')).toMatchObject({ code: 'usage', hint: '(Did you mean list?)' });
  expect(await usage('runs', 'get', 'a', 'b')).toMatchObject({ hint: 'See: gantry runs get --help' });
  expect(await usage('runs', 'list', '--stat')).toMatchObject({ message: expect.stringMatching(/--status.*--json/) });
  expect((await cli.run(['whoami', '--json'])).stderr).toContain('"code":"signed_out"');
});

test('without an account a command ends with 4 and the next step', async () => {
  const { code, stderr } = await createCli().run(['whoami']);
  expect(code).toBe(4);
  expect(stderr).toContain('gantry login');
});

test('a server that is down is one line, and JSON with --json', async () => {
  const env = { ...tokenEnv, GANTRY_URL: `http://127.0.0.1:${await reserveFreePort()}` };
  const { code, stderr } = await createCli(env).run(['whoami', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(stderr).error).toMatchObject({
    code: 'unreachable',
    hint: expect.stringContaining('gantry config'),
  });
});

test('a certificate that is not trusted, and an address with the wrong protocol, have their own next step', async () => {
  const { stderr } = await createCli({ ...tokenEnv, GANTRY_URL: url.replace('http:', 'https:') }).run(['whoami']);
  expect(stderr).toContain('begin with http:');
  const cause = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  const error = new ApiError(0, 'unreachable', 'the server cannot be reached', [], null, null, { cause });
  expect(describeFailure(error).hint).toContain('self-signed certificate. To trust a CA: NODE_EXTRA_CA_CERTS');
});

test('the address of the dashboard in the place of that of the API is one line and a hint', async () => {
  body = { type: 'text/html', text: '<html><body>Sign in</body></html>' };
  const { code, stderr } = await createCli({ ...tokenEnv, GANTRY_URL: url }).run(['whoami']);
  const [message, step] = stderr.split('\n');
  expect({ code, message, step }).toEqual({
    code: 1,
    message: `error: ${url} responded with a web page: it is not a Gantry API`,
    step: 'Check the URL: gantry config',
  });
});

test.each([
  ['a web page', { type: 'text/html', text: '<html>Welcome</html>' }],
  ['a web page with 404', { type: 'text/html', text: '<html>Not found</html>', status: 404 }],
  ['JSON', { type: 'application/json', text: '{}' }],
  ['JSON with 404', { type: 'application/json', text: '{"error":"x"}', status: 404 }],
  ['a demand for another sign-in', { type: 'text/plain', text: 'Unauthorized', status: 401 }],
  ['nothing', { text: '' }],
])('each command says in one line that a server which responds with %s is no Gantry', async (_what, response) => {
  body = { ...response, isForeign: true };
  const cli = createCli({ ...tokenEnv, GANTRY_URL: url });
  const dir = createTemporaryDir('worker');
  writeFileSync(path.join(dir, 'worker.yaml'), 'name: Report\n');
  writeFileSync(path.join(dir, 'main.py'), 'def run():\n    return 1\n');
  const commands = [
    ['whoami'],
    ['login', url, '--no-browser'],
    ['status'],
    ['run', 'report', '-i', 'a=1', '--wait'],
    ['runs', 'list'],
    ['logs', '-f', 'run_1'],
    ['deploy', dir],
    ['members'],
    ['secrets', 'list'],
    ['api', 'GET', '/api/workers'],
  ];
  const results = await Promise.all(commands.map((args) => cli.run(args)));
  const expected = `error: ${url} is not a Gantry server\nCheck the URL: gantry config\n`;
  expect(results).toEqual(commands.map(() => ({ code: 1, stdout: '', stderr: expected })));
});

test('a server that does not know a path may be outdated, and the message says so', async () => {
  body = { type: 'text/plain', text: 'nothing here', status: 404 };
  const { code, stderr } = await createCli({ ...tokenEnv, GANTRY_URL: url }).run(['whoami']);
  expect(code).toBe(1);
  expect(stderr).toContain('older');
});

test('control characters of a server never reach the terminal', async () => {
  const name = 'evil\u001b]0;title\u0007\u009b31m\u202e';
  body = { type: 'application/json', text: JSON.stringify({ detail: name, code: 'conflict' }), status: 409 };
  const cli = createCli({ ...tokenEnv, GANTRY_URL: url });
  const { stderr } = await cli.run(['whoami']);
  expect(stderr).toContain('evil\\x1b]0;title\\x07');
  body = {
    type: 'application/json',
    text: JSON.stringify({ workspaces: [{ id: 'ws_1', role: 'owner', name }], workspace_id: null }),
  };
  const { stdout } = await cli.run(['workspace', 'list']);
  expect(stdout).toContain('evil\\x1b]0;title');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
  expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
});

test('a token that cannot be sent is named, and not repeated', async () => {
  const { code, stderr } = await createCli({ GANTRY_TOKEN: 'svc_a\nsvc_b', GANTRY_URL: url }).run(['whoami']);
  expect(code).toBe(4);
  expect(stderr).toBe(
    'error: the token in GANTRY_TOKEN contains a space or line break\nCopy the whole token, or sign in: gantry login\n',
  );
});

test('a request without a body is sent with none, and a response without one prints nothing', async () => {
  body = { type: 'application/json', text: '{"ok":true}' };
  const cli = createCli({ ...tokenEnv, GANTRY_URL: url });
  expect(await cli.run(['api', 'HEAD', '/api/workers'])).toEqual({ code: 0, stdout: '', stderr: '' });
  const { code, stderr } = await cli.run(['api', 'GET', '/api/workers', '-d', '{}']);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'error: GET requests have no body\nTo send data: gantry api POST /api/workers\n',
  });
});

test('a count that is none names its option', async () => {
  const { code, stderr } = await createCli().run(['runs', 'list', '--limit', '0']);
  expect(code).toBe(2);
  expect(stderr).toContain('--limit <count>');
  expect(stderr).toContain('gantry runs list --help');
});

test('the token of a profile is sent to no other server', async () => {
  const cli = createCli();
  mkdirSync(path.dirname(cli.configFile('config.json')), { recursive: true });
  const stored = { url: 'https://gantry.example.com', token: 'svc_secret', from: 'pasted' };
  writeFileSync(cli.configFile('credentials.json'), JSON.stringify({ default: stored }));
  writeFileSync(cli.configFile('config.json'), JSON.stringify({ profiles: { default: { url: stored.url } } }));
  expect(await cli.json(['config'])).toMatchObject({ signed_in: true, url: stored.url });
  expect((await cli.run(['whoami'], { env: { GANTRY_URL: url } })).code).toBe(4);
});

test('a half-written credentials file is named, and nothing is lost by reading it', async () => {
  const cli = createCli();
  mkdirSync(path.dirname(cli.configFile('config.json')), { recursive: true });
  writeFileSync(cli.configFile('credentials.json'), '{"default": {"url": "http');
  const { code, stderr } = await cli.run(['whoami']);
  expect(code).toBe(4);
  expect(stderr).toContain('credentials.json is corrupted');
  expect(stderr).toContain('gantry login');
  expect(readFileSync(cli.configFile('credentials.json'), 'utf8')).toContain('"http');
});

test('an address that is none is refused before anything is stored', async () => {
  const cli = createCli();
  const { code, stderr } = await cli.run(['login', 'localhost:8080', '--with-token'], { stdin: 'svc_test' });
  expect(code).toBe(2);
  expect(stderr).toContain('https://gantry.example.com');
  expect(existsSync(cli.configFile('config.json'))).toBe(false);
});

test('the package that npm makes is one file, which runs without any other', () => {
  const dir = createTemporaryDir('package');
  const dist = path.resolve(__dirname, '../dist');
  const packed = execFileSync('npm', ['pack', dist, '--json', '--dry-run'], {
    cwd: dir,
    env: { ...process.env, HOME: dir },
  });
  const [{ files }] = JSON.parse(packed.toString());
  expect(files.map((file: { path: string }) => file.path).sort()).toEqual(['gantry.mjs', 'package.json']);
  copyFileSync(path.join(dist, 'gantry.mjs'), path.join(dir, 'gantry.mjs'));
  const shown = execFileSync(process.execPath, ['gantry.mjs', 'config', '--json'], { cwd: dir, env: { HOME: dir } });
  expect(JSON.parse(shown.toString())).toMatchObject({ profile: 'default', signed_in: false });
});

describe('every command', () => {
  const collect = (command: Command, names: string[]): [string, Command][] => [
    [names.join(' ') || 'gantry', command],
    ...command.commands.flatMap((one) => collect(one, [...names, one.name()])),
  ];
  let commands: [string, Command][];
  beforeAll(async () => {
    commands = collect(await createProgram(), []);
  });

  test('has help that fits into 80 columns', () => {
    for (const [name, command] of commands) {
      let help = '';
      command.configureHelp({ ...command.configureHelp(), helpWidth: 80 });
      command.configureOutput({ ...command.configureOutput(), writeOut: (text) => (help += text) }).outputHelp();
      const tooLong = help.split('\n').filter((line) => line.length > 80);
      // Without the noise of Commander: what nearly every command has, and lists that are empty.
      const noise = / \[options\] .*\S {2}|default: \[\]/.exec(help);
      expect({ name, tooLong, noise }).toEqual({ name, tooLong: [], noise: null });
      const descriptions = [command, ...command.options, ...command.registeredArguments].map((one) =>
        one instanceof Command ? one.description() : one.description,
      );
      expect(descriptions.filter((one) => !/^\S.*[^.]$/.test(one))).toEqual([]);
      expect(command.description()).toMatch(/^[A-Z]/);
    }
  });

  test('is below a heading of the help', async () => {
    const help = (await createProgram()).helpInformation();
    const headings = help.split('\n').filter((line) => /^\S.*:$/.test(line));
    expect(headings.slice(0, 3)).toEqual(['Options:', 'Account and server:', 'Local development:']);
    expect(headings).not.toContain('Commands:');
  });

  test('is found without the other ones, and looks the same', async () => {
    for (const [name, command] of commands.filter(([, { parent }]) => parent && !parent.parent)) {
      const program = await createProgram(name);
      const alone = program.commands.find((one) => one.name() === name);
      expect(alone?.helpInformation()).toBe(command.helpInformation());
      if (!['completion', 'help'].includes(name)) expect(program.commands.length).toBeLessThan(8);
    }
  });

  test.each(['bash', 'zsh', 'fish'])('is completed in %s', async (shell) => {
    const { stdout } = await createCli().run(['completion', shell]);
    for (const [name] of commands.slice(1)) expect(stdout).toContain(name.split(' ').at(-1));
  });
});
