/**
 * Checks the `--json` output of each command against a schema, since scripts depend on it. Objects of the API have the schemas of OpenAPI,
 * everything else one of this file, which lists all of its fields.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readApiSchemas, type Stack, startStack, temporaryDir, until } from '@gantry/testing';
import type { Command } from 'commander';
import { createProgram } from './program';
import { type Cli, createCli } from './test/run-cli';

const api = readApiSchemas();
const worker = (name: string) => api.named('worker', name);
const listOf = (items: object) => ({ type: 'array', items });
const object = (properties: Record<string, object>) => ({
  type: 'object',
  required: Object.keys(properties),
  additionalProperties: false,
  properties,
});
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const oneOf = (...values: string[]) => ({ enum: values });
const text = { type: 'string' };
const count = { type: 'integer', minimum: 0 };
const flag = { type: 'boolean' };
const anything = {};
const map = { type: 'object' };

const account = {
  profile: text,
  url: text,
  email: orNull(text),
  name: orNull(text),
  role: orNull(text),
  workspace_id: orNull(text),
  credential: text,
};
const changes = {
  files: listOf(
    object({
      path: text,
      change: oneOf('added', 'modified', 'deleted'),
      size_before: orNull(count),
      size_after: orNull(count),
    }),
  ),
  settings: listOf(object({ field: text, before: anything, after: anything })),
};
const localRun = object({
  status: oneOf('completed', 'failed', 'timed_out', 'rejected', 'cancelled'),
  output: orNull(map),
  error: orNull(text),
  error_type: orNull(text),
  error_trace: orNull(text),
  steps: listOf(object({ kind: text, name: text })),
  artifacts: listOf(object({ name: text, path: text })),
  cost_usd: { type: 'number' },
});
const planned = object({
  dry_run: flag,
  ...{ created: count, changed: count, same: count, failed: count },
  missing_secrets: listOf(text),
  items: listOf(
    object({
      kind: oneOf('worker', 'context', 'alert'),
      name: text,
      change: oneOf('create', 'change', 'same'),
      changes: object(changes),
      notes: listOf(text),
      error: orNull(object({ message: text, code: text, fields: listOf(object({ path: text, message: text })) })),
    }),
  ),
});
const member = api.response('worker', 'get', '/api/workspaces/{workspace_id}/members', 200);

interface Fixture {
  /** With the token of the workspace's owner in the environment. */
  cli: Cli;
  /** Signed in with a profile. */
  person: Cli;
  /** Of a worker that is deployed. */
  dir: string;
  workspaceId: string;
  runId: string;
  /** Of the worker `hooked`. */
  webhookUrl: string;
  approvals: { id: string; run_id: string }[];
}

