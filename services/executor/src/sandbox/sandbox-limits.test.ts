/** Tests limits that only the host can enforce: one attempt of user code per run, observed from the host. */

import { setupResource } from '@gantry/testing';
import { listDescendants } from '../test/processes';
import { type RunOptions, startTestSandbox } from '../test/sandbox-fixture';
import type { Child } from './child';

const fixture = setupResource(
  () => startTestSandbox(),
  ({ sandbox }) => sandbox.stop(),
);

const runToValue = async (source: string, options?: RunOptions) => (await fixture.run(source, options)).value;

test('random numbers differ between runs that were forked from the same process', async () => {
  const source = `
import ssl, random, uuid, secrets, ctypes
def run():
    private = ctypes.create_string_buffer(8)
    ctypes.CDLL("libcrypto.so.3").RAND_priv_bytes(private, 8)
    return [ssl.RAND_bytes(8).hex(), private.raw.hex(), random.random(), str(uuid.uuid4()), secrets.token_hex(8)]
`;
  const runs = (await Promise.all([1, 2, 3, 4].map(() => runToValue(source)))) as string[][];
  for (const source of [0, 1, 2, 3, 4]) expect(new Set(runs.map((run) => run[source])).size).toBe(4);
});

test('forged control frames do not change the result of another run', async () => {
  const forging = runToValue(`
import os, json, struct
def run():
    for i in range(1, 40):
        body = json.dumps({"t": "result", "id": str(i), "ok": True, "outputBytes": 2}).encode()
        os.write(3, struct.pack(">I", len(body)) + body)
    return 1
`);
  const honest = runToValue('import time\ndef run():\n    time.sleep(0.3)\n    return "honest"\n');
  expect(await honest).toBe('honest');
  await forging;
});

test('a child’s connection can’t be opened a second time', async () => {
  const { connect } = await import('node:net');
  await fixture.sandbox.pool?.waitUntilFull();
  const zygote = fixture.sandbox.pool?.current;
  const starting = zygote?.children.get(fixture.sandbox.pool?.idle[0]?.id ?? '');
  const again = connect(`${zygote?.dir}/ctl/s`);
  again.on('error', () => {});
  again.write(`c${starting?.nonce}`);
  again.resume();
  await new Promise((resolve) => again.once('close', resolve));
  expect(starting?.child.state).toBe('ready');
});

test('a run sees no trace of earlier runs in its network', async () => {
  const one = await startTestSandbox({ slots: 1 });
  const seen = (code: string) => one.run(code).then(({ value: seen }) => seen);
  const look = `
def run():
    abstract = [line for line in open("/proc/net/unix") if "@" in line]
    return [open("/proc/net/" + name).read() for name in ("dev", "snmp", "snmp6", "tcp", "udp")] + abstract
`;
  const deeds = [
    'import socket\ndef run(): socket.socket(type=socket.SOCK_DGRAM).sendto(b"x" * 99, ("127.0.0.1", 9))\n',
    'import socket\ndef run(): return socket.socket().connect_ex(("192.0.2.1", 80))\n',
    'import socket\ndef run():\n    a = socket.create_server(("127.0.0.1", 7000))\n    socket.create_connection(("127.0.0.1", 7000)).close()\n',
    'import os, socket\ndef run():\n    s = socket.socket(socket.AF_UNIX)\n    s.bind("\\0left")\n    s.listen()\n',
  ];
  const clean = await seen(look);
  for (const deed of deeds) {
    await seen(deed);
    for (let i = 0; i < 8; i++) expect(await seen(look)).toEqual(clean);
  }
  await one.sandbox.stop();
});

test('only whole digests name directories of the store', async () => {
  expect(await runToValue('', { spec: { code: `../store${'0'.repeat(60)}` } })).toMatch(/bad digest/);
  expect(await runToValue('', { spec: { code: '0'.repeat(64) } })).toMatch(/No such file/);
});

test('dependencies of a run are visible only to it', async () => {
  const deps = fixture.storeFiles({ 'somelib.py': 'VALUE = 42\n' });
  expect(await runToValue('import somelib\ndef run(): return somelib.VALUE\n', { spec: { deps } })).toBe(42);
  expect(await runToValue('import os\ndef run(): return os.listdir("/deps")\n')).toEqual([]);
});

test.each(['zygote', 'process'] as const)(
  'a lock on a file of its code does not affect another run (isolation: %s)',
  async (isolation) => {
    const source = `
import fcntl, time
def run(hold):
    locked = [open(path) for path in ("/code/main.py", "/deps/somelib.py")]
    for file in locked: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    if hold:
        print("locked", flush=True)
        time.sleep(20)
    return "locked"
`;
    const spec = { deps: fixture.storeFiles({ 'somelib.py': 'VALUE = 42\n' }) };
    let child: Child | undefined;
    let resolveLocked!: () => void;
    const isLocked = new Promise<void>((resolve) => {
      resolveLocked = resolve;
    });
    const holder = fixture.run(source, {
      spec,
      isolation,
      inputs: { hold: true },
      hooks: { onStream: () => resolveLocked() },
      onChild: (started) => {
        child = started;
      },
    });
    await isLocked;
    expect(await runToValue(source, { spec, isolation, inputs: { hold: false } })).toBe('locked');
    child?.kill('seen enough');
    await holder;
  },
);

const LOOP = 'def run():\n    while True: pass\n';

test('an endless loop ends at the wall limit', async () => {
  expect(await runToValue(LOOP, { wallMs: 400 })).toBe('killed: wall time limit');
});

