/** Tests that runs of one version share an import, and nothing else. */
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { setupResource, waitUntil } from '@gantry/testing';
import { isRunning } from '../test/processes';
import { type RunOptions, type SandboxRun, startTestSandbox, type WarmRuns } from '../test/sandbox-fixture';
import type { BwrapProcess } from './bwrap-process';
import { Child } from './child';
import { encodeFrame } from './frames';
import { type WarmImport, WarmSandbox } from './warm-sandbox';
import type { ZygoteProcess } from './zygote-process';

const fixture = setupResource(
  () => startTestSandbox({ slots: 1 }),
  ({ sandbox }) => sandbox.stop(),
);

const runWarm = async (warm: WarmRuns, options?: RunOptions): Promise<unknown> => {
  const { value, isWarm } = await warm.run(options);
  if (!isWarm) throw new Error(`not warm: ${await warm.waitForReason()}`);
  return value;
};

/** Returns the id of the sandbox that forked the process of a run. */
const getSandboxId = ({ child }: SandboxRun) => child.id.split('.')[0];

test('imports a module once for all runs, each of which starts as if it had imported it', async () => {
  const warm = fixture.createWarmRuns(`
import os, logging
count = 0
print("imported")
logging.warning("as line")
def run(n):
    global count
    count += 1
    return [n, count, os.getpid() != 1]
`);
  const sandboxes = new Set<string | undefined>();
  for (const n of [1, 2, 3]) {
    const run = await warm.run({ inputs: { n } });
    const { value, stdout, logs } = run;
    expect({ value, stdout, logs }).toEqual({
      value: [n, 1, true],
      stdout: 'imported\n',
      logs: [{ level: 'warning', text: 'as line', fields: undefined }],
    });
    sandboxes.add(getSandboxId(run));
  }
  expect(sandboxes.size).toBe(1);
});

test('a sandbox whose process has exited when it reports ready waits for the report of its exit', () => {
  const throwGone = () => {
    throw new Error('no such process');
  };
  const sandbox = new Child('1', () => {}, throwGone);
  const runs: Child[] = [];
  const zygote = { forkWarm: () => sandbox, forkRun: (_, run) => runs.push(run) } as Partial<ZygoteProcess>;
  const warm = new WarmSandbox(zygote as ZygoteProcess, { memoryBytes: 1 << 20, spec: {} } as WarmImport);
  sandbox.onReady?.();
  sandbox.frames.push(encodeFrame({ t: 'warm', bytes: 1 }));
  sandbox.onControl?.();
  runs[0]?.onReady?.();
  expect(warm.isIdle()).toBe(true);
  warm.end();
  expect(sandbox.killedFor).toBe('recycled');
});

test('a reason that arrives after the report of the exit is used', async () => {
  const sandbox = new Child(
    '1',
    () => {},
    () => 1,
  );
  const control = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  sandbox.attachControl(control);
  const zygote = { forkWarm: () => sandbox } as Partial<ZygoteProcess>;
  const warm = new WarmSandbox(zygote as ZygoteProcess, { memoryBytes: 1 << 20, spec: {} } as WarmImport);
  sandbox.onReady?.();
  const gone = once(warm, 'gone');
  sandbox.handleExit({ status: 0, cpuMs: 1, maxRssKb: 1 });
  await sandbox.exited;
  control.push(encodeFrame({ t: 'fresh', reason: 'its import starts a thread' }));
  control.push(null);
  expect(await gone).toEqual(['its import starts a thread']);
});

/**
 * Each leaves something behind with `run(True)`; a later run looks for it with `run(False)` and returns the finding.
 */