interface Case {
  args: (fixture: Fixture) => string[];
  schema: object;
  /** Fields that the command adds to an object of the API. */
  own?: Record<string, object>;
  as?: 'cli' | 'person';
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
    as: 'person',
    schema: object(account),
  },
  whoami: { args: () => ['whoami'], schema: object(account) },
  'workspace list': {
    args: () => ['workspace', 'list'],
    schema: worker('Me/properties/workspaces'),
  },
  'workspace switch': {
    args: ({ workspaceId }) => ['workspace', 'switch', workspaceId],
    as: 'person',
    schema: object({ id: text, name: text }),
  },
  'config show': {
    args: () => ['config', 'show'],
    schema: object({
      ...{ profile: text, url: text, url_from: oneOf('environment', 'profile', 'default') },
      ...{ workspace_id: orNull(text), signed_in: flag, files: object({ config: text, credentials: text }) },
    }),
  },
  'config profiles': {
    args: () => ['config', 'profiles'],
    as: 'person',
    schema: listOf(object({ name: text, current: flag, url: text, workspace_id: orNull(text) })),
  },
  'config use': { args: () => ['config', 'use', 'default'], as: 'person', schema: object({ profile: text }) },
  'config set': {
    args: ({ workspaceId }) => ['config', 'set', 'workspace', workspaceId],
    as: 'person',
    schema: object({ profile: text, url: text, workspace_id: text }),
  },
  status: {
    args: () => ['status'],
    schema: worker('Overview'),
    own: { url: text, version: text, cli_version: orNull(text) },
  },
  doctor: {
    args: () => ['doctor'],
    schema: object({
      ok: flag,
      checks: listOf(
        object({ check: text, status: oneOf('ok', 'warning', 'problem'), found: text, remedy: orNull(text) }),
      ),
    }),
  },
  init: {
    args: () => ['init', path.join(temporaryDir('new'), 'made')],
    schema: object({ folder: text, template: text, files: listOf(text) }),
  },
  dev: { args: ({ dir }) => ['dev', dir, '--once'], schema: localRun },
  test: {
    args: ({ dir }) => ['test', dir],
    schema: object({
      passed: count,
      failed: count,
      examples: listOf(
        object({ name: text, passed: flag, problems: listOf(text), unchecked: listOf(text), run: orNull(localRun) }),
      ),
    }),
  },
  debug: {
    args: ({ runId }) => ['debug', runId, path.join(temporaryDir('debug'), 'run'), '--once'],
    schema: localRun,
  },
  listen: {
    args: () => ['listen', 'hooked', '--forward-to', serverUrl(), '--count', '1'],
    once: { written: 'waiting for webhooks', act: ({ webhookUrl }) => fetch(webhookUrl, { method: 'POST' }) },
    isSequence: true,
    schema: object({
      ...{ run_id: text, received_at: text, method: oneOf('POST'), delivered: flag },
      ...{ status: orNull(text), duration_ms: count, error: orNull(text) },
    }),
  },
  wheel: { args: () => ['wheel', temporaryDir('wheel')], schema: object({ file: text, version: text }) },
  diff: { args: ({ dir }) => ['diff', dir], schema: object({ worker_id: orNull(text), ...changes }) },
  deploy: {
    args: ({ dir }) => ['deploy', dir],
    schema: worker('ChangedWorker'),
    own: { url: text, created: flag, changed: flag, changes: object(changes) },
  },
  pull: {
    args: () => ['pull', 'greeter', path.join(temporaryDir('pulled'), 'copy')],
    schema: object({
      ...{ worker_id: text, version: count, folder: text },
      ...{ overwritten: listOf(text), deleted: listOf(text) },
    }),
  },
  versions: { args: () => ['versions', 'greeter'], schema: listOf(worker('WorkerVersion')) },
  rollback: { args: () => ['rollback', 'greeter', '--yes'], schema: worker('Worker') },
  'workers list': { args: () => ['workers', 'list'], schema: listOf(worker('WorkerItem')) },
  'workers get': { args: () => ['workers', 'get', 'greeter'], schema: worker('Worker') },
  run: {
    args: () => ['run', 'greeter', '-i', 'name=Ada'],
    schema: api.response('worker', 'post', '/api/workers/{worker_id}/runs', 201),
  },
  'runs list': { args: () => ['runs', 'list'], schema: listOf(worker('RunItem')) },
  'runs get': { args: ({ runId }) => ['runs', 'get', runId], schema: worker('Run') },
  'runs cancel': { args: ({ approvals }) => ['runs', 'cancel', approvals[2]?.run_id ?? ''], schema: worker('Run') },
  'runs replay': {
    args: ({ runId }) => ['runs', 'replay', runId],
    schema: api.response('worker', 'post', '/api/runs/{run_id}/replay', 201),
  },
  logs: { args: ({ runId }) => ['logs', runId], schema: worker('LogLine'), isSequence: true },
  'approvals list': { args: () => ['approvals', 'list'], schema: listOf(worker('Approval')) },
  'approvals approve': {
    args: ({ approvals }) => ['approvals', 'approve', approvals[0]?.id ?? ''],
    schema: worker('Approval'),
  },
  'approvals reject': {
    args: ({ approvals }) => ['approvals', 'reject', approvals[1]?.id ?? ''],
    schema: worker('Approval'),
  },
  'secrets set': { args: () => ['secrets', 'set', 'OTHER'], stdin: () => 'value-of-it', schema: worker('Secret') },
  'secrets list': { args: () => ['secrets', 'list'], schema: listOf(worker('Secret')) },
  'secrets delete': {
    args: () => ['secrets', 'delete', 'OTHER', '--yes'],
    schema: object({ name: text, deleted: flag }),
  },
  'automations list': {
    args: () => ['automations', 'list'],
    schema: listOf(api.named('automation', 'AutomationItem')),
  },
  'contexts list': { args: () => ['contexts', 'list'], schema: listOf(worker('Context')) },
  'connections list': { args: () => ['connections', 'list'], schema: listOf(worker('Connection')) },
  'alerts list': { args: () => ['alerts', 'list'], schema: listOf(worker('Alert')) },
  'tokens list': { args: () => ['tokens', 'list'], schema: listOf(worker('Token')) },
  'members list': { args: () => ['members', 'list'], schema: member },
  export: {
    args: () => ['export', '--output', path.join(temporaryDir('exported'), 'workspace.tar')],
    schema: object({
      output: text,
      ...{ workers: count, contexts: count, alerts: count, secrets: count },
      files: listOf(text),
    }),
  },
  apply: {
    args: ({ dir }) => ['apply', path.dirname(path.dirname(dir)), '--dry-run'],
    schema: planned,
  },
  'skills publish': {
    args: () => ['skills', 'publish', writeSkill()],
    schema: api.response('skills', 'post', '/api/v1/skills', 201),
  },
  'skills search': {
    args: () => ['skills', 'search', 'greetings'],
    schema: api.response('skills', 'get', '/api/v1/search', 200),
  },
  'skills install': {
    args: () => ['skills', 'install', 'say-hello', '--to', temporaryDir('installed')],
    schema: object({ slug: text, files: listOf(text) }),
  },
  'skills save': {
    args: () => ['skills', 'save', 'say-hello'],
    schema: api.response('skills', 'post', '/api/v1/skills/{slug}/save', 200),
  },
  open: { args: () => ['open', 'greeter'], schema: object({ url: text }) },
  logout: {
    args: () => ['logout'],
    as: 'person',
    schema: object({ signed_out: flag, revoked: flag, url: text }),
  },
};

