/** Workers on the machine of their author: the harness of the sandbox, with and without bubblewrap. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { createTemporaryDir, waitUntil } from '@gantry/testing';
import { createCli } from './test/run-cli';

const tmpDir = createTemporaryDir('tmp');
// Without a sign-in.
const cli = createCli({ TMPDIR: tmpDir });

const writeText = (dir: string, file: string, content: string) => {
  mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
  writeFileSync(path.join(dir, file), content);
};

function createWorker(manifest: string, code: string, dir = path.join(createTemporaryDir('local'), 'worker')): string {
  writeText(dir, 'worker.yaml', `name: Local\n${manifest}`);
  writeText(dir, 'main.py', code);
  return dir;
}

const DURABLE = `
import logging, os
def load():
    print("loading")
    return ("a", 1)
def refuse():
    raise ValueError("not today")
def run(doc, context, below=3):
    loaded = context.step("load", load)
    try:
        context.step("refuse", refuse)
    except ValueError as error:
        caught = str(error)
    context.sleep(3600)
    decision = context.approve("Go on?", data={"loaded": loaded}, form=["note"])
    sure = context.approve("Sure?")
    context.progress(0.5, "half")
    context.log("found", level="warning", lines=2)
    logging.error("serious")
    with open("table.csv", "w") as file:
        file.write("a,b")
    context.artifact("hello.txt", b"hello")
    context.cost(0.25, "tokens")
    return {
        "loaded": loaded, "caught": caught, "by": decision["approved_by"], "below": below,
        "doc": open(doc).read(), "table": os.path.abspath("table.csv"), "secret": context.secrets["API_KEY"], "data": sure["data"],
    }
`;
const MANIFEST = `
inputs: [{ name: doc, type: file, required: true }, { name: below, type: integer, default: 7 }]
outputs: [{ name: table, type: file }]
secrets: [API_KEY]
`;

describe.each([
  ['in a sandbox', []],
  ['without one', ['--no-sandbox']],
])('%s', (_where, flags) => {
  const runOnce = (dir: string, args: string[] = []) => cli.run(['dev', dir, '--once', '--json', ...flags, ...args]);

  test('waits, steps, files and logs are those of the platform, and the code starts again from the top', async () => {
    const dir = createWorker(MANIFEST, DURABLE);
    writeText(dir, '.env', 'API_KEY=from-env-file\n');
    const doc = path.join(createTemporaryDir('input'), 'letter.txt');
    writeFileSync(doc, 'Dear Ada');
    const { code, stdout, stderr } = await runOnce(dir, ['-i', `doc=${doc}`, '--yes']);
    expect(stderr).toContain(flags.length ? 'WITHOUT a sandbox' : 'in a bubblewrap sandbox');
    expect(code).toBe(0);
    const artifactsDir = path.join(dir, '.gantry/artifacts');
    expect(JSON.parse(stdout)).toEqual({
      status: 'completed',
      output: {
        loaded: ['a', 1],
        caught: 'not today',
        by: expect.any(String),
        below: 7,
        doc: 'Dear Ada',
        table: { artifact: 'table.csv', artifact_id: 'local_table.csv', content_type: 'text/csv', size: 3 },
        secret: 'from-env-file',
        data: null,
      },
      error: null,
      error_type: null,
      error_trace: null,
      steps: [
        { kind: 'step', name: 'load' },
        { kind: 'step', name: 'refuse' },
        { kind: 'sleep', name: 'sleep' },
        { kind: 'approve', name: 'Go on?' },
        { kind: 'approve', name: 'Sure?' },
      ],
      artifacts: ['hello.txt', 'table.csv'].map((name) => ({ name, path: path.join(artifactsDir, name) })),
      cost_usd: 0.25,
    });
    expect(readFileSync(path.join(artifactsDir, 'hello.txt'), 'utf8')).toBe('hello');
    expect(stderr.match(/^loading$/gm)).toHaveLength(1);
    for (const line of ['50 % half', 'found {"lines":2}', 'serious', 'waiting for approval: Go on?']) {
      expect(stderr).toContain(line);
    }
  });

  test('a failure is shown with the line of the code, and ends with 1', async () => {
    const dir = createWorker('', 'def run():\n    return inner()\n\ndef inner():\n    return {}["missing"]\n');
    const { code, stdout, stderr } = await runOnce(dir);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', error: "'missing'", error_type: 'KeyError' });
    expect(JSON.parse(stdout).error_trace).toContain('"main.py", line 5');
    expect(stderr).toContain('main.py');
  });

  test('code that takes too long, ends itself or reads an undeclared secret fails as on the platform', async () => {
    const late = createWorker('limits: { timeout_seconds: 1 }', 'def run():\n    while True: pass\n');
    expect(JSON.parse((await runOnce(late)).stdout)).toMatchObject({ status: 'timed_out' });
    const gone = createWorker('', 'import os\ndef run():\n    os._exit(3)\n');
    expect(JSON.parse((await runOnce(gone)).stdout).error).toContain('before returning a result');
    const secret = createWorker('', 'def run(context):\n    return context.secrets["API_KEY"]\n');
    expect(JSON.parse((await runOnce(secret)).stdout).error_type).toBe('SecretNotAvailable');
  });

  test('features that only the platform has fail with a message that says so', async () => {
    const code = `
def attempt(call):
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
def run(context):
    return {
        "model": attempt(lambda: context.model("Hello")),
        "tool": attempt(lambda: context.tools["linear"].create_issue(title="x")),
        "connection": attempt(lambda: context.connections["linear"]),
        "call": attempt(lambda: context.call("elsewhere")),
    }
`;
    const dir = createWorker('connections: [linear]', code);
    const { output } = JSON.parse((await runOnce(dir)).stdout);
    expect(output.model).toMatch(/^ModelError: .* locally: only the platform/);
    expect(output.tool).toMatch(/^ToolError: .* locally: only the platform/);
    expect(output.connection).toMatch(/^KeyError: .* locally: only the platform/);
    expect(output.call).toMatch(/^CallFailed: .*is not a worker folder/);
  });

  test('contexts and called workers are those of the workspace that the folder is in', async () => {
    const workspace = createTemporaryDir('workspace');
    writeText(workspace, 'contexts/price-list/prices.csv', 'A1,12');
    writeText(workspace, 'contexts.yaml', 'seen: { writeable: true }\n');
    const code = `
import os
def run(context):
    open("contexts/seen/new.txt", "w").close()
    return {"prices": open(os.environ["CONTEXTS_DIR"] + "/price-list/prices.csv").read(), "sum": context.call("adder", {"a": 1})["sum"]}
`;
    const dir = createWorker('contexts: [price-list, seen]', code, path.join(workspace, 'workers/asker'));
    createWorker(
      'inputs: [{ name: a, type: number }]',
      'def run(a):\n    return {"sum": a + 1}\n',
      path.join(workspace, 'workers/adder'),
    );
    const { stdout, stderr } = await runOnce(dir);
    expect(JSON.parse(stdout).output).toEqual({ prices: 'A1,12', sum: 2 });
    expect(stderr).toContain('context seen was changed; local changes are not saved');
    expect(existsSync(path.join(workspace, 'contexts/seen'))).toBe(false);
    const alone = createWorker('contexts: [price-list]', code);
    expect(await runOnce(alone)).toMatchObject({ code: 1, stderr: expect.stringContaining('contexts/price-list') });
  });
});

test('in a sandbox code cannot write to itself, see other files or reach a network that it must not', async () => {
  const code = `
import os, urllib.request
def run(outside):
    def attempt(call):
        try:
            call()
            return "done"
        except OSError as error:
            return type(error).__name__
    return {
        "write": attempt(lambda: open("/code/new.py", "w")), "see": os.path.exists(outside),
        "network": attempt(lambda: urllib.request.urlopen("http://127.0.0.1:1")), "hidden": os.path.exists("/code/.env"),
        "interfaces": os.listdir("/sys/class/net") if os.path.exists("/sys/class/net") else [],
    }
`;
  const dir = createWorker('network: none\ninputs: [outside]', code);
  writeText(dir, '.env', 'X=1\n');
  const { output } = await cli.json(['dev', dir, '--once', '-i', `outside=${dir}/main.py`]);
  expect(output).toEqual({ write: 'OSError', see: false, network: 'URLError', hidden: false, interfaces: [] });
});

test('where bubblewrap is missing, the code runs without a sandbox, with a warning', async () => {
  const programs = createTemporaryDir('programs');
  const python = execFileSync('python3', ['-c', 'import os, sys; print(os.path.realpath(sys.executable))']);
  symlinkSync(python.toString().trim(), path.join(programs, 'python3'));
  const dir = createWorker('network: none', 'def run():\n    return {"ok": True}\n');
  const { code, stderr } = await cli.run(['dev', dir, '--once'], { env: { PATH: programs } });
  expect(code).toBe(0);
  expect(stderr).toContain('WITHOUT a sandbox: bubblewrap is not installed');
  expect(stderr).toContain('network: none is not enforced');
});

test('missing values are named before the run, with how to provide them', async () => {
  const dir = createWorker(MANIFEST, DURABLE);
  const runForError = async (args: string[], env: Record<string, string> = {}) =>
    (await cli.run(['dev', dir, '--once', ...args], { env })).stderr;
  expect(await runForError([])).toContain('secrets without a value: API_KEY');
  const env = { API_KEY: 'x' };
  expect(await runForError([], env)).toContain('requires doc');
  expect(await runForError(['-i', 'doc=/no/file'], env)).toContain('no such file: /no/file');
  expect(await runForError(['-i', `doc=${dir}/main.py`, '-i', 'below=much'], env)).toContain(
    '"much" is not a whole number',
  );
  expect(await runForError(['-i', 'dock=1'], env)).toContain('has no input dock; inputs: doc, below');
  const waiting = await cli.run(['dev', dir, '--once', '-i', `doc=${dir}/main.py`], { env });
  expect(waiting).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
  const agent = path.join(createTemporaryDir('agent'), 'agent');
  await cli.json(['init', agent, '-t', 'agent']);
  expect(await cli.run(['dev', agent, '--once'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/worker\.yaml:3:1: an agent/),
  });
});

test('a person at the terminal decides, and fills in the form', async () => {
  const code = `
def run(context):
    decision = context.approve("Go on?", message="It costs 3 EUR.", form=[{"name": "note", "type": "text"}, {"name": "count", "type": "integer"}])
    return {"data": decision["data"]}
`;
  const dir = createWorker('', code);
  const [DOWN, ENTER] = ['\u001b[B', '\r'];
  const typeAtTerminal = async (steps: [string, string][]) => {
    const argv = [path.join(__dirname, 'test/terminal.py'), JSON.stringify(steps), process.execPath];
    const command = [path.resolve(__dirname, '../dist/gantry.mjs'), 'dev', dir, '--once'];
    const env = { PATH: process.env.PATH ?? '', HOME: createTemporaryDir('home'), TERM: 'xterm' };
    return JSON.parse((await promisify(execFile)('python3', [...argv, ...command], { env })).stdout);
  };
  const approved = await typeAtTerminal([
    ['Reject and end', ENTER],
    ['note:', `fine${ENTER}`],
    ['count:', `3${ENTER}`],
  ]);
  expect(approved.code).toBe(0);
  expect(approved.written).toContain('It costs 3 EUR.');
  expect(approved.written.replaceAll(/\s/g, '')).toContain('{"data":{"note":"fine","count":3}}');
  const rejected = await typeAtTerminal([['Reject and end', DOWN + ENTER]]);
  expect(rejected).toMatchObject({ code: 1, written: expect.stringContaining('run rejected') });
});

test('a save restarts the code and ends the current run, and Ctrl-C ends everything', async () => {
  const dir = createWorker('', 'def run():\n    return {"said": "first"}\n');
  const started = cli.start(['dev', dir, '--json']);
  let stdout = '';
  started.stdout.on('data', (chunk) => (stdout += chunk));
  let stderr = '';
  started.stderr.on('data', (chunk) => (stderr += chunk));
  await waitUntil(() => stdout.includes('first') && stderr.includes('waiting for changes'));
  writeText(dir, 'worker.yaml', 'name: [\n');
  await waitUntil(() => stderr.includes('worker.yaml:2:1'));
  writeText(dir, 'worker.yaml', 'name: Local\n');
  writeText(dir, 'main.py', 'import time\ndef run():\n    print("hanging")\n    time.sleep(600)\n');
  await waitUntil(() => stderr.includes('hanging'));
  writeText(dir, 'main.py', 'def run():\n    return {"said": "second"}\n');
  await waitUntil(() => stdout.includes('second'));
  started.kill('SIGINT');
  expect(await started.finished).toMatchObject({ code: 0 });
});

test('a save is seen in a file that replaced another one, and in a folder that is new', async () => {
  const dir = createWorker('', 'def run():\n    return {"said": "first"}\n');
  const started = cli.start(['dev', dir, '--json']);
  let stdout = '';
  started.stdout.on('data', (chunk) => (stdout += chunk));
  await waitUntil(() => stdout.includes('first'));
  writeText(dir, '.main.py.new', 'def run():\n    return {"said": "second"}\n');
  renameSync(path.join(dir, '.main.py.new'), path.join(dir, 'main.py'));
  await waitUntil(() => stdout.includes('second'));
  writeText(dir, 'main.py', 'def run():\n    return {"said": "third"}\n');
  await waitUntil(() => stdout.includes('third'));
  writeText(dir, 'lib/words.py', 'WORD = "fourth"\n');
  writeText(dir, 'main.py', 'def run():\n    from lib.words import WORD\n    return {"said": WORD}\n');
  await waitUntil(() => stdout.includes('fourth'));
  writeText(dir, 'lib/words.py', 'WORD = "fifth"\n');
  await waitUntil(() => stdout.includes('fifth'));
  started.kill('SIGINT');
  expect(await started.finished).toMatchObject({ code: 0 });
});

test('a folder that is not there is named, with the next step', async () => {
  const dir = path.join(createTemporaryDir('missing'), 'nowhere');
  expect(await cli.run(['dev', dir])).toMatchObject({ code: 2, stderr: expect.stringContaining('gantry init') });
});

test.each([
  ['SIGHUP', 129],
  ['SIGTERM', 143],
  ['SIGINT', 2],
] as const)('%s, as of a closed terminal, ends the code, and leaves no files', async (signal, code) => {
  const dir = createWorker('', 'import os, time\ndef run():\n    print("process", os.getpid())\n    time.sleep(600)\n');
  const started = cli.start(['dev', dir, '--once', '--no-sandbox']);
  let stderr = '';
  started.stderr.on('data', (chunk) => (stderr += chunk));
  await waitUntil(() => /process \d+\n/.test(stderr));
  const pid = Number(/process (\d+)/.exec(stderr)?.[1]);
  started.kill(signal);
  expect((await started.finished).code).toBe(code);
  await waitUntil(() => !existsSync(`/proc/${pid}`));
  expect(readdirSync(tmpDir)).toEqual([]);
});

test('a run that a save ends at its start leaves no process that delays the next one', async () => {
  const dir = createWorker('', 'def run():\n    return {"said": "first"}\n');
  const started = cli.start(['dev', dir, '--json']);
  let stdout = '';
  started.stdout.on('data', (chunk) => (stdout += chunk));
  await waitUntil(() => stdout.includes('first'));
  for (let ms = 0; ms < 120; ms += 4) {
    writeText(dir, 'main.py', `import time\ndef run():\n    time.sleep(${600 + ms})\n`);
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
  writeText(dir, 'main.py', 'def run():\n    return {"said": "last"}\n');
  await waitUntil(() => stdout.includes('last'));
  started.kill('SIGINT');
  expect(await started.finished).toMatchObject({ code: 0 });
});

/** @returns a folder with a wheel of the package `greetings` */
function createGreetingsWheel(): string {
  const wheels = createTemporaryDir('wheels');
  const wheel = path.join(wheels, 'greetings-1.0-py3-none-any.whl');
  const script = `
import zipfile
with zipfile.ZipFile(${JSON.stringify(wheel)}, "w") as archive:
    archive.writestr("greetings.py", "HELLO = 'hello of a package'\\n")
    archive.writestr("greetings-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: greetings\\nVersion: 1.0\\n")
    archive.writestr("greetings-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    archive.writestr("greetings-1.0.dist-info/RECORD", "")
`;
  execFileSync('python3', ['-c', script]);
  return wheels;
}

