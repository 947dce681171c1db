/** Each example with its own inputs, in a plain Python: what the sandbox adds is tested with the executor. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const ROOT = path.resolve(__dirname, '../../..');
const EXAMPLES = path.join(ROOT, 'examples');
/** Limit of one start of an example; most take less than a second. */
const HANG_MS = 120_000;
const folders = readdirSync(EXAMPLES, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() && existsSync(path.join(EXAMPLES, entry.name, 'manifest.json')) ? [entry.name] : [],
);

const scratch = mkdtempSync(path.join(os.tmpdir(), 'gantry-examples-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Manifest {
  name: string;
  description: string;
  inputs: { name: string; default?: unknown }[];
  outputs: { name: string; type: string }[];
  secrets_needed: string[];
  python_dependencies: string[];
}

const readJson = (folder: string, file: string) => JSON.parse(readFileSync(path.join(EXAMPLES, folder, file), 'utf8'));
const readManifest = (folder: string): Manifest => readJson(folder, 'manifest.json');

/** A file output. */
interface KeptFile {
  artifact: string;
}

interface Outcome {
  outputs: Record<string, unknown>;
  log: string;
  artifacts: string;
}

/** Not execFileSync: a server of this very process may have to answer. */
async function runExample(
  folder: string,
  inputs: unknown = readJson(folder, 'inputs.json'),
  env = {},
): Promise<Outcome> {
  const temporary = mkdtempSync(path.join(scratch, `${folder}-`));
  const file = path.join(temporary, 'inputs.json');
  const artifacts = path.join(temporary, 'artifacts');
  writeFileSync(file, JSON.stringify(inputs));
  const { stdout, stderr } = await promisify(execFile)(
    'python3',
    ['-B', path.join(EXAMPLES, 'try_locally.py'), folder, file, '--artifacts', artifacts],
    { env: { PATH: process.env.PATH, TMPDIR: temporary, LANG: 'C.UTF-8', ...env }, timeout: HANG_MS },
  );
  return { outputs: JSON.parse(stdout), log: stderr, artifacts };
}

const expectDeclaredOutputs = (folder: string, outputs: Record<string, unknown>) =>
  expect(Object.keys(outputs).sort()).toEqual(
    readManifest(folder)
      .outputs.map(({ name }) => name)
      .sort(),
  );

test('there are four examples, each with everything that the guide promises', () => {
  expect(folders).toEqual(['chart', 'csv-report', 'invoice-totals', 'page-check']);
  for (const folder of folders) {
    for (const file of ['manifest.json', 'main.py', 'inputs.json', 'README.md']) {
      expect([folder, file, existsSync(path.join(EXAMPLES, folder, file))]).toEqual([folder, file, true]);
    }
    const manifest = readManifest(folder);
    expect(manifest).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    const known = manifest.inputs.map(({ name }) => name);
    for (const name of Object.keys(readJson(folder, 'inputs.json'))) expect(known).toContain(name);
  }
});

test.each(folders)('%s: run() takes the inputs that its manifest declares, and the context', (folder) => {
  const program =
    'import ast,sys\nt=ast.parse(open(sys.argv[1]).read())\n' +
    'r=[n for n in t.body if isinstance(n,ast.FunctionDef) and n.name=="run"][0]\nprint(*[a.arg for a in r.args.args])';
  const found = execFileSync('python3', ['-c', program, path.join(EXAMPLES, folder, 'main.py')], { encoding: 'utf8' });
  const declared = readManifest(folder).inputs.map(({ name }) => name);
  expect(found.trim().split(' ').sort()).toEqual([...declared, 'context'].sort());
});

test('csv-report adds up the sample of its package without inputs', async () => {
  const { outputs, log } = await runExample('csv-report', {});
  expectDeclaredOutputs('csv-report', outputs);
  expect(outputs).toMatchObject({ total: 2734.4, rows_read: 12, rows_skipped: 1 });
  expect(outputs.groups).toContainEqual(
    expect.objectContaining({ group: 'South', rows: 2, total: 459.9, average: 229.95, largest: 420 }),
  );
  expect(outputs.summary).toContain('**2,734.40** in `amount`');
  expect(log).toContain("line 11: '' is not a number");
  expect(log).toContain('[100%] done');
});

test('csv-report reads an uploaded file, also from a spreadsheet that writes semicolons and a byte order mark', async () => {
  const file = path.join(scratch, 'upload.csv');
  writeFileSync(file, '\uFEFFteam;points\nred;2\nblue;5\nred;4\n');
  const { outputs } = await runExample('csv-report', { file, group_by: 'team', value: 'points' });
  expect(outputs).toMatchObject({ total: 11, rows_read: 3, rows_skipped: 0 });
});

test('csv-report names the columns that exist when one does not', async () => {
  await expect(runExample('csv-report', { text: 'a,b\n1,2\n' })).rejects.toThrow(
    "there is no column 'region'; the first line names a, b",
  );
});

test('page-check reports fetched and failed pages, and its token is sent only to one host over https', async () => {
  const tokens: unknown[] = [];
  const server = http.createServer((req, res) => {
    tokens.push(req.headers.authorization);
    if (req.url === '/gone') return res.writeHead(404).end();
    if (req.url === '/moved') return res.writeHead(302, { Location: '/' }).end();
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.end('<html><head><title>A  small\npage &amp; more</title></head><svg><title>no</title></svg></html>');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const at = (where: string) => `http://127.0.0.1:${port}${where}`;
  try {
    const { outputs, log } = await runExample(
      'page-check',
      { urls: `${at('/')}\n${at('/moved')}\n${at('/gone')}\nhttp://127.0.0.1:1/\n${at('/')}`, token_host: '127.0.0.1' },
      { PAGE_TOKEN: 'abcdef' },
    );
    expectDeclaredOutputs('page-check', outputs);
    expect(outputs).toMatchObject({
      failing: 2,
      pages: [
        { url: at('/'), status: 200, title: 'A small page & more', problem: null, certificate_days: null },
        { url: at('/moved'), status: 200, problem: null },
        { url: at('/gone'), status: 404, problem: '404 Not Found' },
        { url: 'http://127.0.0.1:1/', status: null, problem: expect.stringContaining('refused') },
      ],
    });
    expect(outputs.slowest_ms).toBeGreaterThan(0);
    expect(log).toContain('4 of 4');
    expect(new Set(tokens)).toEqual(new Set([undefined]));
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('page-check refuses an invalid address before it fetches anything', async () => {
  await expect(runExample('page-check', { urls: 'file:///etc/passwd' })).rejects.toThrow('is not a web address');
});

test.each(['bar', 'line'])(
  'chart draws a %s chart as a PNG of the announced size, and keeps the points',
  async (kind) => {
    const { outputs, artifacts } = await runExample('chart', { ...readJson('chart', 'inputs.json'), kind });
    expectDeclaredOutputs('chart', outputs);
    expect(outputs).toMatchObject({ largest: 1140, average: 807.43 });
    const image = readFileSync(path.join(artifacts, (outputs.chart as KeptFile).artifact));
    expect(image.subarray(0, 8)).toEqual(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
    expect([image.readUInt32BE(16), image.readUInt32BE(20)]).toEqual([960, 480]);
    expect(readFileSync(path.join(artifacts, 'points.csv'), 'utf8')).toContain('Fri,1140');
  },
);

test('chart escapes labels in an SVG, and draws below zero', async () => {
  const inputs = { points: { '<b>&': -5, up: 10 }, format: 'svg', title: '"a" <b>' };
  const { outputs, artifacts } = await runExample('chart', inputs);
  const image = readFileSync(path.join(artifacts, (outputs.chart as KeptFile).artifact), 'utf8');
  expect(image).toContain('&lt;b&gt;&amp;');
  expect(image).not.toContain('<b>');
  await expect(runExample('chart', { points: { a: 'many' } })).rejects.toThrow("the value of 'a' is 'many'");
});

/** As much of python-dateutil as the example calls: the package comes from an index that may be out of reach. */
const DATEUTIL = `
import datetime

def parse(text, dayfirst):
    numeric = ("%d/%m/%Y", "%d.%m.%Y") if dayfirst else ("%m/%d/%Y", "%m.%d.%Y")
    for notation in ("%d %B %Y", "%b %d %Y", *numeric):
        try:
            return datetime.datetime.strptime(text, notation)
        except ValueError:
            pass
    raise ValueError("Unknown string format: " + text)
`;

test('invoice-totals reads dates in any notation and adds up to the cent', async () => {
  const site = path.join(scratch, 'site');
  mkdirSync(path.join(site, 'dateutil'), { recursive: true });
  writeFileSync(path.join(site, 'dateutil/parser.py'), DATEUTIL);
  const { outputs, log } = await runExample('invoice-totals', undefined, { PYTHONPATH: site });
  expectDeclaredOutputs('invoice-totals', outputs);
  expect(outputs).toMatchObject({
    open_total: 2780.8,
    overdue_total: 2780.6,
    overdue: [
      { number: 'A-2', due: '2026-02-13', days_late: 30, amount: 480.5 },
      { number: 'A-3', due: '2026-03-11', days_late: 4, amount: 2300.1 },
    ],
  });
  expect(log).toContain("line 5 is left out: 'soon' is not a date");
});

test('the types describe the context that the sandbox provides', () => {
  const program = `
import ast, json, sys
def methods(file):
    body = [n for n in ast.parse(open(file).read()).body if isinstance(n, ast.ClassDef) and n.name == "Context"][0].body
    names = [n.target.id for n in body if isinstance(n, ast.AnnAssign)]
    calls = {n.name: [[a.arg for a in n.args.args], n.args.kwarg and n.args.kwarg.arg, len(n.args.defaults)]
             for n in body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")}
    return [sorted(names), calls]
print(json.dumps([methods(f) for f in sys.argv[1:]]))`;
  const files = ['services/executor/python/_gantry/context.py', 'examples/gantry.pyi'];
  const [real, typed] = JSON.parse(
    execFileSync('python3', ['-c', program, ...files.map((file) => path.join(ROOT, file))], { encoding: 'utf8' }),
  );
  expect(typed).toEqual(real);
  const beside = readFileSync(path.join(ROOT, 'services/executor/python/gantry/__init__.pyi'), 'utf8');
  expect(readFileSync(path.join(EXAMPLES, 'gantry.pyi'), 'utf8')).toBe(beside);
});

describe('try_locally.py calls code as the platform does', () => {
  function tryLocally(files: Record<string, string>, inputs: object, ...options: string[]) {
    const folder = mkdtempSync(path.join(scratch, 'own-'));
    for (const [name, text] of Object.entries({
      'worker.json': '{}',
      ...files,
      'given.json': JSON.stringify(inputs),
    })) {
      mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
      writeFileSync(path.join(folder, name), text);
    }
    const script = path.join(EXAMPLES, 'try_locally.py');
    const argv = ['-B', script, '.', 'given.json', '--artifacts', path.join(folder, 'kept'), ...options];
    const { error, status, stdout, stderr } = spawnSync('python3', argv, {
      cwd: folder,
      encoding: 'utf8',
      timeout: HANG_MS,
    });
    if (error) throw error;
    return { status, output: status === 0 ? JSON.parse(stdout) : null, log: stderr };
  }

  test.each([
    ['all inputs as one dict', 'def run(payload):\n    return payload', { a: 1 }],
    ['the context as ctx', 'def run(a, ctx):\n    return {"a": ctx.inputs["a"]}', { a: 1 }],
    ['async code', 'async def run(a):\n    return {"a": a}', { a: 1 }],
    ['the context by import', 'from gantry import context\ndef run(**inputs):\n    return context.inputs', { a: 1 }],
    ['what JSON has no type for', 'import decimal\ndef run(a):\n    return {"a": decimal.Decimal(a)}', { a: 1 }],
  ])('%s', (_what, code, inputs) => {
    expect(tryLocally({ 'main.py': code }, inputs)).toMatchObject({ status: 0, output: { a: 1 } });
  });

  test('steps happen once, a sleep takes no time, an approval and a call are answered', () => {
    const code = `import random
def run(context):
    print("begun")
    first = context.step("draw", random.random)
    context.sleep(3600)
    again = context.step("look", lambda: first)
    decided = context.approve("Go on?", form=["note"])
    return {"same": again == first, "by": decided["approved_by"], "called": context.call("other", {"n": 2})}
`;
    const other = { 'other/worker.json': '{}', 'other/main.py': 'def run(n):\n    return n * 2' };
    const { output, log } = tryLocally({ 'main.py': code, ...other }, {}, '--approve');
    expect(output).toEqual({ same: true, by: 'you', called: 4 });
    expect(log.match(/\[step\] draw/g)).toHaveLength(1);
    expect(log).toContain('Go on?');
    expect(tryLocally({ 'main.py': code, ...other }, {}, '--reject')).toMatchObject({ status: 1, output: null });
  });

  test('a failure is shown as the platform shows it', () => {
    const { status, log } = tryLocally({ 'main.py': 'def run(a):\n    return 1 / a' }, { a: 0 });
    expect(status).toBe(1);
    expect(log).toContain('File "main.py", line 2, in run');
    expect(log).toContain('ZeroDivisionError: division by zero');
  });
});