const TRACES: Record<string, string> = {
  'a changed module': `
import json
def run(leave):
    if leave: json.left = 1
    return hasattr(json, "left")`,
  'changed builtins': `
import builtins
def run(leave):
    if leave: builtins.left = 1
    return hasattr(builtins, "left")`,
  'a poisoned import path': `
import sys
def run(leave):
    if leave: sys.path.insert(0, "/tmp/evil"); sys.modules["csv"] = sys
    return "/tmp/evil" in sys.path or sys.modules.get("csv") is sys`,
  'a variable of the environment': `
import os
def run(leave):
    if leave: os.environ["LEFT"] = "1"
    return "LEFT" in os.environ`,
  'files, folders of any depth and mode, links and sockets': `
import os, socket
def run(leave):
    if leave:
        os.chdir("/tmp")
        for _ in range(1500):
            os.mkdir("d"); os.chdir("d")
        os.chdir("/tmp")
        os.mkdir("/tmp/locked"); open("/tmp/locked/x", "w").close(); os.chmod("/tmp/locked", 0)
        os.symlink("/code", "/tmp/link"); os.mkfifo("/dev/shm/pipe")
        socket.socket(socket.AF_UNIX).bind("/tmp/s")
        os.chmod("/tmp", 0o700); os.utime("/tmp", (5, 5))
    if leave: return False
    found = os.stat("/tmp")
    return os.listdir("/tmp") != [] or os.listdir("/dev/shm") != [] or found.st_mode & 0o7777 != 0o1777 or int(found.st_mtime) == 5`,
  'processes, also those that ignore signals or have left their group': `
import os, signal, time
def run(leave):
    if leave:
        for _ in range(5):
            if os.fork() == 0:
                os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN)
                for fd in range(5): os.close(fd) if fd != 4 else None
                time.sleep(60); os._exit(0)
    return False if leave else [p for p in os.listdir("/proc") if p.isdigit()] != [str(os.getpid())]`,
  'a full pipe that a process reads': `
import os, subprocess
def run(leave):
    if leave:
        child = subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE)
        os.set_blocking(child.stdin.fileno(), False)
        try: child.stdin.raw.write(bytes(1 << 20))
        except BlockingIOError: pass
    return False`,
  'a thread': `
import threading, time
def run(leave):
    if leave: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    return False if leave else threading.active_count() > 1`,
  'an abstract socket': `
import socket
kept = []
def run(leave):
    server = socket.socket(socket.AF_UNIX)
    try: server.bind("\\0left")
    except OSError: return True
    if leave: kept.append(server)
    return False`,
  'System V objects and queues': `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
def run(leave):
    libc.shmget(0x77, 4096, 0o1600 if leave else 0); 
    return libc.shmget(0x77, 4096, 0) != -1 or libc.semget(0x77, 1, 0o1600) != -1 or libc.msgget(0x77, 0o1600) != -1 or libc.mq_open(b"/left", 64 | 2, 0o600, None) != -1`,
  'a lock on its code': `
import fcntl
kept = []
def run(leave):
    file = open("/code/main.py")
    try: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError: return True
    kept.append(file)
    return False`,
  'a handler, a mask, a limit, a umask, a timer': `
import os, resource, signal
def run(leave):
    if leave:
        signal.signal(signal.SIGUSR1, lambda *_: None); signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
        resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60)); os.umask(0o777); signal.setitimer(signal.ITIMER_VIRTUAL, 100)
    else:
        mask = os.umask(0o22)
        return [signal.getsignal(signal.SIGUSR1) != signal.SIG_DFL, signal.SIGUSR2 in signal.pthread_sigmask(signal.SIG_BLOCK, []),
                resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 60, mask == 0o777, signal.getitimer(signal.ITIMER_VIRTUAL)[0] > 0] != [False] * 5
    return False`,
  'a priority or a processor of its first process': `
import os
def run(leave):
    if leave:
        for change in (lambda: os.setpriority(os.PRIO_PROCESS, 1, 19), lambda: os.setpriority(os.PRIO_USER, 0, 19),
                       lambda: os.sched_setaffinity(1, {0}), lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))):
            try: change()
            except OSError: pass
        return False
    return os.getpriority(os.PRIO_PROCESS, 0) != 10 or len(os.sched_getaffinity(0)) != os.cpu_count() or os.sched_getscheduler(0) != 0`,
};

test.each(Object.keys(TRACES))('a run leaves no trace: %s', async (name) => {
  const warm = fixture.createWarmRuns(TRACES[name] ?? '');
  const first = await warm.run({ inputs: { leave: true } });
  expect(typeof first.value).toBe('boolean');
  for (const _ of [1, 2]) {
    const next = await warm.run({ inputs: { leave: false } });
    expect(next.value).toBe(false);
    expect(getSandboxId(next)).toBe(getSandboxId(first));
  }
});

test('its first process can be neither signalled, traced, read nor written by a run', async () => {
  const warm = fixture.createWarmRuns(`
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
handled = []
signal.signal(signal.SIGUSR1, lambda *_: handled.append(1))
def refused(action):
    try: action(); return False
    except OSError: return True
def run():
    for number in range(1, 65):
        try: os.kill(1, number)
        except OSError: pass
    os.kill(os.getpid(), signal.SIGUSR1)
    return [len(handled), libc.ptrace(16, 1, 0, 0), refused(lambda: open("/proc/1/mem", "r+b")), refused(lambda: open("/proc/1/maps")),
            refused(lambda: os.listdir("/proc/1/fd")), refused(lambda: os.readlink("/proc/1/cwd")),
            refused(lambda: open("/proc/1/stat")), libc.prlimit(1, 7, None, None)]
`);
  for (const _ of [1, 2, 3]) {
    expect(await runWarm(warm)).toEqual([1, -1, true, true, true, true, true, -1]);
  }
});

