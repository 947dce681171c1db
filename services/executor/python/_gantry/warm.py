"""A warm sandbox: imports the code of one version once, and forks a process for each of its runs.

It starts as any other child (sealing.py), so the code is imported under the same filters, without inputs, secrets or network.
Then it is pid 1 of its runs, which come one after the other. What a run changes ends with it: all its processes are
killed, /tmp is emptied, and a sandbox whose network was used is not used again.

A process forked from this one must be what a new process would be. Anything left by the import that a fork would share
or lose, or that would differ from run to run, makes the version run in fresh sandboxes: `Fresh` says why.
"""
import contextlib
import datetime
import gc
import json
import os
import re
import resource
import signal
import socket
import stat
import sys
import time
import types

from . import calling, channel, forwarder, harness, networks, sealing
from .context import Context, context
from .syscalls import PR_SET_DUMPABLE, prctl

# Output and logs of the import are repeated in every run, as if it had imported the module itself.
CAPTURED_BYTES_MAX = 256 * 1024
REASON_CHARS_MAX = 500
NEAR_SECONDS = 60
# Limits of the search for values that belong to one run.
VALUES_MAX, DEPTH_MAX, TEXT_CHARS_MAX = 10_000, 4, 1_000

_THREAD_COUNTS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_PER_RUN = frozenset(("run_id", "workspace_id", "attempt", "inputs", "secrets", "connections", "tools"))
_SHARED_WRITABLE = re.compile(rb"^\S+ .w.s ", re.MULTILINE)
# Signal 32 and 33 belong to the C library.
_SIGNALS = [number for number in range(1, signal.NSIG) if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33)]

# Kept before the module is imported, which may replace them for its own runs.
_fork, _kill, _wait, _wait4, _write, _exit = os.fork, os.kill, os.waitpid, os.wait4, os.write, os._exit
_close, _dup2, _open, _recv_fds = os.close, os.dup2, os.open, socket.recv_fds


class Fresh(Exception):
    """This version cannot run from a warm sandbox; the text says why."""


def serve(job):
    """Serves runs, and never returns. On the control channel: `warm`, or `fresh` with the reason; then `ended` for each
    run."""
    untouched = networks.counters()
    try:
        program, captured = import_ahead(job, untouched)
    except Fresh as reason:
        _send({"t": "fresh", "reason": str(reason)[:REASON_CHARS_MAX]})
        _exit(0)
    handlers = {number: handler for number in _SIGNALS if (handler := signal.getsignal(number)) != signal.SIG_DFL}
    for number in handlers:                                     # the kernel drops signals from inside that pid 1 does not handle
        signal.signal(number, signal.SIG_DFL)
    mask = signal.pthread_sigmask(signal.SIG_SETMASK, ())
    gc.collect()
    gc.freeze()
    held = _proportional_bytes()
    prctl(PR_SET_DUMPABLE, 0)                                   # its runs cannot access its memory and descriptors
    free = _first_free_descriptor()
    _send({"t": "warm", "bytes": held})
    runs = socket.socket(fileno=sealing.RUNS)
    while True:
        _, connections, _, _ = _recv_fds(runs, 1, 3)
        if len(connections) != 3:
            _exit(0)                                            # the zygote has exited
        pid = _fork()
        if pid == 0:
            run_one(connections, program, captured, handlers, mask)
        for connection in connections:
            _close(connection)
        _, status, usage = _wait4(pid, 0)
        _end_everything()
        _send({"t": "ended", "status": os.waitstatus_to_exitcode(status), "maxRssKb": usage.ru_maxrss,
               "cpuMs": round((usage.ru_utime + usage.ru_stime) * 1e3, 3)})
        # Hooks that packages have registered ran here too.
        if networks.counters() != untouched or _first_free_descriptor() != free or _has_threads() or _shares_memory():
            _exit(0)
        _empty("/tmp")


def run_one(connections, program, captured, handlers, mask):
    """Executes a run, from its fork to its result. Never returns."""
    try:
        for connection, fd in zip(connections, (channel.CTL, 1, 2)):
            _dup2(connection, fd, fd < 3)
        for fd in (sealing.RUNS, *connections):
            _close(fd)
        os.setsid()
        prctl(PR_SET_DUMPABLE, 1)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        sealing.seed_generators()
        harness.execute({"inputs": {"a": 1, "b": 2}}, program=lambda a, b: a + b)      # copies the pages that the run will write
        context._begin({})
        channel.write_frame(b'{"t": "ready"}')
        sealing.limit_cpu(channel.read_json()["cpuSeconds"])
        job = channel.read_json()
        if job.get("egressNonce"):
            forwarder.listen()
        captured.repeat()
        harness.serve_one(job, program)
        channel.wait_for_hang_up(harness.LINGER_SECONDS)        # sooner if runs follow each other closely
    finally:
        _exit(0)