test('declared packages are installed once', async () => {
  const wheels = createGreetingsWheel();
  // No other test declares them like this, and would have installed them.
  const dir = createWorker(
    'python_dependencies: ["greetings>=1.0,<2"]',
    'import greetings\ndef run():\n    return greetings.HELLO\n',
  );
  const env = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels };
  const first = await cli.run(['dev', dir, '--once', '--json'], { env });
  expect(first.stderr).toContain('installing greetings>=1.0,<2');
  expect(JSON.parse(first.stdout).output).toEqual({ result: 'hello of a package' });
  const again = await cli.run(['dev', dir, '--once', '--json'], { env: { PIP_NO_INDEX: '1' } });
  expect(again.stderr).not.toContain('installing');
  expect(JSON.parse(again.stdout).output).toEqual({ result: 'hello of a package' });
  writeText(dir, 'worker.yaml', 'name: Local\npython_dependencies: ["unknown-package"]\n');
  expect(await cli.run(['dev', dir, '--once'], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cannot be installed'),
  });
});

test.each([
  ['a requirements.txt', 'requirements.txt', '# What it needs\ngreetings>=1,<2  # for hello\n'],
  ['a pyproject.toml', 'pyproject.toml', '[project]\nname = "w"\ndependencies = ["greetings>=1,<2"]\n'],
  ['a block of the script', 'main.py', '# /// script\n# dependencies = ["greetings>=1,<2"]\n# ///\n'],
])('packages of %s are installed as on the platform', async (_, file, content) => {
  const code = 'import greetings\ndef run():\n    return greetings.HELLO\n';
  const dir = createWorker('', code);
  writeText(dir, file, file === 'main.py' ? content + code : content);
  const env = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: createGreetingsWheel() };
  const { stdout } = await cli.run(['dev', dir, '--once', '--json'], { env });
  expect(JSON.parse(stdout).output).toEqual({ result: 'hello of a package' });
});

