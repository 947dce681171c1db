/** Webhooks of a worker on the platform, handed to a folder or a program of this machine. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { createTemporaryDir, waitUntil } from '@gantry/testing';
import { createCli, setupPlatformCli } from './test/run-cli';

const CODE = `
def run(event, payload=None):
    if event == "break":
        raise ValueError("no such event")
    print("handled", event)
`;
const MANIFEST = 'name: Hooked\nid: hooked\ntrigger: { type: webhook }\ninputs: [event, { name: doc, type: file }]\n';

const { stack, cli } = setupPlatformCli();
let dir: string;
let hookUrl: string;

beforeAll(async () => {
  dir = createTemporaryDir('hooked');
  writeFileSync(path.join(dir, 'worker.yaml'), MANIFEST);
  writeFileSync(path.join(dir, 'main.py'), CODE);
  const { webhook_url: url } = await cli.json(['deploy', dir]);
  hookUrl = `${stack.workerUrls[0]}${new URL(url).pathname}${new URL(url).search}`;
});

async function sendWebhook(body: object): Promise<string> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(hookUrl, { method: 'POST', headers, body: JSON.stringify(body) });
  return ((await response.json()) as { run_id: string }).run_id;
}

/** Starts to listen, and waits until webhooks that come now are found. */
async function startListening(args: string[], env: Record<string, string> = {}) {
  const child = cli.start(['listen', 'hooked', ...args, '--json'], { cwd: dir, env });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (written.stdout += chunk));
  child.stderr.on('data', (chunk) => (written.stderr += chunk));
  await waitUntil(() => written.stderr.includes('waiting for webhooks'));
  return {
    child,
    written,
    deliveries: () =>
      written.stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
  };
}

async function startHookServer(
  answer: (body: unknown, headers: Record<string, unknown>) => number,
): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    res.writeHead(answer(JSON.parse(Buffer.concat(chunks).toString()), req.headers)).end('ignored');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, close: () => server.close() };
}

test('each webhook runs the folder, in order, as it is saved at that time', async () => {
  await sendWebhook({ event: 'before' });
  const listening = await startListening([]);
  const first = await sendWebhook({ event: 'created', payload: { id: 1 } });
  await waitUntil(() => listening.deliveries().length === 1);
  writeFileSync(path.join(dir, 'main.py'), CODE.replace('"handled"', '"treated"'));
  const second = await sendWebhook({ event: 'updated' });
  const third = await sendWebhook({ event: 'break' });
  await waitUntil(() => listening.deliveries().length === 3);
  listening.child.kill('SIGINT');
  const { code, stderr } = await listening.child.finished;
  writeFileSync(path.join(dir, 'main.py'), CODE);
  const [one, two, three] = listening.deliveries();
  expect(one).toMatchObject({ run_id: first, method: 'POST', delivered: true, status: 'completed', error: null });
  expect(two).toMatchObject({ run_id: second, delivered: true, status: 'completed' });
  expect(three).toMatchObject({ run_id: third, delivered: true, status: 'failed' });
  expect(three.error).toContain('no such event');
  expect(code).toBe(0);
  expect(stderr).toContain('handled created');
  expect(stderr).toContain('treated updated');
  expect(stderr).not.toContain('before');
  expect(stderr).toContain('3 delivered, 0 not delivered');
});

test('a program gets the body without any credential, and a webhook that it refuses is shown', async () => {
  const requests: { body: unknown; headers: Record<string, unknown> }[] = [];
  const server = await startHookServer((body, headers) => {
    requests.push({ body, headers });
    return (body as { event: string }).event === 'bad' ? 422 : 204;
  });
  const listening = await startListening(['--forward-to', server.url, '--count', '3']);
  const large = 'x'.repeat(20_000);
  const first = await sendWebhook({ event: 'created', text: large });
  await sendWebhook({ event: 'bad' });
  await waitUntil(() => listening.deliveries().length === 2);
  server.close();
  await sendWebhook({ event: 'late' });
  expect(await listening.child.finished).toMatchObject({ code: 1 });
  expect(listening.deliveries()).toMatchObject([
    { run_id: first, delivered: true, status: '204', error: null },
    { delivered: true, status: '422', error: expect.stringContaining('responded with 422') },
    { delivered: false, status: null, error: expect.stringContaining('ECONNREFUSED') },
  ]);
  expect(requests[0]?.body).toEqual({ event: 'created', text: large });
  expect(requests[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'gantry-run-id': first });
  expect(JSON.stringify(requests[0]?.headers)).not.toContain(stack.token);
});

test('a webhook that the code fails on is shown with the error and the line', async () => {
  const listening = cli.start(['listen', 'hooked', '--count', '1'], { cwd: dir });
  let stderr = '';
  listening.stderr.on('data', (chunk) => (stderr += chunk));
  await waitUntil(() => stderr.includes('waiting for webhooks'));
  await sendWebhook({ event: 'break' });
  const { stdout } = await listening.finished;
  expect(stdout).toContain('run failed: ValueError: no such event');
  expect(stderr).toContain('File "main.py", line 4, in run');
});

test('webhooks that come while the connection is lost are delivered once it is back', async () => {
  const { hostname, port } = new URL(stack.workerUrls[0] ?? '');
  const sockets = new Set<net.Socket>();
  let isCut = false;
  const proxy = net.createServer((socket) => {
    if (isCut) return void socket.destroy();
    const upstream = net.connect(Number(port), hostname);
    for (const each of [socket, upstream]) {
      sockets.add(each);
      each.on('error', () => {});
      each.on('close', () => sockets.delete(each));
    }
    socket.pipe(upstream).pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const listening = await startListening([], { GANTRY_URL: url });
  isCut = true;
  for (const socket of sockets) socket.destroy();
  await waitUntil(() => listening.written.stderr.includes('connection lost'));
  const runId = await sendWebhook({ event: 'meanwhile' });
  isCut = false;
  await waitUntil(() => listening.deliveries().length === 1);
  expect(listening.deliveries()).toMatchObject([{ run_id: runId, delivered: true, status: 'completed' }]);
  listening.child.kill('SIGINT');
  expect(await listening.child.finished).toMatchObject({ code: 0 });
  for (const socket of sockets) socket.destroy();
  proxy.close();
});

test('a worker that cannot be listened to is reported at once', async () => {
  expect(await cli.run(['listen', 'missing'], { cwd: dir })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('worker missing not found'),
  });
  await cli.json(['api', 'POST', '/api/workers', '-d', '@-'], {
    stdin: JSON.stringify({ name: 'Plain', files: [{ path: 'main.py', content: 'def run():\n    pass\n' }] }),
  });
  expect(await cli.run(['listen', 'plain'], { cwd: dir })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('plain has no webhook'),
  });
  expect(await cli.run(['listen', 'hooked', '--forward-to', 'file:///etc/passwd'])).toMatchObject({ code: 2 });
  const stranger = createCli({ GANTRY_URL: stack.workerUrls[0] ?? '', GANTRY_TOKEN: 'svc_unknown' });
  expect(await stranger.run(['listen', 'hooked'], { cwd: dir })).toMatchObject({ code: 4 });
  expect(readFileSync(path.join(dir, 'main.py'), 'utf8')).toBe(CODE);
});
