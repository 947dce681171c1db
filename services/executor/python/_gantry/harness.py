"""Executes one job: reads it from the channel, calls run(), writes the result to the channel."""
import json
import os
import resource
import stat
import sys
import _signal                              # signal.signal() converts its argument and result to enums

from . import agent, calling, channel, forwarder, inspection, output, packs
from .content_types import guess_content_type
from .context import context
from .steps import Suspend

# Tearing a process down occupies a core for 1 to 2 ms, which would delay the delivery of its result. And a host that
# writes to a closed connection loses the data that it has not read from it yet.
LINGER_SECONDS = 0.015
ERROR_CHARS_MAX, TRACE_CHARS_MAX = 4_000, 16_000


class CpuLimit(BaseException):
    """Raised in user code when the soft CPU limit is reached. Not an Exception: `except Exception` must not swallow it."""


class OutputTooLarge(Exception):
    pass


def _on_cpu_limit(*_):
    raise CpuLimit("CPU time limit reached")


def serve_one(job, program=None):
    """Runs the job and sends its result. Returns when everything has been sent. `program`: its run(), if already
    imported."""
    answer, text = execute(job, program=program)
    flush_and_close_logs()                                      # so that logs end before the result arrives
    usage = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer["cpuMs"] = round((usage.ru_utime + usage.ru_stime + children.ru_utime + children.ru_stime) * 1e3, 3)
    answer["maxRssKb"] = max(usage.ru_maxrss, children.ru_maxrss)
    if text is not None:
        answer["outputBytes"] = len(text)
    channel.write_json(answer)
    if text is not None:                                        # a separate frame, which the host need not parse
        channel.write_frame(text)


def execute(job, root="/code", program=None):
    """Returns (result message, JSON text of the output or None). Never raises for anything that user code does."""
    if job.get("op") == "inspect":
        draft, toml = job.get("draft"), job.get("toml")
        found = (inspection.inspect_draft(draft["sources"], draft["modules"], job["entrypoint"]) if draft else
                 inspection.inspect_toml(toml["kind"], toml["text"]) if toml else
                 inspection.inspect_entrypoint(root, job["entrypoint"]))
        return {"t": "result", "ok": True}, json.dumps(found).encode()
    _signal.signal(_signal.SIGXCPU, _on_cpu_limit)              # pid 1 ignores signals it does not handle
    try:
        inputs = job.get("inputs", {})
        receive_files(job.get("files", ()), inputs)
        packs.receive(job.get("contexts", ()))
        os.environ.update(job.get("env", {}))
        if job.get("egressNonce"):
            forwarder.start(job["egressNonce"])
        context._begin(job)
        value = calling.call(program or _program(root, job), inputs, context)
        if context._steps.ended is not None:                    # swallowed on its way here; the return value is ignored
            raise context._steps.ended
        if context._steps.count_unrequested():
            context.log(f"run() did not request {context._steps.count_unrequested()} of its recorded steps.", "warning")
        save_files(value, job.get("outputs", ()))
        text = output.dumps(value).encode()
        if len(text) > job.get("outputBytes", 1 << 20):
            raise OutputTooLarge(f"the return value is {len(text)} bytes of JSON; the limit is {job['outputBytes']}")
        packs.send_changed(job.get("contexts", ()), lambda line: context.log(line, "warning"))
        return {"t": "result", "ok": True}, text
    except BaseException as error:
        answer = build_ending(error, root)
        if job.get("agent"):
            answer["code"] = agent.run_error_code(error)
        return answer, None


def _program(root, job):
    settings = job.get("agent")
    if settings is None:
        return calling.load_entrypoint(root, job["entrypoint"])
    return agent.program(root, settings)


def build_ending(error, root):
    """Builds the result of a run that did not return. Suspension or CodeChanged overrides any exception raised during
    unwinding; a run that is out of CPU time or memory is not suspended."""
    ended = context._steps.ended
    if ended is None or isinstance(error, (CpuLimit, MemoryError)):
        return build_failure(error, root)
    if error is not ended and isinstance(error, Exception):
        context.log(f"While the run was stopping: {type(error).__name__}: {format_error(error)}", "warning")
    return {"t": "result", "ok": True, "suspended": True} if isinstance(ended, Suspend) else build_failure(ended, root)


def build_failure(error, root):
    import traceback
    kind = {CpuLimit: "cpu", MemoryError: "memory", OutputTooLarge: "output"}.get(type(error), "exception")
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith((root + "/", "/deps/"))]
    message = format_error(error) + build_hint(error)
    if isinstance(error, SystemExit):
        message = f"the code ended itself with sys.exit({message})"
    return {"t": "result", "ok": False, "kind": kind, "type": type(error).__name__, "error": message[:ERROR_CHARS_MAX],
            "step": context._steps.find_last_failure(),
            "trace": "".join(traceback.format_list(frames))[-TRACE_CHARS_MAX:].replace(root + "/", "")}


def build_hint(error):
    """Builds the hint for the two most common mistakes of beginners."""
    if isinstance(error, ModuleNotFoundError):
        return ": declare the package that has it in python_dependencies"
    if type(error) is KeyError and error.__traceback__:
        frame = error.__traceback__
        while frame.tb_next:
            frame = frame.tb_next
        if frame.tb_frame.f_code is type(os.environ).__getitem__.__code__:
            return " is not in the environment: declare the secret in secrets_needed (of a worker: in secrets), and set its value"
    return ""


def format_error(error):
    try:
        return str(error)
    except Exception:
        return "(its text is unavailable)"


def receive_files(files, inputs):
    """Receives input files, which follow the job as data frames; the input's value becomes the file's path."""
    for file in files:
        os.makedirs("/tmp/inputs", exist_ok=True)
        path = "/tmp/inputs/" + file["name"]
        left = file["size"]
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        try:
            while left:
                piece = channel.read_frame()
                left -= len(piece)
                view = memoryview(piece)
                while view:
                    view = view[os.write(fd, view):]
        finally:
            os.close(fd)
        inputs[file["input"]] = path


def save_files(value, outputs):
    """Stores each declared image or file output that names a regular file under /tmp as an artifact."""
    if not isinstance(value, dict):
        return
    for declared in outputs:
        path = value.get(declared["name"])
        if declared["type"] not in ("image", "file") or not isinstance(path, (str, os.PathLike)):
            continue
        path = os.fspath(path)
        if not isinstance(path, str) or not os.path.realpath(path).startswith("/tmp/"):
            continue
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            continue
        if not stat.S_ISREG(found.st_mode):
            continue
        name = os.path.basename(path)
        content_type = guess_content_type(name)
        artifact_id = context.artifact(name, path, content_type)
        value[declared["name"]] = {"artifact": name, "artifact_id": artifact_id, "content_type": content_type, "size": found.st_size}


def flush_and_close_logs():
    for stream, fd in ((sys.stdout, 1), (sys.stderr, 2)):
        try:
            stream.flush()
        except Exception:
            pass
        try:
            os.close(fd)
        except OSError:
            pass


_PATH = list(sys.path)


# Relative to /host, the working directory of a child that waits for its run.
_WARM_UP = "python/warm_up"


def warm_up():
    """Executes a dry run before the real one. The first import and call of a forked interpreter mostly copy pages
    shared with the zygote (0.5 ms); here that happens while the child is idle instead of delaying a result."""
    execute(json.loads(b'{"entrypoint": "_warm_up_.py", "inputs": {"a": 1, "b": 2}}'), _WARM_UP)
    del sys.modules["_warm_up_"]
    sys.path[:] = _PATH
    context._begin({})
    resource.getrusage(resource.RUSAGE_SELF)