test('libraries imported ahead are configured to start no threads, which is invisible to runs', async () => {
  const warm = fixture.createWarmRuns(`
import os
AT_IMPORT = os.environ.get("OMP_NUM_THREADS")
def run(): return [AT_IMPORT, os.environ.get("OMP_NUM_THREADS")]
`);
  expect(await runWarm(warm)).toEqual(['1', null]);
});

test('processes of a fork bomb end with its run, whether or not the sandbox is reused', async () => {
  const warm = fixture.createWarmRuns(`
import os, time
def run(bomb):
    if bomb and os.fork() == 0:
        while True:
            try: os.fork()
            except OSError: pass
    time.sleep(0.3 if bomb else 0)
    return [p for p in os.listdir("/proc") if p.isdigit()] == [str(os.getpid())]
`);
  await warm.run({ inputs: { bomb: true } });
  expect(await runWarm(warm, { inputs: { bomb: false } })).toBe(true);
});

test('a run that used its network is the last one of its sandbox', async () => {
  const warm = fixture.createWarmRuns(`
import socket
def run():
    server = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(server.getsockname()).close()
`);
  const sandboxes = new Set<string | undefined>();
  for (const _ of [1, 2, 3]) sandboxes.add(getSandboxId(await warm.run()));
  expect(sandboxes.size).toBe(3);
});

test('random numbers, identifiers and temporary names differ from run to run', async () => {
  const warm = fixture.createWarmRuns(`
import random, ssl, tempfile, uuid, secrets
def run(): return [random.random(), ssl.RAND_bytes(8).hex(), str(uuid.uuid4()), str(uuid.uuid1()), tempfile.mktemp(), secrets.token_hex()]
`);
  const runs = [await runWarm(warm), await runWarm(warm), await runWarm(warm)] as string[][];
  for (const column of runs[0]?.keys() ?? []) expect(new Set(runs.map((run) => run[column])).size).toBe(3);
});

test.each([
  [
    'a thread',
    'import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()',
    /thread/,
  ],
  ['an open file', 'f = open("/code/main.py")', /file or a socket/],
  ['a socket', 'import socket; s = socket.socket()', /file or a socket/],
  ['shared memory', 'import mmap; m = mmap.mmap(-1, 4096)', /memory that processes would share/],
  ['a process', 'import subprocess; subprocess.run(["true"])', /process/],
  ['a timer', 'import signal; signal.setitimer(signal.ITIMER_REAL, 100)', /timer/],
  ['files', 'open("/tmp/x", "w").write("x")', /writes files/],
  ['the network', 'import socket; socket.socket().connect_ex(("127.0.0.1", 3128))', /network/],
  ['a secret', 'import os; KEY = os.environ.get("TOKEN")', /reads the secret TOKEN/],
  ['a secret that it demands', 'import os; KEY = os.environ["TOKEN"]', /TOKEN/],
  ['the whole environment', 'import os; ALL = dict(os.environ)', /whole environment/],
  ['the context', 'from gantry import context; ID = context.run_id', /context.run_id/],
  ['a step', 'from gantry import context\ntry: context.step("x", len, [])\nexcept Exception: pass', /only a run can/],
  ['the time', 'import time; START = time.time()', /the time, in START/],
  ['today', 'import datetime; TODAY = datetime.date.today()', /the time, in TODAY/],
  ['today, as text', 'import datetime; NAME = f"report-{datetime.date.today()}.csv"', /the time, in NAME/],
  ['a default of a parameter', 'import datetime\ndef f(at=datetime.datetime.now()): pass', /the time, in f/],
  ['an object', 'import time\nclass C:\n  def __init__(self): self.at = [time.time()]\nc = C()', /the time, in c/],
  ['a generator', 'import random; rng = random.Random()', /random numbers, in rng/],
  [
    'a handler of a library',
    'import faulthandler, sys; faulthandler.enable(sys.__stderr__)',
    /signal outside of Python/,
  ],
  ['an error', 'import nothing_like_this', /ModuleNotFoundError/],
  ['a process that ends', 'import os; os._exit(3)', /its process exits/],
])('code whose import needs or leaves %s runs fresh, with a reason', async (_, source, reason) => {
  const warm = fixture.createWarmRuns(`${source}\ndef run(): return 1\n`, { secretNames: ['TOKEN'] });
  expect(await warm.waitForReason()).toMatch(reason);
});

