/** Runs of the platform, run again on the machine of a person. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { createTemporaryDir, waitUntil } from '@gantry/testing';
import { setupPlatformCli } from './test/run-cli';

const CODE = `
def load():
    print("loading")
    return "x" * 10_000
def refuse():
    print("refusing")
    raise ValueError("not today")
def run(amount, doc=None, context=None):
    loaded = context.step("load", load)
    try:
        context.step("refuse", refuse)
    except ValueError as error:
        caught = str(error)
    decision = context.approve("Pay?", form=["note"])
    prices = open("contexts/prices/list.txt").read()
    size = len(context.secrets["API_KEY"])
    print("stopped here") # breakpoint()
    return {"loaded": len(loaded), "caught": caught, "note": decision["data"]["note"], "prices": prices,
            "secret": size, "share": 100 / (amount - 3)}
`;

const { stack, cli } = setupPlatformCli();
let runId: string;

beforeAll(async () => {
  const call = (method: string, url: string, body: object) =>
    cli.json(['api', method, url, '-d', '@-'], { stdin: JSON.stringify(body) });
  await call('POST', '/api/contexts', { name: 'prices', files: [{ path: 'list.txt', content: 'A1,12' }] });
  await cli.json(['secrets', 'set', 'API_KEY'], { stdin: 'the-value-on-the-platform' });
  await call('POST', '/api/workers', {
    name: 'Pay',
    secrets: ['API_KEY'],
    contexts: ['prices'],
    inputs: [
      { name: 'amount', type: 'integer', required: true },
      { name: 'doc', type: 'file' },
    ],
    files: [{ path: 'main.py', content: CODE }],
  });
  ({ run_id: runId } = await cli.json(['run', 'pay', '-i', 'amount=3']));
  const [approval] = await waitUntil(async () => {
    const pending = await cli.json(['approvals', 'list']);
    return pending.length > 0 && pending;
  });
  await cli.json(['approvals', 'approve', approval.id, '--data', '{"note": "fine"}']);
  await waitUntil(async () => (await cli.json(['runs', 'get', runId])).status === 'failed');
  // The code of today is another one.
  await call('PATCH', '/api/workers/pay', { files: [{ path: 'main.py', content: 'def run():\n    pass\n' }] });
});

test('the code runs with its inputs and contexts, gets its recorded responses, and runs again after a save', async () => {
  const cwd = createTemporaryDir('debug');
  const started = cli.start(['debug', runId, '--json'], { cwd, env: { API_KEY: 'local' } });
  const written = { stdout: '', stderr: '' };
  started.stdout.on('data', (chunk) => (written.stdout += chunk));
  started.stderr.on('data', (chunk) => (written.stderr += chunk));
  await waitUntil(() => written.stderr.includes('waiting for changes') && written.stdout.endsWith('\n'));
  expect(JSON.parse(written.stdout)).toMatchObject({ status: 'failed', error_type: 'ZeroDivisionError' });
  const file = path.join(cwd, runId, 'workers/pay/main.py');
  expect(readFileSync(file, 'utf8')).toBe(CODE);
  writeFileSync(file, CODE.replace('amount - 3', 'amount - 2'));
  await waitUntil(() => written.stdout.includes('completed'));
  started.kill('SIGINT');
  expect(await started.finished).toMatchObject({ code: 0 });
  expect(JSON.parse(written.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    output: { loaded: 10_000, caught: 'not today', note: 'fine', prices: 'A1,12', secret: 5, share: 100 },
    steps: [{ name: 'load' }, { name: 'refuse' }, { kind: 'approve', name: 'Pay?' }],
  });
  expect(written.stderr).toContain('stopped here');
  for (const line of ['loading', 'refusing', 'waiting for approval']) expect(written.stderr).not.toContain(line);
  expect(written.stdout + written.stderr).not.toContain('the-value-on-the-platform');

  // Changed files stay, other inputs replace those of the run, and steps can run again.
  const args = ['debug', runId, '--once', '--steps', '1', '-i', 'amount=4', '--yes', '--json'];
  const again = await cli.run(args, { cwd, env: { API_KEY: 'local' } });
  expect(again.stderr).toContain('running the existing');
  expect(again.stderr).not.toMatch(/^loading$/m);
  expect(again.stderr).toMatch(/^refusing$/m);
  expect(again).toMatchObject({ code: 1, stdout: expect.stringContaining('KeyError') });
});

test('a secret without a value is named, and a run that the caller does not see is not there', async () => {
  const cwd = createTemporaryDir('debug');
  expect(await cli.run(['debug', runId, '--once'], { cwd })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('secrets without a value: API_KEY'),
  });
  expect(await cli.run(['debug', 'run_missing', '--once'], { cwd })).toMatchObject({ code: 1, stdout: '' });
});

test('breakpoint() stops the code at the terminal, and a secret is asked for', async () => {
  const cwd = createTemporaryDir('debug');
  await cli.run(['debug', runId, '--once'], { cwd });
  const file = path.join(cwd, runId, 'workers/pay/main.py');
  writeFileSync(file, CODE.replace('print("stopped here") # ', ''));
  const keys = [
    ['Value of API_KEY', 'typed\r'],
    ['(Pdb)', 'p size * 1000 + amount\n'],
    ['5003', 'amount = 4\n'],
    ['(Pdb)', 'c\n'],
  ];
  const argv = [path.join(__dirname, 'test/terminal.py'), JSON.stringify(keys), process.execPath];
  const command = [path.resolve(__dirname, '../dist/gantry.mjs'), 'debug', runId, '--once'];
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: cli.home, TERM: 'xterm', GANTRY_URL: stack.workerUrls[0], GANTRY_TOKEN: stack.token };
  const { stdout } = await promisify(execFile)('python3', [...argv, ...command], { cwd, env });
  const { code, written } = JSON.parse(stdout);
  expect({ code, written }).toMatchObject({ code: 0, written: expect.stringContaining('"share": 100') });
  expect(written).not.toContain('typed');
});