test('a requirement that the platform refuses is refused with its line, and one that cannot be had with a command', async () => {
  const dir = createWorker('', 'def run():\n    return 1\n');
  writeText(dir, 'requirements.txt', 'six\n-r other.txt\n');
  expect(await cli.run(['dev', dir, '--once'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('requirements.txt:2: "-r other.txt"'),
  });
  const code = readFileSync(path.join(dir, 'main.py'), 'utf8');
  writeText(dir, 'main.py', `import os\n# /// script\n# dependencies = [\n# six\n# ]\n# ///\n${code}`);
  expect((await cli.run(['dev', dir, '--once'])).stderr).toContain('main.py:4: is not TOML');
  writeText(dir, 'main.py', code);
  writeText(dir, 'requirements.txt', 'nosuchpackage\n');
  expect(await cli.run(['dev', dir, '--once'], { env: { PIP_NO_INDEX: '1' } })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/nosuchpackage cannot be installed.*\n.*-m pip download .*'nosuchpackage'/),
  });
});

describe('gantry test', () => {
  test.each(['minimal', 'cron', 'webhook', 'approval'])('the examples of the template %s pass', async (template) => {
    const dir = path.join(createTemporaryDir('template'), template);
    await cli.json(['init', dir, '-t', template]);
    const { failed, examples } = await cli.json(['test', dir]);
    expect({ failed, problems: examples.flatMap(({ problems }: { problems: string[] }) => problems) }).toEqual({
      failed: 0,
      problems: [],
    });
  });

  test('a difference is named, and ends with 1', async () => {
    const dir = createWorker(
      'inputs: [who]',
      'def run(who):\n    return {"said": f"Hello, {who}", "list": [1, 2.05]}\n',
    );
    writeText(
      dir,
      'examples.yaml',
      `- { name: Same, inputs: { who: Ada }, output: { said: "Hello, Ada", list: [1, 2.05] } }
- { name: Near, inputs: { who: Ada }, checks: [{ kind: equal, path: /list, value: [1, 2], tolerance: 0.1 }] }
- { name: Part, inputs: { who: Ada }, checks: [{ kind: contains, path: /said, value: ADA, ignore_case: true }] }
- { name: Judged, inputs: { who: Ada }, checks: [{ kind: judge, instructions: It is friendly. }] }
- { name: Other, inputs: { who: Ada }, output: { said: "Hello, Ada", list: [1, 3] } }
- { name: More, inputs: { who: Ada }, output: { said: "Hello, Ada" } }
- { name: Lacking, inputs: { who: Ada }, checks: [{ kind: contains, value: { list: [1, 2.05], more: 1 } }] }
- { name: Failing, inputs: { who: Ada }, checks: [{ kind: fails }] }
`,
    );
    const { code, stdout } = await cli.run(['test', dir, '--json']);
    expect(code).toBe(1);
    const { passed, failed, examples } = JSON.parse(stdout);
    expect({ passed, failed }).toEqual({ passed: 4, failed: 4 });
    expect(examples.flatMap(({ problems }: { problems: string[] }) => problems)).toEqual([
      '/list/1 is 2.05, not 3',
      '/list is [1,2.05], but was not expected',
      '/more is missing',
      'the run completed, but was expected to fail',
    ]);
    expect(examples[3].unchecked).toEqual(['judge']);
    const shown = await cli.run(['test', dir, '--only', 'Other']);
    expect(shown).toMatchObject({ code: 1, stderr: expect.stringContaining('failed Other\n  /list/1 is 2.05, not 3') });
  });

  test('examples provide the responses of models, tools, called workers and people, each once', async () => {
    const code = `
def run(context):
    topic = context.model("Which topic?", schema={"type": "object"}).output["topic"]
    text = str(context.model("Say more"))
    issue = context.tools["linear"].create_issue(title=topic)
    return {"topic": topic, "text": text, "issue": issue["id"], "sum": context.call("adder")["sum"], "by": context.approve("Send?")["approved_by"]}
`;
    const dir = createWorker('connections: [linear]', code);
    const responses = `
  models: [{ topic: refunds }, More about refunds]
  tools: { linear.create_issue: [{ id: LIN-1 }] }
  calls: { adder: [{ sum: 3 }] }
`;
    const output = '{ topic: refunds, text: More about refunds, issue: LIN-1, sum: 3, by: ada }';
    writeText(dir, 'examples.yaml', `- approvals: [{ approve: true, by: ada }]${responses}  output: ${output}\n`);
    expect(await cli.json(['test', dir])).toMatchObject({ passed: 1, failed: 0 });
    writeText(dir, 'examples.yaml', `- name: Nobody\n${responses.slice(1)}  output: ${output}\n`);
    expect(await cli.run(['test', dir])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('examples.yaml:1:3: "Send?" needs approval'),
    });
  });

  test.each([
    ['- { name: A, outputs: {} }', '1:14: outputs is not an example field'],
    ['- name: A', '1:3: an example needs an output or checks'],
    ['- checks: [{ kind: same }]', '1:14: kind: expected one of'],
    ['- checks:\n    - { kind: equal }', '2:7: value is missing'],
    ['- output: 1\n  approvals: [yes]', '2:15: expected a decision'],
    ['name: A', '1:1: expected a list of examples'],
  ])('%j is refused with its place', async (content, problem) => {
    const dir = createWorker('', 'def run():\n    return 1\n');
    writeText(dir, 'examples.yaml', content);
    expect(await cli.run(['test', dir])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`examples.yaml:${problem}`),
    });
  });
});

test('a run leaves nothing behind', async () => {
  expect(readdirSync(tmpDir)).toEqual([]);
  // Other suites run workers here too, and theirs end.
  const workDirs = readdirSync('/tmp').filter((name) => name.startsWith('gantry-run-'));
  await waitUntil(() => !workDirs.some((name) => existsSync(`/tmp/${name}`)));
});
