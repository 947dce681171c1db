/** The same folders on the built platform and on this machine: what comes out must be the same. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDir, waitUntil } from '@gantry/testing';
import { setupPlatformCli } from './test/run-cli';

const { cli } = setupPlatformCli();
const workers = path.join(createTemporaryDir('parity'), 'workers');

interface RunSummary {
  status: string;
  output: unknown;
  error: string | null;
  steps: string[];
  log: string[];
}

async function deploy(name: string, code: string, manifest = ''): Promise<string> {
  const dir = path.join(workers, name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(dir, 'worker.yaml'), `name: ${name}\n${manifest}`);
  writeFileSync(path.join(dir, 'main.py'), code);
  await cli.json(['deploy', dir]);
  return dir;
}

async function runOnPlatform(name: string): Promise<RunSummary> {
  const { run_id: id } = await cli.json(['run', name]);
  const run = await waitUntil(async () => {
    for (const { id: approval } of await cli.json(['approvals', 'list']))
      await cli.run(['approvals', 'approve', approval]);
    const found = await cli.json(['runs', 'get', id]);
    return ['completed', 'failed', 'timed_out'].includes(found.status) && found;
  });
  const { stdout } = await cli.run(['logs', id, '--json']);
  const lines = stdout.split('\n').filter(Boolean);
  const texts = lines.map((line): string => JSON.parse(line).text);
  return {
    status: run.status,
    output: run.output,
    error: run.error,
    steps: run.steps.map(({ kind, name: step }: { kind: string; name: string }) => `${kind} ${step}`),
    // The platform also tells of waits.
    log: texts.filter((text) => text.startsWith('said ')),
  };
}

async function runOnMachine(dir: string): Promise<RunSummary> {
  const { stdout, stderr } = await cli.run(['dev', dir, '--once', '--json', '--yes']);
  const run = JSON.parse(stdout);
  const log = stderr.split('\n').filter((line) => line.startsWith('said '));
  return {
    status: run.status,
    output: run.output,
    error: run.error,
    steps: run.steps.map(({ kind, name: step }: { kind: string; name: string }) => `${kind} ${step}`),
    log,
  };
}

const DURABLE = `
import dataclasses, datetime, decimal, logging, sys
@dataclasses.dataclass
class Price:
    amount: decimal.Decimal
    day: datetime.date
class Strange(Exception):
    pass
def refuse():
    raise Strange("not today")
def run(context):
    price = context.step("price", lambda: Price(decimal.Decimal("1.50"), datetime.date(2026, 1, 2)))
    try:
        context.step("refuse", refuse)
    except Strange as error:
        caught = f"{type(error).__name__}: {error}"
    context.sleep(2)
    decision = context.approve("Go on?")
    try:
        context.call("breaks")
    except Exception as error:
        call = f"{type(error).__name__}: {error}"
    print("said", price["amount"])
    print("said to stderr", file=sys.stderr)
    logging.error("said seriously")
    total = context.call("adds", {"a": 2})["sum"]
    return {"price": price, "caught": caught, "data": decision["data"], "total": total, "set": {1}, "call": call, "tuple": (1, 2)}
`;

test('steps, waits, calls and conversions', async () => {
  await deploy('adds', 'def run(a):\n    return {"sum": a + 1}\n', 'inputs: [{ name: a, type: integer }]\n');
  await deploy('breaks', 'def run():\n    return [][1]\n');
  const dir = await deploy('durable', DURABLE);
  const [platformRun, localRun] = [await runOnPlatform('durable'), await runOnMachine(dir)];
  expect(platformRun.status).toBe('completed');
  expect({ ...localRun, log: [] }).toEqual({ ...platformRun, log: [] });
  expect(localRun.log.sort()).toEqual(platformRun.log.sort());
});

test.each([
  ['an exception', 'def run():\n    return {}["missing"]\n'],
  ['a missing module', 'import no_such_module\ndef run():\n    return 1\n'],
  ['a result that is no JSON', 'def run():\n    return {"at": [object()]}\n'],
  ['NaN', 'def run():\n    return float("nan")\n'],
  ['an exit', 'import sys\ndef run():\n    sys.exit(3)\n'],
  ['a step in a step', 'def run(context):\n    context.step("a", lambda: context.step("b", int))\n'],
  ['a step that is too large', 'def run(context):\n    context.step("a", lambda: "x" * 70000)\n'],
  ['a missing input', 'def run(region):\n    return region\n'],
  [
    'a changed order',
    'import random\ndef run(context):\n    context.step(str(random.random()), int)\n    context.sleep(3)\n',
  ],
  ['a value that is no object', 'def run():\n    return [1, 2]\n'],
])('%s ends in the same way', async (_what, code) => {
  const name = `ends-${code.length}`;
  const dir = await deploy(name, code);
  const normalizeRun = ({ error, ...run }: RunSummary) => ({
    ...run,
    log: [],
    steps: run.steps.length,
    error: error?.replace(/0\.\d+/g, '0.x'),
  });
  const platformRun = await runOnPlatform(name);
  expect(normalizeRun(await runOnMachine(dir))).toEqual(normalizeRun(platformRun));
});
