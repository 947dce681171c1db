/** The client that `gantry wheel` packs, against the built platform and against a server that fails as it is told. */
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryDir, type Stack, startStack } from '@gantry/testing';
import { createCli } from './test/run-cli';

const SLOW = `
import time
def run(name, count, context):
    for index in range(count):
        print("line", index, flush=True)
        time.sleep(0.05)
    if name == "nobody":
        raise ValueError("who?")
    return {"greeting": f"Hello, {name}!"}
`;

const ON_PLATFORM = `
import asyncio, json
from gantry.client import AsyncGantry, Gantry, GantryError

def main():
    gantry = Gantry()
    run = gantry.workers["greet"].run({"name": "Ada", "count": 5})
    lines = [line["text"] for line in run.log()]
    failed = gantry.workers["greet"].run({"name": "nobody", "count": 0}).wait()
    again = [gantry.workers["greet"].run({"name": "Ada", "count": 0}, idempotency_key="one").id for _ in range(2)]
    late = gantry.workers["greet"].run({"name": "Ada", "count": 10_000})
    try:
        late.wait(timeout_seconds=0.5)
    except TimeoutError as error:
        print(json.dumps({"timeout": str(error)}))
    late.cancel()
    try:
        gantry.workers["greet"].run({"count": "many"})
    except GantryError as error:
        print(json.dumps({"status": error.status, "code": error.code, "fields": len(error.fields), "id": bool(error.request_id)}))
    print(json.dumps({"lines": lines, "output": run.wait().output, "failed": [failed.status, failed.error], "same": again[0] == again[1],
                      "cancelled": late.wait().status}))

async def main_async():
    gantry = AsyncGantry()
    runs = await asyncio.gather(*(gantry.workers["greet"].run({"name": name, "count": 2}) for name in ("Ada", "Bob")))
    lines = [line["text"] async for line in runs[0].log()]
    ended = await asyncio.gather(*(run.wait() for run in runs))
    late = await gantry.workers["greet"].run({"name": "Ada", "count": 10_000})
    waiting = asyncio.create_task(late.wait())
    await asyncio.sleep(0.3)
    waiting.cancel()
    try:
        await waiting
    except asyncio.CancelledError:
        await late.cancel()
    print(json.dumps({"lines": lines, "outputs": [run.output for run in ended], "cancelled": (await late.wait()).status}))

main()
asyncio.run(main_async())
`;