const OTHER_OUTPUT: Record<string, string> = {
  api: 'prints what the operation answers',
  completion: 'prints a script',
  mcp: 'speaks MCP',
};

let stack: Stack;
let fixture: Fixture;

const serverUrl = (): string => stack.gateway?.worker ?? '';

function writeSkill(): string {
  const dir = path.join(temporaryDir('skill'), 'say-hello');
  mkdirSync(dir, { recursive: true });
  writeFileSync(
    path.join(dir, 'SKILL.md'),
    '---\nname: say-hello\ndescription: Writes greetings.\n---\n\n# Say hello\n\nWrite greetings.\n',
  );
  return dir;
}

beforeAll(async () => {
  stack = await startStack({ skillsApi: true, gateway: true });
  const cli = createCli({ GANTRY_URL: serverUrl(), GANTRY_TOKEN: stack.token });
  const workspace = temporaryDir('workspace');
  const dir = path.join(workspace, 'workers/greeter');
  await cli.json(['init', dir]);
  mkdirSync(path.join(workspace, 'contexts/price-list'), { recursive: true });
  writeFileSync(path.join(workspace, 'contexts/price-list/prices.csv'), 'sku,price\n');
  writeFileSync(path.join(workspace, 'alerts.yaml'), '- { on: [run.failed], url: "https://hooks.example.com/x" }\n');
  writeFileSync(path.join(workspace, 'secrets.yaml'), '- CRM_TOKEN\n');
  await cli.json(['apply', workspace]);
  await cli.json(['secrets', 'set', 'SHOP_KEY'], { stdin: 'a-value-of-it' });
  writeFileSync(path.join(dir, 'notes.txt'), 'The second version.\n');
  await cli.json(['deploy', dir, '--worker', 'greeter']);
  const { id: runId } = await cli.json(['run', 'greeter', '-i', 'name=Ada', '--wait']);
  const ask = {
    name: 'Ask',
    files: [{ path: 'main.py', content: 'def run(context):\n    context.approve("Go on?")\n' }],
  };
  await cli.json(['api', 'POST', '/api/workers', '-d', JSON.stringify(ask)]);
  for (let index = 0; index < 3; index++) await cli.json(['run', 'ask']);
  const hooked = {
    ...{ name: 'Hooked', trigger: 'webhook' },
    files: [{ path: 'main.py', content: 'def run():\n    pass\n' }],
  };
  const { webhook_url: url } = await cli.json(['api', 'POST', '/api/workers', '-d', JSON.stringify(hooked)]);
  const webhookUrl = `${serverUrl()}${new URL(url).pathname}${new URL(url).search}`;
  const approvals = await until(async () => {
    const listed: Fixture['approvals'] = await cli.json(['approvals', 'list']);
    return listed.length === 3 && listed;
  });
  const { workspace_id: workspaceId } = await cli.json(['whoami']);
  fixture = { cli, person: createCli(), dir, workspaceId, runId, webhookUrl, approvals };
});
afterAll(() => stack?.stop());

test('every command has a schema here, or a reason to have none', () => {
  const collect = (command: Command, names: string[]): string[] =>
    command.commands.length
      ? command.commands.flatMap((one) => collect(one, [...names, one.name()]))
      : [names.join(' ')];
  const described = [...Object.keys(CASES), ...Object.keys(OTHER_OUTPUT)].sort();
  expect(collect(createProgram(), []).sort()).toEqual(described);
});

test.each(Object.entries(CASES))(
  '%s',
  async (name, { args, schema, own = {}, as = 'cli', stdin, once, isSequence }) => {
    const child = fixture[as].start([...args(fixture), '--json'], { ...(stdin && { stdin: stdin(fixture) }) });
    if (once) {
      let written = '';
      child.stderr.on('data', (chunk) => (written += chunk));
      await until(() => written.includes(once.written));
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
      expect(api.findProblem(object(own), added)).toBeNull();
      const rest = names.length
        ? Object.fromEntries(Object.entries(value as object).filter(([field]) => !names.includes(field)))
        : value;
      expect(api.findProblem(schema, rest)).toBeNull();
    }
  },
);

test('a failure is an error with a code, a hint and the fields that were refused', async () => {
  const failure = object({
    error: {
      type: 'object',
      required: ['message', 'code', 'fields', 'request_id'],
      additionalProperties: false,
      properties: {
        ...{ message: text, hint: text, code: text, request_id: orNull(text) },
        fields: listOf(object({ path: text, message: text })),
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
