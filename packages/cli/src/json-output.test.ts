/**
 * Checks the `--json` output of each command against a schema, since scripts depend on it. Objects of the API have the
 * schemas of OpenAPI, everything else one of this file, which lists all of its fields.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDir, readApiSchemas, type Stack, startStack, waitUntil } from '@gantry/testing';
import type { Command } from 'commander';
import { createProgram } from './program';
import { type Cli, createCli } from './test/run-cli';

const api = readApiSchemas();
const workerSchema = (name: string) => api.named('worker', name);
const arraySchema = (items: object) => ({ type: 'array', items });
const objectSchema = (properties: Record<string, object>) => ({
  type: 'object',
  required: Object.keys(properties),
  additionalProperties: false,
  properties,
});
const nullableSchema = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const enumSchema = (...values: string[]) => ({ enum: values });
const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const flag = { type: 'boolean' };
const anything = {};
const map = { type: 'object' };

const account = {
  profile: text,
  url: text,
  email: nullableSchema(text),
  name: nullableSchema(text),
  role: nullableSchema(text),
  workspace_id: nullableSchema(text),
  credential: text,
};
const changes = {
  files: arraySchema(
    objectSchema({
      path: text,
      change: enumSchema('added', 'modified', 'deleted'),
      size_before: nullableSchema(count),
      size_after: nullableSchema(count),
    }),
  ),
  settings: arraySchema(objectSchema({ field: text, before: anything, after: anything })),
};
const localRun = objectSchema({
  status: enumSchema('completed', 'failed', 'timed_out', 'rejected', 'cancelled'),
  output: nullableSchema(map),
  error: nullableSchema(text),
  error_type: nullableSchema(text),
  error_trace: nullableSchema(text),
  steps: arraySchema(objectSchema({ kind: text, name: text })),
  artifacts: arraySchema(objectSchema({ name: text, path: text })),
  cost_usd: { type: 'number' },
});
const planSchema = objectSchema({
  dry_run: flag,
  created: count,
  changed: count,
  same: count,
  failed: count,
  missing_secrets: arraySchema(text),
  items: arraySchema(
    objectSchema({
      kind: enumSchema('worker', 'context', 'alert'),
      name: text,
      change: enumSchema('create', 'change', 'same'),
      changes: objectSchema(changes),
      notes: arraySchema(text),
      error: nullableSchema(
        objectSchema({ message: text, code: text, fields: arraySchema(objectSchema({ path: text, message: text })) }),
      ),
    }),
  ),
});
const member = api.response('worker', 'get', '/api/workspaces/{workspace_id}/members', 200);

interface Fixture {
  /** With the token of the workspace's owner in the environment. */
  cli: Cli;
  /** The folder of a deployed worker. */
  dir: string;
  workspaceId: string;
  runId: string;
  /** The webhook address of the worker `hooked`. */
  webhookUrl: string;
  approvals: { id: string; run_id: string }[];
}

interface Case {
  args: (fixture: Fixture) => string[];
  schema: object;
  /** Fields that the command adds to an object of the API. */
  own?: Record<string, object>;
  /** Creates the command line that runs it. Default: that of the fixture. */
  cli?: () => Cli | Promise<Cli>;
  stdin?: (fixture: Fixture) => string;
  /** Called once the command has written this to stderr. */
  once?: { written: string; act: (fixture: Fixture) => Promise<unknown> };
  /** One object in each line. */
  isSequence?: boolean;
}