def import_ahead(job, untouched):
    """Returns (run(), the captured output of the import). @raises Fresh"""
    forwarder.stop_listening()                                  # so that a connection fails at once, and is counted
    before = _open_descriptors()
    captured, reasons = _CapturedOutput(), []
    with captured.capture(), _one_thread(), _watch(reasons, job["secretNames"]):
        try:
            program = calling.load_entrypoint("/code", job["entrypoint"])
        except BaseException as error:
            reasons.append(f"importing it ahead of a run failed: {type(error).__name__}: {harness.format_error(error)}")
    if _open_descriptors() != before:
        reasons.append("its import leaves a file or a socket open")
    if _has_threads():
        reasons.append("its import starts a thread")
    if _has_had_children():
        reasons.append("its import starts a process")
    if _shares_memory():
        reasons.append("its import creates memory that processes would share")
    if any(number in _SIGNALS and not callable(signal.getsignal(number)) for number in _caught_signals()):
        reasons.append("its import handles a signal outside of Python")
    if any(signal.getitimer(timer)[0] for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)):
        reasons.append("its import sets a timer")
    if os.listdir("/tmp"):
        reasons.append("its import writes files")
    if networks.counters() != untouched:
        reasons.append("its import uses the network")
    if captured.is_long():
        reasons.append("its import prints or logs more than 256 KB")
    reasons.extend(_differs_from_run_to_run())
    if reasons:
        raise Fresh(reasons[0])
    return program, captured


class _CapturedOutput:
    """The output and log lines of the import."""

    def __init__(self):
        self.frames, self.outputs = [], {}

    @contextlib.contextmanager
    def capture(self):
        write_frame, channel.write_frame = channel.write_frame, self.frames.append
        files = {fd: (os.dup(fd), os.memfd_create("captured")) for fd in (1, 2)}
        for fd, (_, file) in files.items():
            _dup2(file, fd)
        try:
            yield
        finally:
            channel.write_frame = write_frame
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            for fd, (outside, file) in files.items():
                self.outputs[fd] = os.pread(file, CAPTURED_BYTES_MAX + 1, 0)
                _dup2(outside, fd)
                _close(outside)
                _close(file)

    def is_long(self):
        return sum(map(len, (*self.frames, *self.outputs.values()))) > CAPTURED_BYTES_MAX

    def repeat(self):
        for body in self.frames:
            channel.write_frame(body)
        for fd, text in self.outputs.items():
            while text:
                text = text[_write(fd, text):]


