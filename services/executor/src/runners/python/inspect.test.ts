import { inspectReply, request, runSubjects } from '@gantry/events';
import { setupTestExecutor } from '../../test/executor-fixture';

const fixture = setupTestExecutor({ slots: 1 });

async function inspect(files: Record<string, string> | string, entrypoint = 'main.py') {
  const { service, bus } = fixture;
  return request(bus, runSubjects.inspect, { code: await service.uploadCode(files), entrypoint }, inspectReply, 60_000);
}

test.each([
  ['def run(a, b=1, *args, c, **rest): pass', ['a', 'b', 'c']],
  ['async def run(x, /, y): pass', ['x', 'y']],
  ['def helper(): pass\nrun = helper', []],
  ['from other import run', []],
  ['from other import go as run', []],
  ['run: object = print', []],
  ['try:\n    import fast\nexcept ImportError:\n    def run(n): pass', ['n']],
])('finds run() and its parameters in %j', async (source, parameters) => {
  expect(await inspect(source)).toMatchObject({ ok: true, parameters });
});

test('lists imports that are not part of the code, and the secrets that are read', async () => {
  const source = `
import os, json, helper.more, yaml
import requests as http
from PIL import Image
from . import near
from gantry import context
try:
    import orjson
except ImportError:
    orjson = None
def run():
    import pandas
    return os.environ["API_KEY"], context.secrets["TOKEN"], os.environ.get("MAYBE"), os.environ["PATH"]
`;
  expect(await inspect({ 'main.py': source, 'helper/more.py': '' })).toMatchObject({
    imports: ['PIL', 'pandas', 'requests', 'yaml'],
    secrets: ['API_KEY', 'TOKEN'],
  });
});

test.each([
  ['x = 1', 'no_run', /defines no function run\(\)/],
  ['def outer():\n    def run(): pass', 'no_run', /run\(\)/],
  ['class A:\n    def run(self): pass', 'no_run', /run\(\)/],
  ['run = 5', 'no_run', /must be a function/],
  ['def run(): pass\nrun = {}', 'no_run', /must be a function/],
  ['run: int = 5', 'no_run', /must be a function/],
  ['class run:\n    pass', 'no_run', /must be a function/],
  ['import os as run', 'no_run', /must be a function/],
  ['def run(:\n    pass', 'syntax_error', /main.py, line 1, column \d+: invalid syntax/],
  ['def run():\n  x\n    y', 'syntax_error', /line 3.*indent/],
  [`x = ${'('.repeat(500)}`, 'syntax_error', /main.py/],
])('%j is refused as %s', async (source, code, message) => {
  expect(await inspect(source)).toEqual({ ok: false, problem: { code, message: expect.stringMatching(message) } });
});

test.each([
  ['project', '[project]\ndependencies = ["a>=1", "b"]', { dependencies: ['a>=1', 'b'] }],
  ['project', '[project]\nname = "x"', { dependencies: null }],
  ['script', 'dependencies = ["a"]\nrequires-python = ">=3.11"', { dependencies: ['a'] }],
  ['script', 'dependencies = [1]', { problem: 'dependencies must be a list of texts', line: null }],
  [
    'script',
    '\n[tool.uv]\nindex-url = "https://evil.test"',
    { problem: expect.stringMatching(/index-url/), line: null },
  ],
  ['script', 'a = 1\n= 2', { problem: expect.stringMatching(/^is not TOML/), line: 2 }],
  ['script', `a = ${'['.repeat(30_000)}`, { problem: expect.stringMatching(/^is not TOML/), line: null }],
  ['script', `a = ${'9'.repeat(60_000)}`, { problem: expect.stringMatching(/^is not TOML/), line: null }],
] as const)('the packages of a TOML document (%s) are listed, or its problem (%#)', async (kind, text, toml) => {
  const reply = await request(
    fixture.bus,
    runSubjects.inspect,
    { entrypoint: '', toml: { kind, text } },
    inspectReply,
    60_000,
  );
  expect(reply).toEqual({ ok: !('problem' in toml), toml });
});

test('a draft is sent inside the message, and all its problems are returned with their positions', async () => {
  const inspectDraft = (sources: Record<string, string>, modules: string[] = []) => {
    const draft = { sources: Object.entries(sources).map(([path, text]) => ({ path, text })), modules };
    return request(fixture.bus, runSubjects.inspect, { entrypoint: 'main.py', draft }, inspectReply, 60_000);
  };
  const source = 'import os, helper, requests\n\ndef run(a, *, né):\n    x = "é", os.environ["KEY"]\n    return x\n';
  expect(await inspectDraft({ 'main.py': source }, ['helper'])).toEqual({
    ok: true,
    problems: [],
    parameters: ['a', 'né'],
    imports: ['requests'],
    secrets: ['KEY'],
    places: [
      { kind: 'parameter', name: 'a', line: 3, column: 9 },
      { kind: 'parameter', name: 'né', line: 3, column: 15 },
      { kind: 'import', name: 'requests', line: 1, column: 20 },
      { kind: 'secret', name: 'KEY', line: 4, column: 25 },
    ],
  });
  expect(await inspectDraft({ 'main.py': 'x = (', 'lib/more.py': 'def f(:\n  pass' })).toMatchObject({
    ok: false,
    problems: [
      { code: 'syntax_error', path: 'main.py', line: 1, column: 5, message: expect.stringContaining('never closed') },
      { code: 'syntax_error', path: 'lib/more.py', line: 1 },
    ],
  });
  expect((await inspectDraft({ 'main.py': 'run = 5' })).problems).toMatchObject([{ code: 'no_run', line: null }]);
});

test('a file that exceeds the memory or time limit of the parser is rejected', async () => {
  const { service, bus } = fixture;
  const code = await service.uploadCode(`def run(): pass\n${'x=1\n'.repeat(1_000_000)}`);
  // The limit that is met first depends on the machine.
  const reply = await request(bus, runSubjects.inspect, { code, entrypoint: 'main.py' }, inspectReply, 30_000);
  expect(reply).toMatchObject({
    ok: false,
    problem: { message: expect.stringMatching(/^main.py(: MemoryError| could not)/) },
  });
});

test('nothing is executed, however it is written', async () => {
  const { service } = fixture;
  const source = `import urllib.request\nurllib.request.urlopen("${service.buildUrl('ran')}")\nraise SystemExit\ndef run(): pass`;
  expect(await inspect(source)).toMatchObject({ ok: true, parameters: [] });
  expect(service.requestsToStore.filter((line) => line.includes('ran'))).toEqual([]);
});

test('a missing entrypoint, a bad zip and code that can’t be downloaded are distinguished', async () => {
  const { service, bus } = fixture;
  expect((await inspect('x', 'other.py')).problem).toMatchObject({
    code: 'unreadable',
    message: 'other.py: No such file or directory',
  });
  const code = { digest: '3'.repeat(64), url: service.buildUrl('nowhere'), size: 10 };
  const reply = await request(bus, runSubjects.inspect, { code, entrypoint: 'main.py' }, inspectReply, 60_000);
  expect(reply.problem?.code).toBe('unavailable');
});

test('the first run of inspected code downloads nothing', async () => {
  const { service, bus } = fixture;
  const code = await service.uploadCode('def run(): return "warm"');
  await request(bus, runSubjects.inspect, { code, entrypoint: 'main.py' }, inspectReply, 60_000);
  const before = service.requestsToStore.length;
  expect((await service.waitForFinished(service.enqueue(code))).finished.output).toBe('warm');
  expect(service.requestsToStore).toHaveLength(before);
});