const CASES: Record<string, Case> = {
  login: {
    args: () => ['login', serverUrl(), '--with-token'],
    stdin: () => stack.token,
    cli: createCli,
    schema: objectSchema(account),
  },
  whoami: { args: () => ['whoami'], schema: objectSchema(account) },
  'workspace list': {
    args: () => ['workspace', 'list'],
    schema: workerSchema('Me/properties/workspaces'),
  },
  'workspace switch': {
    args: ({ workspaceId }) => ['workspace', 'switch', workspaceId],
    cli: signIn,
    schema: objectSchema({ id: text, name: text }),
  },
  'config show': {
    args: () => ['config', 'show'],
    schema: objectSchema({
      profile: text,
      url: text,
      url_from: enumSchema('environment', 'profile', 'default'),
      workspace_id: nullableSchema(text),
      signed_in: flag,
      files: objectSchema({ config: text, credentials: text }),
    }),
  },
  'config profiles': {
    args: () => ['config', 'profiles'],
    cli: signIn,
    schema: arraySchema(objectSchema({ name: text, current: flag, url: text, workspace_id: nullableSchema(text) })),
  },
  'config use': { args: () => ['config', 'use', 'default'], cli: signIn, schema: objectSchema({ profile: text }) },
  'config set': {
    args: ({ workspaceId }) => ['config', 'set', 'workspace', workspaceId],
    cli: signIn,
    schema: objectSchema({ profile: text, url: text, workspace_id: text }),
  },
  status: {
    args: () => ['status'],
    schema: workerSchema('Overview'),
    own: { url: text, version: text, cli_version: nullableSchema(text) },
  },
  doctor: {
    args: () => ['doctor'],
    schema: objectSchema({
      ok: flag,
      checks: arraySchema(
        objectSchema({
          check: text,
          status: enumSchema('ok', 'warning', 'problem'),
          found: text,
          remedy: nullableSchema(text),
        }),
      ),
    }),
  },
  init: {
    args: () => ['init', path.join(createTemporaryDir('new'), 'made')],
    schema: objectSchema({ folder: text, template: text, files: arraySchema(text) }),
  },
  dev: { args: ({ dir }) => ['dev', dir, '--once'], schema: localRun },
  test: {
    args: ({ dir }) => ['test', dir],
    schema: objectSchema({
      passed: count,
      failed: count,
      examples: arraySchema(
        objectSchema({
          name: text,
          passed: flag,
          problems: arraySchema(text),
          unchecked: arraySchema(text),
          run: nullableSchema(localRun),
        }),
      ),
    }),
  },
  debug: {
    args: ({ runId }) => ['debug', runId, path.join(createTemporaryDir('debug'), 'run'), '--once'],
    schema: localRun,
  },
  listen: {
    args: () => ['listen', 'hooked', '--forward-to', serverUrl(), '--count', '1'],
    once: { written: 'waiting for webhooks', act: ({ webhookUrl }) => fetch(webhookUrl, { method: 'POST' }) },
    isSequence: true,
    schema: objectSchema({
      run_id: text,
      received_at: text,
      method: enumSchema('POST'),
      delivered: flag,
      status: nullableSchema(text),
      duration_ms: count,
      error: nullableSchema(text),
    }),
  },
  wheel: { args: () => ['wheel', createTemporaryDir('wheel')], schema: objectSchema({ file: text, version: text }) },
  diff: { args: ({ dir }) => ['diff', dir], schema: objectSchema({ worker_id: nullableSchema(text), ...changes }) },
  deploy: {
    args: ({ dir }) => ['deploy', dir],
    schema: workerSchema('ChangedWorker'),
    own: {
      url: text,
      created: flag,
      changed: flag,
      changes: objectSchema(changes),
      dependencies: nullableSchema(workerSchema('DependencyInstallation')),
    },
  },
  pull: {
    args: () => ['pull', 'greeter', path.join(createTemporaryDir('pulled'), 'copy')],
    schema: objectSchema({
      worker_id: text,
      version: count,
      folder: text,
      overwritten: arraySchema(text),
      deleted: arraySchema(text),
    }),
  },
  versions: { args: () => ['versions', 'greeter'], schema: arraySchema(workerSchema('WorkerVersion')) },
  rollback: { args: () => ['rollback', 'ask', '--yes'], schema: workerSchema('Worker') },
  'workers list': { args: () => ['workers', 'list'], schema: arraySchema(workerSchema('WorkerItem')) },
  'workers get': { args: () => ['workers', 'get', 'greeter'], schema: workerSchema('Worker') },
  run: {
    args: () => ['run', 'greeter', '-i', 'name=Ada'],
    schema: api.response('worker', 'post', '/api/workers/{worker_id}/runs', 201),
  },
  'runs list': { args: () => ['runs', 'list'], schema: arraySchema(workerSchema('RunItem')) },
  'runs get': { args: ({ runId }) => ['runs', 'get', runId], schema: workerSchema('Run') },
  'runs cancel': {
    args: ({ approvals }) => ['runs', 'cancel', approvals[2]?.run_id ?? ''],
    schema: workerSchema('Run'),
  },
  'runs replay': {
    args: ({ runId }) => ['runs', 'replay', runId],
    schema: api.response('worker', 'post', '/api/runs/{run_id}/replay', 201),
  },
  logs: { args: ({ runId }) => ['logs', runId], schema: workerSchema('LogLine'), isSequence: true },
  'approvals list': { args: () => ['approvals', 'list'], schema: arraySchema(workerSchema('Approval')) },
  'approvals approve': {
    args: ({ approvals }) => ['approvals', 'approve', approvals[0]?.id ?? ''],
    schema: workerSchema('Approval'),
  },
  'approvals reject': {
    args: ({ approvals }) => ['approvals', 'reject', approvals[1]?.id ?? ''],
    schema: workerSchema('Approval'),
  },
  'secrets set': {
    args: () => ['secrets', 'set', 'OTHER'],
    stdin: () => 'value-of-it',
    schema: workerSchema('Secret'),
  },
  'secrets list': { args: () => ['secrets', 'list'], schema: arraySchema(workerSchema('Secret')) },
  'secrets delete': {
    args: () => ['secrets', 'delete', 'OLD_KEY', '--yes'],
    schema: objectSchema({ name: text, deleted: flag }),
  },
  'automations list': {
    args: () => ['automations', 'list'],
    schema: arraySchema(api.named('automation', 'AutomationItem')),
  },
  'contexts list': { args: () => ['contexts', 'list'], schema: arraySchema(workerSchema('Context')) },
  'connections list': { args: () => ['connections', 'list'], schema: arraySchema(workerSchema('Connection')) },
  'alerts list': { args: () => ['alerts', 'list'], schema: arraySchema(workerSchema('Alert')) },
  'tokens list': { args: () => ['tokens', 'list'], schema: arraySchema(workerSchema('Token')) },
  'members list': { args: () => ['members', 'list'], schema: member },
  export: {
    args: () => ['export', '--output', path.join(createTemporaryDir('exported'), 'workspace.tar')],
    schema: objectSchema({
      output: text,
      workers: count,
      contexts: count,
      alerts: count,
      secrets: count,
      files: arraySchema(text),
    }),
  },
  apply: {
    args: ({ dir }) => ['apply', path.dirname(path.dirname(dir)), '--dry-run'],
    schema: planSchema,
  },
  'skills publish': {
    args: () => ['skills', 'publish', writeSkill('say-goodbye')],
    schema: api.response('skills', 'post', '/api/v1/skills', 201),
  },
  'skills search': {
    args: () => ['skills', 'search', 'greetings'],
    schema: api.response('skills', 'get', '/api/v1/search', 200),
  },
  'skills install': {
    args: () => ['skills', 'install', 'say-hello', '--to', createTemporaryDir('installed')],
    schema: objectSchema({ slug: text, files: arraySchema(text) }),
  },
  'skills save': {
    args: () => ['skills', 'save', 'say-hello'],
    schema: api.response('skills', 'post', '/api/v1/skills/{slug}/save', 200),
  },
  open: { args: () => ['open', 'greeter'], schema: objectSchema({ url: text }) },
  logout: {
    args: () => ['logout'],
    cli: signIn,
    schema: objectSchema({ signed_out: flag, revoked: flag, url: text }),
  },
};