@contextlib.contextmanager
def _one_thread():
    """Limits libraries of linear algebra, which start threads when loaded, to one. They read this once; the run does
    not see it."""
    added = [name for name in _THREAD_COUNTS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextlib.contextmanager
def _watch(reasons, secret_names):
    """Records access to values that only a run has, even if the code continues without them."""

    class Watched(Context):
        def __getattribute__(self, name):
            if name in _PER_RUN:
                reasons.append(f"its import uses context.{name}")
            return super().__getattribute__(name)

    environment = type(os.environ)

    class WatchedEnvironment(environment):
        def __getitem__(self, name):
            if name in secret_names:
                reasons.append(f"its import reads the secret {name}")
            return super().__getitem__(name)

        def __iter__(self):
            if secret_names:
                reasons.append("its import reads the whole environment, which has secrets in a run")
            return super().__iter__()

    def request(*_):
        reasons.append("its import does what only a run can: steps, models, tools or artifacts")
        raise RuntimeError("not while the module is imported: move this into run()")

    originals = channel.request, channel.upload
    channel.request = channel.upload = request
    context.__class__, os.environ.__class__ = Watched, WatchedEnvironment
    try:
        yield
    finally:
        context.__class__, os.environ.__class__ = Context, environment
        channel.request, channel.upload = originals


def _differs_from_run_to_run():
    """Yields reasons for values of the version's own modules that are specific to a run: the time, and random
    generators."""
    random = sys.modules["random"]                              # the zygote has it
    generators = [random.Random]
    if numpy_random := sys.modules.get("numpy.random"):
        generators += [numpy_random.Generator, numpy_random.RandomState]
    modules = {name: module for name, module in list(sys.modules.items())
               if str(getattr(module, "__file__", None) or "").startswith("/code/")}
    now, today = time.time(), datetime.date.today().isoformat()
    for name, value in _iterate_values(modules):
        if _is_near(value, now) or (isinstance(value, str) and len(value) < TEXT_CHARS_MAX and today in value):
            yield f"its import keeps the time, in {name}"
        elif isinstance(value, tuple(generators)) and not isinstance(value, random.SystemRandom):
            yield f"its import keeps a generator of random numbers, in {name}"


def _iterate_values(modules):
    """Yields (variable, value) of modules and of the values in their variables: containers, defaults of parameters, and
    attributes of classes and objects of these modules."""
    pending = [(name, value, 0) for module in modules.values() for name, value in list(vars(module).items())
               if not name.startswith("__")]
    seen = set()
    while pending and len(seen) < VALUES_MAX:
        name, value, depth = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield name, value
        if depth == DEPTH_MAX:
            continue
        if isinstance(value, dict):
            below = list(value.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            below = list(value)
        elif isinstance(value, types.FunctionType):
            below = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
        elif isinstance(value, type):
            below = list(vars(value).values()) if value.__module__ in modules else []
        else:
            below = list(getattr(value, "__dict__", {}).values()) if type(value).__module__ in modules else []
        pending.extend((name, each, depth + 1) for each in below[:VALUES_MAX])


def _is_near(value, now):
    if type(value) in (int, float):
        return any(abs(value / unit - now) < NEAR_SECONDS for unit in (1, 1e3, 1e9))
    if type(value) is datetime.datetime:
        with contextlib.suppress(OverflowError, ValueError, OSError):
            as_utc = value.replace(tzinfo=datetime.timezone.utc)
            return any(abs(each.timestamp() - now) < NEAR_SECONDS for each in (value, as_utc))
    if type(value) is datetime.date:
        return abs((value - datetime.date.today()).days) <= 1
    return isinstance(value, time.struct_time)


def _send(message):
    text = json.dumps(message).encode()
    _write(channel.CTL, len(text).to_bytes(4, "big") + text)


def _open_descriptors():
    return {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")}


def _first_free_descriptor():
    """Detects cheaply that one was left open. A process that is not dumpable cannot list its own."""
    fd = _open("/", os.O_RDONLY | os.O_CLOEXEC)
    _close(fd)
    return fd


def _proportional_bytes():
    """Returns its memory, with its share of the memory shared with the zygote."""
    with open("/proc/self/smaps_rollup", "rb") as file:
        return int(re.search(rb"^Pss:\s*(\d+)", file.read(), re.MULTILINE)[1]) * 1024


def _has_threads():
    return len(os.listdir("/proc/self/task")) > 1


def _caught_signals():
    """Returns the signals that the kernel knows to be caught: libraries may handle signals without Python's
    knowledge."""
    with open("/proc/self/status", "rb") as file:
        mask = int(re.search(rb"^SigCgt:\s*(\w+)", file.read(), re.MULTILINE)[1], 16)
    return [number for number in range(1, signal.NSIG) if mask >> (number - 1) & 1]


def _has_had_children():
    with contextlib.suppress(ChildProcessError):
        _wait(-1, os.WNOHANG)
        return True
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt > 0


def _shares_memory():
    with open("/proc/self/maps", "rb") as file:
        return _SHARED_WRITABLE.search(file.read()) is not None


def _end_everything():
    """Kills leftover processes of the run. Orphans become children of pid 1, and a process that is being killed starts
    no other."""
    while True:
        with contextlib.suppress(ProcessLookupError):
            _kill(-1, signal.SIGKILL)
        try:
            _wait(-1, 0)
        except ChildProcessError:
            return


def _empty(top):
    """Restores a directory to its state after mounting. Folders are moved up before they are emptied: any depth, with
    two descriptors."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    here = _open(top, flags)
    os.fchmod(here, 0o1777)
    for attribute in os.listxattr(here):
        os.removexattr(here, attribute)
    moved = 0
    while folders := _remove_files(here):
        for name in folders:
            os.chmod(name, 0o700, dir_fd=here)
            folder = _open(name, flags, dir_fd=here)
            for below in _remove_files(folder):
                moved += 1
                os.rename(below, f".{moved}-{os.urandom(8).hex()}", src_dir_fd=folder, dst_dir_fd=here)
            _close(folder)
            os.rmdir(name, dir_fd=here)
    os.utime(here, ns=(0, 0))
    _close(here)


def _remove_files(folder):
    """Removes all but folders, and returns the names of the folders."""
    folders = []
    for name in os.listdir(folder):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            folders.append(name)
        else:
            os.unlink(name, dir_fd=folder)
    return folders