const UNIT = `
import http.server, json, os, threading, unittest
from gantry.client import Gantry, GantryError

class Server(http.server.ThreadingHTTPServer):
    """Answers with what is next in its list, and keeps what it was asked."""
    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked = list(answers), []
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass
    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.command, self.path, dict(self.headers)))
        status, headers, body = self.server.answers.pop(0)
        if status is None:
            self.connection.close()
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if isinstance(body, bytes) else json.dumps(body).encode())
    do_POST = do_GET

def event(number, kind, data):
    return f"id: {number}\\nevent: {kind}\\ndata: {json.dumps(data)}\\n\\n".encode()

class ClientTest(unittest.TestCase):
    def test_a_start_is_repeated_with_the_same_key(self):
        server = Server((503, {"Retry-After": "0"}, {}), (None, {}, b""), (409, {"Retry-After": "0"}, {"code": "in_flight"}),
                        (201, {}, {"run_id": "run_1", "status": "queued"}))
        run = Gantry(server.url, "t", workspace="ws_1").workers["a/b"].run({"x": 1})
        self.assertEqual((run.id, run.status), ("run_1", "queued"))
        self.assertEqual({(method, path) for method, path, _ in server.asked}, {("POST", "/api/workers/a%2Fb/runs")})
        self.assertEqual(len({headers["Idempotency-Key"] for _, _, headers in server.asked}), 1)
        self.assertEqual(server.asked[0][2]["Authorization"], "Bearer t")
        self.assertEqual(server.asked[0][2]["x-svc-workspace"], "ws_1")

    def test_a_request_that_may_have_taken_effect_is_not_repeated(self):
        server = Server((503, {}, {"detail": "away", "code": "unavailable"}), (200, {}, {}))
        with self.assertRaises(GantryError) as caught:
            Gantry(server.url, "t").runs["run_1"].cancel()
        self.assertEqual((caught.exception.status, caught.exception.code, len(server.asked)), (503, "unavailable", 1))

    def test_a_long_retry_after_and_other_responses_are_errors_at_once(self):
        details = {"detail": "wrong", "code": "invalid", "errors": [{"path": "inputs.x", "message": "must be a number"}]}
        for answer, code in (((429, {"Retry-After": "3600"}, {"code": "rate_limited"}), "rate_limited"),
                             ((400, {"X-Request-Id": "r1"}, details), "invalid"),
                             ((302, {"Location": "http://elsewhere.example"}, b""), "unknown"), ((200, {}, b"<html>"), "not_json")):
            server = Server(answer)
            with self.assertRaises(GantryError) as caught:
                Gantry(server.url, "t").workers["x"].run()
            self.assertEqual((caught.exception.code, len(server.asked)), (code, 1))
        self.assertEqual(str(GantryError(400, "invalid", "wrong", "r1", details["errors"])),
                         "wrong; inputs.x: must be a number (request r1)")
        self.assertEqual(str(GantryError(400, "invalid", "inputs.x: must be a number", None, details["errors"])), "inputs.x: must be a number")

    def test_an_interrupted_log_continues_after_its_last_line(self):
        lines = [event(n, "log", {"text": str(n)}) for n in range(3)]
        server = Server((200, {}, lines[0] + lines[1] + b"id: 2\\nevent: log\\nda"), (502, {}, b"bad gateway"),
                        (200, {}, b": comment\\n\\n" + lines[2] + event(3, "done", {"status": "completed"})))
        run = Gantry(server.url, "t").runs["run_1"]
        self.assertEqual([line["text"] for line in run.log()], ["0", "1", "2"])
        self.assertEqual([headers.get("Last-Event-ID") for _, _, headers in server.asked], [None, "1", "1"])

    def test_a_log_that_is_refused_is_an_error(self):
        server = Server((404, {}, {"code": "not_found"}))
        with self.assertRaisesRegex(GantryError, "404"):
            list(Gantry(server.url, "t").runs["run_1"].log())

    def test_missing_settings_are_reported(self):
        os.environ.pop("GANTRY_TOKEN", None)
        with self.assertRaisesRegex(ValueError, "GANTRY_TOKEN"):
            Gantry("http://localhost:1")
        with self.assertRaisesRegex(ValueError, "server URL"):
            Gantry("ftp://localhost", "t")
        with self.assertRaisesRegex(GantryError, "cannot be reached"):
            Gantry("http://127.0.0.1:1", "t", retries_max=0).runs["run_1"].refresh()
`;

let packages: string;

beforeAll(async () => {
  packages = createTemporaryDir('packages');
  const { file } = await createCli().json(['wheel', createTemporaryDir('wheel')]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-index', '--no-deps', '--target', packages, file];
  execFileSync('python3', pip, { stdio: 'pipe' });
});

const environment = () => ({
  PATH: process.env.PATH ?? '',
  PYTHONPATH: packages,
  PYTHONDONTWRITEBYTECODE: '1',
});

test('it retries only what is safe, and reports errors with their reason', () => {
  const dir = createTemporaryDir('client');
  writeFileSync(path.join(dir, 'test_client.py'), UNIT);
  execFileSync('python3', ['-m', 'unittest', '--quiet'], { cwd: dir, env: environment(), stdio: 'pipe' });
});

describe('on the platform', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack({});
  });
  afterAll(() => stack?.stop());

  test('runs are started, followed, awaited and cancelled, with and without asyncio', async () => {
    const server = { GANTRY_URL: stack.workerUrls[0] ?? '', GANTRY_TOKEN: stack.token };
    const worker = {
      name: 'Greet',
      inputs: [
        { name: 'name', type: 'text', required: true },
        { name: 'count', type: 'integer', required: true },
      ],
      files: [{ path: 'main.py', content: SLOW }],
    };
    await createCli(server).json(['api', 'POST', '/api/workers', '-d', JSON.stringify(worker)]);
    const child = spawn('python3', ['-c', ON_PLATFORM], { env: { ...environment(), ...server } });
    const written = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => (written.stdout += chunk));
    child.stderr.on('data', (chunk) => (written.stderr += chunk));
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, stderr: written.stderr }).toEqual({ code: 0, stderr: '' });
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);
    const hello = (name: string) => ({ greeting: `Hello, ${name}!` });
    expect(
      written.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { timeout: expect.stringContaining('has not ended in time') },
      { status: 400, code: 'invalid_inputs', fields: 2, id: true },
      {
        lines: lines(5),
        output: hello('Ada'),
        failed: ['failed', 'who?'],
        same: true,
        cancelled: 'cancelled',
      },
      { lines: lines(2), outputs: [hello('Ada'), hello('Bob')], cancelled: 'cancelled' },
    ]);
  });
});