const OTHER_OUTPUT: Record<string, string> = {
  api: 'prints what the operation answers',
  completion: 'prints a script',
  help: 'prints text for people',
  mcp: 'speaks MCP',
};

let stack: Stack;
let fixture: Fixture;

const serverUrl = (): string => stack.gateway?.worker ?? '';

/** Signs in with a profile. */
async function signIn(): Promise<Cli> {
  const cli = createCli();
  await cli.json(['login', serverUrl(), '--with-token'], { stdin: stack.token });
  return cli;
}

function writeSkill(name: string): string {
  const dir = path.join(createTemporaryDir('skill'), name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(
    path.join(dir, 'SKILL.md'),
    `---\nname: ${name}\ndescription: Writes greetings.\n---\n\n# Greetings\n\nWrite greetings.\n`,
  );
  return dir;
}

beforeAll(async () => {
  stack = await startStack({ skillsApi: true, gateway: true });
  const cli = createCli({ GANTRY_URL: serverUrl(), GANTRY_TOKEN: stack.token });
  const workspace = createTemporaryDir('workspace');
  const dir = path.join(workspace, 'workers/greeter');
  await cli.json(['init', dir]);
  mkdirSync(path.join(workspace, 'contexts/price-list'), { recursive: true });
  writeFileSync(path.join(workspace, 'contexts/price-list/prices.csv'), 'sku,price\n');
  writeFileSync(path.join(workspace, 'alerts.yaml'), '- { on: [run.failed], url: "https://hooks.example.com/x" }\n');
  writeFileSync(path.join(workspace, 'secrets.yaml'), '- CRM_TOKEN\n');
  await cli.json(['apply', workspace]);
  await cli.json(['secrets', 'set', 'SHOP_KEY'], { stdin: 'a-value-of-it' });
  await cli.json(['secrets', 'set', 'OLD_KEY'], { stdin: 'another-value' });
  await cli.json(['skills', 'publish', writeSkill('say-hello')]);
  writeFileSync(path.join(dir, 'notes.txt'), 'The second version.\n');
  await cli.json(['deploy', dir, '--worker', 'greeter']);
  const { id: runId } = await cli.json(['run', 'greeter', '-i', 'name=Ada', '--wait']);
  const ask = {
    name: 'Ask',
    files: [{ path: 'main.py', content: 'def run(context):\n    context.approve("Go on?")\n' }],
  };
  await cli.json(['api', 'POST', '/api/workers', '-d', JSON.stringify(ask)]);
  const files = [...ask.files, { path: 'notes.txt', content: 'The second version.\n' }];
  await cli.json(['api', 'PUT', '/api/workers/ask/files', '-d', JSON.stringify({ files })]);
  // One is approved, one rejected and one cancelled, and the last stays pending.
  for (let index = 0; index < 4; index++) await cli.json(['run', 'ask']);
  const hooked = {
    name: 'Hooked',
    trigger: 'webhook',
    files: [{ path: 'main.py', content: 'def run():\n    pass\n' }],
  };
  const { webhook_url: url } = await cli.json(['api', 'POST', '/api/workers', '-d', JSON.stringify(hooked)]);
  const webhookUrl = `${serverUrl()}${new URL(url).pathname}${new URL(url).search}`;
  const approvals = await waitUntil(async () => {
    const listed: Fixture['approvals'] = await cli.json(['approvals', 'list']);
    return listed.length === 4 && listed;
  });
  const { workspace_id: workspaceId } = await cli.json(['whoami']);
  fixture = { cli, dir, workspaceId, runId, webhookUrl, approvals };
});
afterAll(() => stack?.stop());

test('every command has a schema here, or a reason to have none', async () => {
  const collect = (command: Command, names: string[]): string[] =>
    command.commands.length
      ? command.commands.flatMap((one) => collect(one, [...names, one.name()]))
      : [names.join(' ')];
  const described = [...Object.keys(CASES), ...Object.keys(OTHER_OUTPUT)].sort();
  expect(collect(await createProgram(), []).sort()).toEqual(described);
});

test.each(Object.entries(CASES))(
  '%s',
  async (name, { args, schema, own = {}, cli = () => fixture.cli, stdin, once, isSequence }) => {
    const child = (await cli()).start([...args(fixture), '--json'], { ...(stdin && { stdin: stdin(fixture) }) });
    if (once) {
      let written = '';
      child.stderr.on('data', (chunk) => (written += chunk));
      await waitUntil(() => written.includes(once.written));
      await once.act(fixture);
    }
    const { code, stdout, stderr } = await child.finished;
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const values: unknown[] = isSequence
      ? stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [JSON.parse(stdout)];
    // An empty list fits any schema of its items.
    const canBeEmpty = ['automations list', 'connections list', 'tokens list'];
    if (!canBeEmpty.includes(name)) expect(values).not.toEqual([[]]);
    for (const value of values) {
      const names = Object.keys(own);
      const added = Object.fromEntries(names.map((field) => [field, (value as Record<string, unknown>)[field]]));
      expect(api.findProblem(objectSchema(own), added)).toBeNull();
      const rest = names.length
        ? Object.fromEntries(Object.entries(value as object).filter(([field]) => !names.includes(field)))
        : value;
      expect(api.findProblem(schema, rest)).toBeNull();
    }
  },
);

test('a failure is an error with a code, a hint and the fields that were refused', async () => {
  const failure = objectSchema({
    error: {
      type: 'object',
      required: ['message', 'code', 'fields', 'request_id'],
      additionalProperties: false,
      properties: {
        message: text,
        hint: text,
        code: text,
        request_id: nullableSchema(text),
        fields: arraySchema(objectSchema({ path: text, message: text })),
      },
    },
  });
  for (const args of [
    ['workers', 'get', 'missing'],
    ['run', 'greeter', '-i', 'name=1', '-i', 'other=1'],
    ['deploy', '/no/folder'],
  ]) {
    const { code, stdout, stderr } = await fixture.cli.run([...args, '--json']);
    expect({ isFailure: code > 0, stdout }).toEqual({ isFailure: true, stdout: '' });
    expect(api.findProblem(failure, JSON.parse(stderr))).toBeNull();
  }
});
