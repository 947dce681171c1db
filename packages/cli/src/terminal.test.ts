/** Prompts on a terminal. */
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { createTemporaryDir } from '@gantry/testing';

const GANTRY = path.resolve(__dirname, '../dist/gantry.mjs');
const CTRL_C = '\u0003';
const [DOWN, ENTER] = ['\u001b[B', '\r'];

let server: Server;
let requests: string[];

/** A server with one run, which ends when it is cancelled. */
beforeEach(async () => {
  requests = [];
  server = createServer((req, res) => {
    requests.push(`${req.method} ${req.url?.split('?')[0]}`);
    if (req.url?.includes('/events')) {
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Request-Id': 'req_1' });
      res.write('id: 1\nevent: log\ndata: {"text":"begun"}\n\n');
      if (requests.includes('POST /api/runs/run_1/cancel')) res.end('id: 2\nevent: done\ndata: {}\n\n');
      return;
    }
    const status = requests.includes('POST /api/runs/run_1/cancel') ? 'cancelled' : 'running';
    res.writeHead(200, { 'Content-Type': 'application/json', 'X-Request-Id': 'req_1' });
    res.end(JSON.stringify({ id: 'run_1', run_id: 'run_1', status, error: null }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** @param steps texts to wait for, and the keys that are pressed then */
async function runInTerminal(args: string[], steps: [string, string][]): Promise<{ code: number; written: string }> {
  const { port } = server.address() as AddressInfo;
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: createTemporaryDir('home'),
    TERM: 'xterm',
    GANTRY_URL: `http://127.0.0.1:${port}`,
    GANTRY_TOKEN: 'svc_test',
  };
  const helper = path.join(__dirname, 'test/terminal.py');
  const argv = [helper, JSON.stringify(steps), process.execPath, GANTRY, ...args];
  const { stdout } = await promisify(execFile)('python3', argv, { env });
  return JSON.parse(stdout);
}

test('Ctrl-C while a run is watched asks, and can leave it running', async () => {
  const { code, written } = await runInTerminal(
    ['run', 'slow', '--wait'],
    [
      ['begun', CTRL_C],
      ['Leave it running', ENTER],
    ],
  );
  expect(code).toBe(2);
  expect(written).toContain('gantry logs -f run_1');
  expect(requests).not.toContain('POST /api/runs/run_1/cancel');
});

test('Ctrl-C while a run is watched can cancel it, and the end is still shown', async () => {
  const { code, written } = await runInTerminal(
    ['run', 'slow', '--wait'],
    [
      ['begun', CTRL_C],
      ['Cancel the run', DOWN + DOWN + ENTER],
    ],
  );
  expect(code).toBe(1);
  expect(written).toContain('run run_1 was cancelled');
  expect(requests).toContain('POST /api/runs/run_1/cancel');
});

test('a second Ctrl-C leaves at once', async () => {
  const { code } = await runInTerminal(
    ['run', 'slow', '--wait'],
    [
      ['begun', CTRL_C],
      ['Cancel the run', CTRL_C],
    ],
  );
  expect(code).toBe(2);
});

test('a value that is typed is not shown, and deleting asks', async () => {
  const set = await runInTerminal(['secrets', 'set', 'CRM_TOKEN'], [['Value of CRM_TOKEN', `open-sesame${ENTER}`]]);
  expect(set.written).not.toContain('open-sesame');
  expect(requests).toContain('PUT /api/secrets/CRM_TOKEN');
  const declined = await runInTerminal(['secrets', 'delete', 'CRM_TOKEN'], [['Delete CRM_TOKEN?', ENTER]]);
  expect(declined.code).toBe(2);
  expect(requests).not.toContain('DELETE /api/secrets/CRM_TOKEN');
});