test('an endless loop ends at the CPU limit, as a timeout and not as out of memory', async () => {
  const { outcome } = await fixture.run(LOOP, { spec: { cpuSeconds: 1 } });
  expect(outcome).toMatchObject({ kind: 'raised', cause: 'cpu' });
});

test('code that ignores the CPU limit is still killed', async () => {
  const source = `import signal\ndef run():\n    signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n    while True: pass\n`;
  expect((await fixture.run(source, { spec: { cpuSeconds: 1 } })).outcome).toEqual({ kind: 'cpu' });
});

test('a crash of the interpreter is reported with its signal', async () => {
  expect(await runToValue('import ctypes\ndef run(): ctypes.string_at(0)\n')).toMatch(/signal 11/);
});

test('an exit without a result is reported', async () => {
  expect(await runToValue('import os\ndef run(): os._exit(0)\n')).toMatch(/exit code 0 before returning a result/);
});

test('a run that closes its control channel is ended', async () => {
  expect(await runToValue('import os, time\ndef run():\n    os.close(3)\n    time.sleep(30)\n')).toMatch(
    /closed its control/,
  );
});

test.each([
  ['claims 4 GB', String.raw`b"\xff\xff\xff\xff"`, /frame of 4294967295 bytes/],
  ['is not JSON', String.raw`b"\0\0\0\x03abc"`, /not JSON/],
  ['is JSON but not an object', String.raw`b"\0\0\0\x042222"`, /not an object/],
  ['is of an unknown kind', String.raw`b'\0\0\0\x09{"t":"x"}'`, /unexpected/],
])('a control frame that %s ends the run', async (_, bytes, message) => {
  expect(await runToValue(`import os, time\ndef run():\n    os.write(3, ${bytes})\n    time.sleep(30)\n`)).toMatch(
    message,
  );
});

test('an output over its limit is refused, by the harness and without it', async () => {
  const { outcome } = await fixture.run('def run(): return "x" * (9 << 20)\n');
  expect(outcome).toMatchObject({ kind: 'raised', cause: 'output' });
  const forged = `
import os, json, struct, time
def run():
    body = json.dumps({"t": "result", "ok": True, "outputBytes": 9 << 20}).encode()
    os.write(3, struct.pack(">I", len(body)) + body)
    time.sleep(30)
`;
  expect(await runToValue(forged)).toMatch(/the output is too large/);
});

test('a run that stops itself still ends at the wall limit', async () => {
  const source = 'import os, signal, time\ndef run():\n    os.kill(os.getpid(), signal.SIGSTOP)\n    time.sleep(30)\n';
  expect(await runToValue(source, { wallMs: 400 })).toBe('killed: wall time limit');
});

test('a daemon that outlives the run is killed with it', async () => {
  const source = `
import subprocess
def run():
    subprocess.Popen(["/usr/bin/sleep", "61"], start_new_session=True)
    return "done"
`;
  const { value, gone, child } = await fixture.run(source);
  expect(value).toBe('done');
  await gone;
  expect(child.state).toBe('dead');
});

test('a fork bomb ends at the wall limit and leaves nothing behind', async () => {
  const source = 'import os\ndef run():\n    while True:\n        try: os.fork()\n        except OSError: pass\n';
  const run = await fixture.run(source, { wallMs: 800 });
  expect(run.value).toBe('killed: wall time limit');
  await run.gone;
});

test.each([
  ['by cgroup, where available', {}],
  ['by polling otherwise', { cgroups: null }],
])('the memory of all processes of a run is limited %s', async (_, settings) => {
  const source = `
import os, time
def run():
    for _ in range(8):
        if os.fork() == 0:
            block = bytearray(120 << 20)
            time.sleep(20)
            os._exit(0)
    block = bytearray(100 << 20)
    time.sleep(20)
`;
  const own = await startTestSandbox({ slots: 1, ...settings });
  const { outcome } = await own.run(source, { memoryBytes: 256 << 20 });
  expect(['out_of_memory', 'killed']).toContain(outcome.kind);
  expect(outcome).not.toMatchObject({ reason: 'wall time limit' });
  await own.sandbox.stop();
});

test('pipe buffers can’t be hoarded', async () => {
  const source = `
import os, fcntl
def run():
    count = 0
    try:
        while True:
            _, writer = os.pipe()
            fcntl.fcntl(writer, 1031, 1 << 20)
            count += 1
    except OSError as error:
        return count
`;
  expect(await runToValue(source)).toBeLessThan(130);
});

test('an artifact that is a link, a device or a FIFO is refused', async () => {
  const source = `
import os
from gantry import context
def run():
    os.symlink("/etc/passwd", "/tmp/link")
    os.mkfifo("/tmp/fifo")
    seen = []
    for path in ("/tmp/link", "/tmp/fifo", "/dev/zero", "/tmp"):
        try:
            context.artifact("x", path)
            seen.append(None)
        except (OSError, ValueError) as error:
            seen.append(type(error).__name__)
    return seen
`;
  expect(await runToValue(source)).toEqual(['OSError', 'ValueError', 'ValueError', 'ValueError']);
});

test('afterwards the pool is full, without zombies or leftover processes', async () => {
  await fixture.sandbox.pool?.waitUntilFull();
  expect(await runToValue('def run(): return 1\n')).toBe(1);
  await fixture.sandbox.pool?.waitUntilFull();
  const pid = fixture.sandbox.pool?.current?.pid ?? 0;
  const deadline = Date.now() + 3_000;
  while (listDescendants(pid).length > 4 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20));
  const left = listDescendants(pid);
  expect(left).toHaveLength(4);
  expect(left.filter(({ state }) => state === 'Z')).toEqual([]);
});
