/** Tests runs of workers whose code is already imported, through the whole executor. */
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@gantry/testing';
import { setupTestExecutor } from '../../test/executor-fixture';
import type { JobOverrides, RunView } from '../../test/fake-service';

const fixture = setupTestExecutor({ sources: ['worker'], egressAllowPrivate: ['127.0.0.2'] });

/** Runs this code until a run comes from a warm sandbox. */
const runWarm = (source: string, overrides: JobOverrides = {}): Promise<RunView> =>
  waitUntil(async () => {
    const view = await fixture.service.run(source, overrides);
    const { mode, reason } = view.finished.usage.sandbox ?? {};
    if (reason) throw new Error(reason);
    return mode === 'warm' && view;
  });

test('the first run of a version is reported as fresh; later ones are warm', async () => {
  const source = 'def run(): return "of a version of its own"';
  const first = await fixture.service.run(source);
  expect(first.finished.usage.sandbox).toEqual({ mode: 'fresh' });
  expect((await runWarm(source)).finished).toMatchObject({ status: 'completed', output: 'of a version of its own' });
});

test('each run has its own secrets and inputs, and secrets are masked', async () => {
  const source = `
import os
def run(n):
    print("the value is", os.environ["TOKEN"])
    return [n, len(os.environ["TOKEN"]), "OTHER" in os.environ]
`;
  for (const n of [1, 2]) {
    const { finished, log } = await runWarm(source, { inputs: { n }, secrets: { TOKEN: `secret-number-${n}` } });
    expect(finished.output).toEqual([n, 15, false]);
    expect(log).toEqual(['the value is ***']);
  }
});

test('requests pass the proxy with the identity of their own run', async () => {
  const server = http.createServer((_, response) => void response.end('answer')).listen(0, '127.0.0.2');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const source = `
import urllib.request
def run(url): return urllib.request.urlopen(url).read().decode()
`;
  for (const path of ['a', 'b', 'c']) {
    const url = `http://127.0.0.2:${port}/${path}`;
    const { finished, events } = await runWarm(source, { inputs: { url }, network: 'egress' });
    expect(finished).toMatchObject({ status: 'completed', output: 'answer' });
    expect(events.flatMap((event) => (event.type === 'request' ? [event.path] : []))).toEqual([`/${path}`]);
  }
  server.close();
});

test('steps are recorded, and artifacts and files are transferred', async () => {
  const source = `
def run(context, n):
    context.artifact("n.txt", str(n).encode())
    context.progress(0.5, "half")
    return context.step("double", lambda: n * 2)
`;
  const { finished, events } = await runWarm(source, { inputs: { n: 21 } });
  expect(finished).toMatchObject({ status: 'completed', output: 42 });
  const kinds = events.map(({ type }) => type);
  expect(kinds).toEqual(expect.arrayContaining(['started', 'artifact', 'progress', 'step', 'finished']));
});

test('an exception names the lines of the code, and the next run is not affected', async () => {
  const source = 'def run(n):\n    if n: raise ValueError("no")\n    return "fine"\n';
  const { finished } = await runWarm(source, { inputs: { n: 1 } });
  expect(finished.error).toMatchObject({ code: 'exception', type: 'ValueError', message: 'no' });
  expect(finished.error?.trace).toContain('File "main.py", line 2, in run');
  expect((await runWarm(source, { inputs: { n: 0 } })).finished.output).toBe('fine');
});

test('a cancelled run ends at once, and its processes with it', async () => {
  const source = `
import os, subprocess, time
def run(hang):
    if hang:
        print(subprocess.Popen(["sleep", "4711"]).pid, flush=True)
        time.sleep(60)
`;
  await runWarm(source, { inputs: { hang: false } });
  const { service } = fixture;
  const id = service.enqueue(await service.uploadCode(source), { inputs: { hang: true } });
  await waitUntil(() => service.getView(id).log.length > 0);
  service.cancel(id);
  expect((await service.waitForFinished(id)).finished.status).toBe('cancelled');
  await waitUntil(() => !listCommandLines().some((line) => line.includes('sleep\x004711')));
});

test.each([
  ['fresh isolation', { fresh: true }],
  ['a separate interpreter', { isolation: 'process' as const }],
])('a run with %s is never warm', async (_, overrides) => {
  const source = `def run(): return ${JSON.stringify(Object.keys(overrides))}`;
  for (const _ of [1, 2, 3, 4]) {
    const { finished } = await fixture.service.run(source, overrides as JobOverrides);
    expect(finished.usage.sandbox?.mode).not.toBe('warm');
  }
});

test('code that can’t be warm runs fresh each time, and each run reports why', async () => {
  const source = 'import os\nKEY = os.environ["TOKEN"]\ndef run(): return len(KEY)';
  const secrets = { TOKEN: 'secret-number-1' };
  const { finished } = await waitUntil(async () => {
    const view = await fixture.service.run(source, { secrets });
    return view.finished.usage.sandbox?.reason !== undefined && view;
  });
  expect(finished).toMatchObject({ status: 'completed', output: 15 });
  expect(finished.usage.sandbox).toEqual({ mode: 'fresh', reason: 'its import reads the secret TOKEN' });
});

test('another workspace with the same code has a separate sandbox', async () => {
  const source = 'import random\ndef run(): return random.random()';
  await runWarm(source);
  const other = await fixture.service.run(source, { workspaceId: 'ws_other' });
  expect(other.finished.usage.sandbox?.mode).toBe('fresh');
});

function listCommandLines(): string[] {
  return fs.readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : [];
    } catch {
      return [];
    }
  });
}
