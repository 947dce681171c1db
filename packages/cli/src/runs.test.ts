/** Running, watching and deciding, on the built platform with real sandboxes. */
import { createTemporaryDir, waitUntil } from '@gantry/testing';
import { setupPlatformCli } from './test/run-cli';

const ADD = `
def run(a, b, context):
    print("adding", a, b)
    context.log("added", level="warning")
    return {"sum": a + b}
`;
const ASK = `
def run(context):
    answer = context.approve("Really?", form=[{"name": "note", "type": "text"}])
    return {"note": answer["data"]["note"]}
`;
const SECRET = `
import os

def run():
    return {"length": len(os.environ["CRM_TOKEN"])}
`;

async function createWorker(body: object) {
  await cli.json(['api', 'POST', '/api/workers', '-d', '@-'], { stdin: JSON.stringify(body) });
}
const files = (content: string) => [{ path: 'main.py', content }];

const { cli } = setupPlatformCli();
beforeAll(async () => {
  const numbers = ['a', 'b'].map((name) => ({ name, type: 'integer', required: true }));
  await createWorker({ name: 'Add', inputs: numbers, files: files(ADD) });
  await createWorker({ name: 'Ask', files: files(ASK) });
  await createWorker({ name: 'Break', files: files('def run():\n    return 1 / 0\n') });
  await createWorker({
    name: 'Slow',
    files: files('import time\n\ndef run():\n    print("begun", flush=True)\n    time.sleep(60)\n'),
  });
  await createWorker({ name: 'Keep', secrets: ['CRM_TOKEN'], files: files(SECRET) });
});

test('a run that is waited for shows its log on stderr, and its output alone on stdout', async () => {
  const { code, stdout, stderr } = await cli.run(['run', 'add', '-i', 'a=40', '-i', 'b=2', '--wait']);
  expect({ code, output: JSON.parse(stdout) }).toEqual({ code: 0, output: { sum: 42 } });
  expect(stderr).toContain('adding 40 2');
});

test('inputs come from stdin as JSON, and single ones win over them', async () => {
  const run = await cli.json(['run', 'add', '-d', '@-', '-i', 'b=2', '--wait'], { stdin: '{"a": 1, "b": 1}' });
  expect(run).toMatchObject({ status: 'completed', input: { a: 1, b: 2 }, output: { sum: 3 } });
});

test('a run that fails ends with 1 and says why, and wrong inputs name the field', async () => {
  const failed = await cli.run(['run', 'break', '--wait']);
  expect(failed).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('ZeroDivisionError: division by zero'),
  });
  const refused = await cli.run(['run', 'add', '-i', 'a=one', '-i', 'b=2']);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/inputs\.a: /) });
  const { stderr } = await cli.run(['run', 'add']);
  expect(stderr.match(/inputs\.[ab]: is required/g)).toHaveLength(2);
  expect(await cli.run(['run', 'missing'])).toMatchObject({ code: 1, stdout: '' });
});

test('a stack trace is shown line by line', async () => {
  const { run_id: runId } = await cli.json(['run', 'break']);
  await waitUntil(async () => (await cli.json(['runs', 'get', runId])).status === 'failed');
  const { stdout } = await cli.run(['runs', 'get', runId]);
  expect(stdout).toMatch(/Error +ZeroDivisionError: division by zero\n/);
  expect(stdout).toMatch(/File "main\.py", line 2, in run\n +return 1 \/ 0\n/);
});

test('a log is printed, filtered, and followed as lines of JSON', async () => {
  const { run_id: runId } = await cli.json(['run', 'add', '-i', 'a=1', '-i', 'b=1']);
  const { code, stdout } = await cli.run(['logs', '-f', runId, '--json']);
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(code).toBe(0);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'completed' });
  expect(events).toContainEqual(expect.objectContaining({ type: 'log', text: 'adding 1 1' }));
  const warnings = await cli.run(['logs', 'add', '--level', 'warning']);
  expect(warnings.stdout).toContain('added');
  expect(warnings.stdout).not.toContain('adding');
  const followed = await cli.run(['logs', '-f', runId, '--level', 'warning']);
  expect(followed.stdout).toBe('added\n');
  expect(await cli.run(['logs', runId, '--level', 'loud'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('debug, info, warning, error'),
  });
});