/** Python code that sends a message in frames of the control channel. */
const SAY = `
import json, os
def say(message):
    text = json.dumps(message).encode()
    os.write(3, len(text).to_bytes(4, "big") + text)
`;

test.each([
  ['reports that a run has ended', 'say({"t": "ended", "status": 0})'],
  ['sends an unexpected message', 'say({"t": "result", "ok": True})'],
  ['writes an invalid message', 'os.write(3, bytes([0, 0, 0, 2]) + b"{{")'],
  ['declares a message that is too large', 'os.write(3, bytes([255] * 4))'],
])('a module that %s on behalf of its sandbox runs fresh', async (_, statement) => {
  const warm = fixture.createWarmRuns(`${SAY}\n${statement}\ndef run(): return 1\n`);
  expect(await warm.waitForReason()).toMatch(/violates the protocol/);
  expect((await warm.run()).isWarm).toBe(false);
});

test('an import that is interrupted by the end of its zygote is retried', async () => {
  const own = await startTestSandbox({ slots: 1 });
  const warm = own.createWarmRuns('import time\ntime.sleep(0.5)\ndef run(): return 1\n');
  const run = warm.run();
  await waitUntil(() => own.sandbox.warm() === 1);
  process.kill(own.sandbox.pool?.current?.pid ?? 0, 'SIGKILL');
  expect(await run).toMatchObject({ value: 1, isWarm: true });
  await own.sandbox.stop();
});

test('a sandbox that is ready before its zygote has reported its process is used', async () => {
  const own = await startTestSandbox({ slots: 1 });
  const zygote = own.sandbox.pool?.current as unknown as { children: ZygoteProcess['children']; bwrap: BwrapProcess };
  zygote.bwrap.control.pause();
  const run = own.createWarmRuns('def run(): return 1\n').run();
  const { child } = await waitUntil(() =>
    [...zygote.children.values()].find(
      ({ child, hasReportedReady, connected }) =>
        child.state === 'starting' && hasReportedReady && connected.size === 3,
    ),
  );
  zygote.bwrap.control.resume();
  expect(await run).toMatchObject({ value: 1, isWarm: true });
  expect(child.killedFor).toBeUndefined();
  await own.sandbox.stop();
});

test('code that exceeds the memory for warm sandboxes runs fresh', async () => {
  const small = await startTestSandbox({ warmBytes: 1, slots: 1 });
  const warm = small.createWarmRuns('def run(): return 1\n');
  expect(await warm.waitForReason()).toMatch(/more memory/);
  await waitUntil(() => small.sandbox.warm() === 0);
  expect(await warm.run()).toMatchObject({ value: 1, isWarm: false });
  await small.sandbox.stop();
});

test('dates, numbers and texts unrelated to the current time leave a version warm', async () => {
  const warm = fixture.createWarmRuns(`
import datetime
EPOCH, START, DAY, NAME = 0.0, datetime.date(2020, 1, 1), 86_400, "2020-01-01"
LATER = [datetime.datetime(2030, 1, 1), {"at": 1e18}]
def run(since=START): return since.year
`);
  expect(await runWarm(warm)).toBe(2020);
});

test('a stopped run ends with all its processes, and the version stays warm', async () => {
  const warm = fixture.createWarmRuns(`
import os, time
def run(hang):
    if hang:
        print(os.fork(), flush=True)
        time.sleep(60)
    return "done"
`);
  const stopped = await warm.run({ inputs: { hang: true }, wallMs: 300 });
  expect(stopped).toMatchObject({ outcome: { kind: 'killed' }, isWarm: true });
  const pid = stopped.child.hostPid;
  await waitUntil(() => {
    try {
      return !isRunning(pid());
    } catch {
      return true;
    }
  });
  expect(await runWarm(warm, { inputs: { hang: false } })).toBe('done');
});

test('memory and processor time are limited as in a fresh sandbox', async () => {
  const source = `
def run(what):
    if what == "memory": return len(bytearray(1 << 30))
    while True: pass
`;
  const warm = fixture.createWarmRuns(source, { memoryBytes: 128 << 20, spec: { cpuSeconds: 1 } });
  expect((await warm.run({ inputs: { what: 'memory' } })).outcome).toMatchObject({ cause: 'memory' });
  expect((await warm.run({ inputs: { what: 'cpu' } })).outcome).toMatchObject({ cause: 'cpu' });
  expect((await warm.run({ inputs: { what: 'memory' } })).isWarm).toBe(true);
});
