/** Tests calling run(), its return values and its errors: the same in both kinds of sandbox. */
import { setupResource } from '@gantry/testing';
import { ISOLATIONS, type RunOptions, startTestSandbox } from '../../test/sandbox-fixture';

describe.each(ISOLATIONS)('run() (isolation: %s)', (isolation) => {
  const fixture = setupResource(
    () => startTestSandbox({}, isolation),
    ({ sandbox }) => sandbox.stop(),
  );

  const runToValue = async (source: string, inputs = {}, options: RunOptions = {}) =>
    (await fixture.run(source, { inputs, ...options })).value;
  /** Evaluates many cases in one run: each line is an expression. */
  const evaluateAll = (expressions: string[], prelude = '') =>
    runToValue(`${prelude}\nimport json\ndef run():\n    return [${expressions.join(', ')}]\n`);

  test.each([
    ['no parameter', 'def run(): return "called"', { a: 1 }, 'called'],
    ['keyword arguments by signature, others left out', 'def run(a, b=5): return [a, b]', { a: 1, c: 3 }, [1, 5]],
    ['keyword-only arguments', 'def run(*, a): return a', { a: 1 }, 1],
    ['positional-only arguments', 'def run(a, b=2, /): return [a, b]', { a: 1 }, [1, 2]],
    ['everything by **', 'def run(a, **rest): return [a, rest]', { a: 1, b: 2 }, [1, { b: 2 }]],
    ['one dict for a lone parameter called payload', 'def run(payload): return payload', { a: 1 }, { a: 1 }],
    ['the input itself where it has that name', 'def run(data): return data', { data: 7 }, 7],
    ['dict and context', 'def run(inputs, context): return [inputs, context.inputs]', { a: 1 }, [{ a: 1 }, { a: 1 }]],
    ['ctx as the context', 'def run(a, ctx): return [a, ctx.run_id]', { a: 1 }, [1, 'run_test']],
    ['an async function', 'import asyncio\nasync def run(a):\n    await asyncio.sleep(0)\n    return a', { a: 1 }, 1],
    [
      'a function defined elsewhere',
      'from functools import partial\nrun = partial(lambda a, b: [a, b], 1)',
      { b: 2 },
      [1, 2],
    ],
    ['an object that can be called', 'class R:\n    def __call__(self, a): return a\nrun = R()', { a: 4 }, 4],
  ])('takes %s', async (_, source, inputs, expected) => {
    expect(await runToValue(source, inputs, { job: { runId: 'run_test' } })).toEqual(expected);
  });

  test('reports every missing input', async () => {
    expect(await runToValue('def run(a, b, c=1): pass', { b: 1 })).toBe('TypeError: run() is missing inputs: a');
  });

  test('errors of a missing package and a missing secret name the fix', async () => {
    expect(await runToValue('import requests_of_nobody\ndef run(): pass')).toBe(
      "ModuleNotFoundError: No module named 'requests_of_nobody': declare the package that has it in python_dependencies",
    );
    expect(await runToValue('import os\ndef run(): return os.environ["API_KEY"]')).toBe(
      "KeyError: 'API_KEY' is not in the environment: declare the secret in secrets_needed (of a worker: in secrets), and set its value",
    );
    expect(await runToValue('def run(): return {}["API_KEY"]')).toBe("KeyError: 'API_KEY'");
  });

  test('must exist', async () => {
    expect(await runToValue('x = 1')).toMatch(/main.py defines no function run\(\)/);
    expect(await runToValue('', {}, { job: { entrypoint: 'other.py' } })).toMatch(/other.py is not a Python file/);
  });

  test('may live in a folder, and import from there and from the root', async () => {
    const files = {
      'src/main.py': 'import beside, above\ndef run(): return [beside.N, above.N, __file__]',
      'src/beside.py': 'N = 1',
      'above.py': 'N = 2',
    };
    const { value } = await fixture.run(files, { job: { entrypoint: 'src/main.py' } });
    expect(value).toEqual([1, 2, '/code/src/main.py']);
  });

  test('is found in a file with the name of a library', async () => {
    const { value } = await fixture.run(
      { 'random.py': 'def run(): return "mine"' },
      { job: { entrypoint: 'random.py' } },
    );
    expect(value).toBe('mine');
  });

  test('returns dates, decimals, UUIDs, sets, dataclasses, enums and what looks like a model', async () => {
    const prelude = `
import datetime, decimal, uuid, dataclasses, enum, pathlib, collections
@dataclasses.dataclass
class Point:
    x: int
    at: datetime.date
class Color(enum.Enum):
    RED = "red"
class Model:
    def model_dump(self, mode): return {"mode": mode}
class Array:
    def tolist(self): return [1, 2]
Pair = collections.namedtuple("Pair", "a b")
`;
    const expressions = [
      'datetime.datetime(2026, 1, 2, 3, 4, 5)',
      'datetime.date(2026, 1, 2)',
      'decimal.Decimal("1.50")',
      'decimal.Decimal("12")',
      'uuid.UUID(int=1)',
      '{3, 1, 2}',
      'Point(1, datetime.date(2026, 1, 2))',
      'Color.RED',
      'Model()',
      'Array()',
      'Pair(1, 2)',
      'pathlib.Path("/tmp/x")',
      'collections.deque([1])',
      '{"k": {1}}.values()',
      '{datetime.date(2026, 1, 2): 1, uuid.UUID(int=2): 2, 3: 4}',
      'datetime.timedelta(minutes=1)',
    ];
    expect(await evaluateAll(expressions, prelude)).toEqual([
      '2026-01-02T03:04:05',
      '2026-01-02',
      1.5,
      12,
      '00000000-0000-0000-0000-000000000001',
      [1, 2, 3],
      { x: 1, at: '2026-01-02' },
      'red',
      { mode: 'json' },
      [1, 2],
      [1, 2],
      '/tmp/x',
      [1],
      [[1]],
      { '2026-01-02': 1, '00000000-0000-0000-0000-000000000002': 2, '3': 4 },
      60,
    ]);
  });

  test.each([
    ['float("nan")', /the return value\['a'\]\[1\] is nan, which JSON cannot represent/],
    ['float("inf")', /is inf/],
    ['10**400', /\['a'\]\[1\] is an integer beyond/],
    ['b"x"', /bytes have no JSON form/],
    ['object()', /object has no JSON form/],
    ['(n for n in [1])', /generator has no JSON form/],
    ['{(1, 2): 3}', /a key of type tuple/],
    ['int', /a class \(int\)/],
  ])('returning %s is a TypeError that says where', async (expression, message) => {
    const found = await runToValue(`def run(): return {"a": [0, ${expression}]}`);
    expect(found).toMatch(/^TypeError/);
    expect(found).toMatch(message);
  });

  test('returning something that contains itself is a TypeError', async () => {
    expect(await runToValue('def run():\n    a = []\n    a.append(a)\n    return a')).toMatch(
      /TypeError: .*contains itself/,
    );
  });

  test('an exception carries its type, its text, and the frames of the user’s files only', async () => {
    const files = {
      'main.py': 'import json, helper\ndef run(): return helper.check({"a": 1})\n',
      'helper.py': 'import json\ndef check(x):\n    return json.loads("{")\n',
    };
    const { outcome } = await fixture.run(files);
    expect(outcome).toMatchObject({ kind: 'raised', type: 'JSONDecodeError', cause: 'exception' });
    const trace = 'trace' in outcome ? outcome.trace : '';
    expect(trace).toMatch(/File "main.py", line 2, in run/);
    expect(trace).toMatch(/File "helper.py", line 3, in check/);
    expect(trace).not.toMatch(/_gantry|decoder.py/);
  });

  test('a syntax error names file and line', async () => {
    expect(await runToValue('def run(:\n  pass')).toMatch(/SyntaxError: .*main.py, line 1/);
  });

  test('sys.exit() is reported as a failure', async () => {
    expect(await runToValue('import sys\ndef run(): sys.exit(3)')).toBe(
      'SystemExit: the code ended itself with sys.exit(3)',
    );
  });

  test('running out of memory is distinguished from an ordinary exception', async () => {
    const { outcome } = await fixture.run('def run(): return len(bytearray(1 << 30))', { memoryBytes: 256 << 20 });
    expect(outcome).toMatchObject({ kind: 'raised', cause: 'memory' });
  });

  test('print, logging and context.log become log lines with their levels', async () => {
    const source = `
import logging, sys
from gantry import context
logging.basicConfig(level=logging.DEBUG)
def run():
    print("out")
    print("err", file=sys.stderr)
    logging.debug("fine")
    logging.getLogger("lib").error("bad %s", 1)
    context.log("mine", level="warning", count=3)
`;
    const { stdout, stderr, logs } = await fixture.run(source);
    expect([stdout, stderr]).toEqual(['out\n', 'err\n']);
    expect(logs).toEqual([
      { level: 'debug', text: 'fine', fields: undefined },
      { level: 'error', text: 'bad 1', fields: { logger: 'lib' } },
      { level: 'warning', text: 'mine', fields: { count: 3 } },
    ]);
  });

  test('secrets are in the environment and context.secrets; an undeclared one raises a helpful error', async () => {
    const source = `
import os
def run(context):
    try:
        context.secrets["OTHER"]
    except KeyError as error:
        return [os.environ["TOKEN"], context.secrets["TOKEN"], list(context.secrets), str(error)]
`;
    const found = await runToValue(source, {}, { job: { env: { TOKEN: 's3cr3t' } } });
    expect(found).toEqual(['s3cr3t', 's3cr3t', ['TOKEN'], expect.stringMatching(/declare it in secrets_needed/)]);
  });

  test('context describes the run, and has exactly the documented members', async () => {
    const source = `
from gantry import context as imported
def run(context):
    names = sorted(name for name in dir(context) if not name.startswith("_"))
    return [context is imported, context.run_id, context.workspace_id, context.attempt, names]
`;
    const found = await runToValue(source, {}, { job: { runId: 'run_1', workspaceId: 'ws_1', attempt: 2 } });
    const names = [
      ...[
        'approve',
        'artifact',
        'attempt',
        'call',
        'connections',
        'cost',
        'inputs',
        'log',
        'model',
        'progress',
        'run_id',
      ],
      ...['secrets', 'sleep', 'step', 'tools', 'workspace_id'],
    ];
    expect(found).toEqual([true, 'run_1', 'ws_1', 2, names]);
  });

  test('undeclared connections and tools are empty, and their errors say how to declare one', async () => {
    const source = `
def run(context):
    seen = [len(context.connections), list(context.tools)]
    for mapping in (context.connections, context.tools):
        try:
            mapping["github"]
        except KeyError as error:
            seen.append(str(error))
    return seen
`;
    const message = expect.stringMatching(/'github'.*: the worker must declare its connection/);
    expect(await runToValue(source)).toEqual([0, [], message, message]);
  });

  test('threads, subprocesses, temporary files and https support work', async () => {
    const source = `
import concurrent.futures, ssl, subprocess, tempfile, sqlite3, os
def run():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        squares = list(pool.map(lambda n: n * n, range(4)))
    shell = subprocess.run(["sh", "-c", "echo hi"], capture_output=True, text=True).stdout
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("x")
    trusted = len(ssl.create_default_context().get_ca_certs()) > 0
    return [squares, shell, trusted, sqlite3.connect(":memory:").execute("select 1").fetchone()[0], os.cpu_count() > 0]
`;
    expect(await runToValue(source)).toEqual([[0, 1, 4, 9], 'hi\n', true, 1, true]);
  });

  test('the size of /tmp is set by the job', async () => {
    const source = 'import os\ndef run(): return os.statvfs("/tmp").f_blocks * os.statvfs("/tmp").f_bsize';
    expect(await runToValue(source, {}, { spec: { tmpBytes: 8 << 20 } })).toBe(8 << 20);
  });
});