test('runs are listed, shown, replayed and cancelled', async () => {
  const started = await cli.json(['run', 'add', '-i', 'a=1', '-i', 'b=5', '--wait']);
  const [newest] = await cli.json(['runs', 'list', '--worker', 'add', '--limit', '1', '--fields', 'id,status']);
  expect(newest).toEqual({ id: started.id, status: 'completed' });
  const replayed = await cli.json(['runs', 'replay', started.id, '--wait']);
  expect(replayed).toMatchObject({ parent_run_id: started.id, output: { sum: 6 } });
  expect((await cli.run(['runs', 'get', replayed.id])).stdout).toContain('{"sum":6}');

  const { run_id: slow } = await cli.json(['run', 'slow']);
  await cli.run(['runs', 'cancel', slow]);
  const { code, stderr } = await cli.run(['logs', '-f', slow]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(await cli.json(['runs', 'get', slow])).toMatchObject({ status: 'cancelled' });
});

test('Ctrl-C without a terminal leaves the run running, and says how to follow it', async () => {
  const waiting = cli.start(['run', 'slow', '--wait']);
  let written = '';
  waiting.stderr.on('data', (chunk) => (written += chunk));
  await waitUntil(() => written.includes('begun'));
  waiting.kill('SIGINT');
  const { code, stderr } = await waiting.finished;
  const [runId = ''] = /run_[\w-]+/.exec(stderr) ?? [];
  expect(code).toBe(2);
  expect(stderr).toContain(`gantry logs -f ${runId}`);
  expect(await cli.json(['runs', 'get', runId])).toMatchObject({ status: 'running' });
  await cli.run(['runs', 'cancel', runId]);
});

test('an approval is listed and given, and the run goes on', async () => {
  const waiting = cli.start(['run', 'ask', '--wait', '--json']);
  const [approval] = await waitUntil(async () => {
    const pending = await cli.json(['approvals', 'list']);
    return pending.length > 0 && pending;
  });
  expect(approval).toMatchObject({ title: 'Really?', worker_id: 'ask' });
  await cli.json(['approvals', 'approve', approval.id, '--data', '{"note":"fine"}', '--reason', 'checked']);
  const { code, stdout, stderr } = await waiting.finished;
  expect(code).toBe(0);
  expect(JSON.parse(stdout).output).toEqual({ note: 'fine' });
  expect(stderr).toContain(`waiting for approval: Really?  (gantry approvals approve ${approval.id})`);
});

test('a rejected run ends with 1', async () => {
  const waiting = cli.start(['run', 'ask', '--wait']);
  let written = '';
  waiting.stderr.on('data', (chunk) => (written += chunk));
  const runId = await waitUntil(() => written.includes('waiting for approval') && /run_[\w-]+/.exec(written)?.[0]);
  await cli.json(['approvals', 'reject', runId, '--reason', 'too expensive']);
  expect(await waiting.finished).toMatchObject({ code: 1, stderr: expect.stringContaining('too expensive') });
});

test('a secret is read from stdin, used, never shown, and deleted with a confirmation', async () => {
  const missing = await cli.run(['run', 'keep', '--wait']);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('CRM_TOKEN') });
  expect(missing.stderr).toContain('gantry secrets set');
  const set = await cli.run(['secrets', 'set', 'CRM_TOKEN'], { stdin: 'open-sesame\n' });
  expect(set).toMatchObject({ code: 0, stdout: expect.stringContaining('CRM_TOKEN') });
  expect(await cli.json(['run', 'keep', '--wait'])).toMatchObject({ output: { length: 11 } });
  const listed = await cli.run(['secrets', 'list']);
  expect(listed.stdout).toContain('CRM_TOKEN');
  expect(`${set.stdout}${listed.stdout}`).not.toContain('open-sesame');
  for (const words of [['CRM_TOKEN', 'open-sesame'], ['CRM_TOKEN=open-sesame']]) {
    const { code, stdout, stderr } = await cli.run(['secrets', 'set', ...words], { stdin: 'other' });
    expect({ code, shown: `${stdout}${stderr}`.includes('open-sesame') }).toEqual({ code: 2, shown: false });
  }
  expect(await cli.run(['secrets', 'delete', 'CRM_TOKEN', '--force'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  });
  expect(await cli.json(['secrets', 'delete', 'CRM_TOKEN', '--force', '--yes'])).toEqual({
    name: 'CRM_TOKEN',
    deleted: true,
  });
  expect(await cli.json(['secrets', 'list'])).toEqual([]);
});

test('workers are listed and shown', async () => {
  const listed = await cli.json(['workers', 'list', '--search', 'add', '--fields', 'id,trigger_type']);
  expect(listed).toEqual([{ id: 'add', trigger_type: 'manual' }]);
  expect((await cli.run(['workers', 'get', 'add'])).stdout).toContain('a: integer, b: integer');
  const page = await cli.json(['open', 'add'], { cwd: createTemporaryDir('anywhere') });
  expect(page.url).toMatch(/\/workers\/add$/);
});
