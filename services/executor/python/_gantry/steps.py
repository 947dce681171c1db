"""Durable operations of a run: recorded before the code sees the result, and replayed from the record when the code
runs again.

A run that waits (for time, an approval, another run) has no process; its code starts again from the top, and each
recorded operation returns at once. An operation is identified by its ordinal: 1, 2, ... in the order in which the code
requests them. That works only if the code makes the same requests each time. Therefore kind and name are compared, only
one operation is allowed at a time, and a failure that the code caught is recorded as well: before the next operation,
because an uncaught one ends the run, and a retry executes it again.
"""
import contextlib
import datetime
import importlib
import inspect
import json
import math
import threading
import time

from . import channel, output
from .models import CONNECTION as MODELS, model_error
from .tools import tool_error

STEPS_MAX = 1_000
# A shorter sleep costs less than restarting the code. It is still recorded.
SHORT_SLEEP_SECONDS = 2.0
SLEEP_SECONDS_MAX = 366 * 86_400
NAME_UNITS_MAX, WORKER_ID_UNITS_MAX, MESSAGE_UNITS_MAX = 200, 64, 10_000
FORM_ITEMS_MAX = 50
# The host would not even read a larger request; below that the host decides.
QUESTION_BYTES_MAX = 200_000
FAILED = "gantry:failed"
FAILURE_CHARS_MAX = 2_000


class Suspend(BaseException):
    """Ends the process of a run that waits. Not an Exception: `except Exception` must not prevent the wait."""


class CodeChanged(BaseException):
    """The code requests a different operation from the recorded one. Not an Exception either: continuing would be guessing."""


class StepFailed(Exception):
    """A step that failed before the run was suspended, with an exception whose class cannot be recreated."""


class CallFailed(Exception):
    """A called run that did not complete. `status` is its final status, `error` its error (`code`, `message`) or None."""

    def __init__(self, worker_id, status, error=None):
        self.worker_id, self.status, self.error = worker_id, status, error
        why = error.get("message") if isinstance(error, dict) else None
        super().__init__(f"the run of worker {worker_id!r} ended as {status}" + (f": {why}" if why else ""))


class Steps:
    def __init__(self):
        self._lock = threading.Lock()
        self.begin((), ())

    def begin(self, recorded, may):
        self._recorded = {step["ordinal"]: step for step in recorded}
        self._recorded_last = max(self._recorded, default=0)
        self._may = may
        self._last = 0
        self._current = None
        self._failure = None
        # A Suspend or CodeChanged: from then on every operation raises it again, however the code handled the first one.
        self.ended = None

    def step(self, name, fn, args, kwargs):
        name = _name(name, "the name of a step")
        if not callable(fn):
            raise TypeError(f"step {name!r} needs a function: context.step(name, fn, *args)")
        if _is_async(fn):
            import asyncio                                      # lazy: saves time in a cold process that is not async
            waiting = self._step_async(name, fn, args, kwargs)
            return waiting if asyncio._get_running_loop() else asyncio.run(waiting)
        with self._alone(f"step {name!r}"):
            known = self._advance("step", name)
            if known is not None:
                return _read_result(known)
            with self._attempt(name) as started:
                value = fn(*args, **kwargs)
                if inspect.isawaitable(value):
                    getattr(value, "close", lambda: None)()
                    raise TypeError(f"the function of step {name!r} returned an awaitable: pass an async function itself")
                return self._record("step", name, value, started)

    async def _step_async(self, name, fn, args, kwargs):
        with self._alone(f"step {name!r}"):
            known = self._advance("step", name)
            if known is not None:
                return _read_result(known)
            with self._attempt(name) as started:
                return self._record("step", name, await fn(*args, **kwargs), started)

    def sleep(self, seconds, until):
        if (seconds is None) == (until is None):
            raise TypeError("context.sleep() takes either seconds or until")
        started = time.time()
        wake = until.timestamp() if isinstance(until, datetime.datetime) else started + _seconds(seconds, "seconds")
        if wake - started > SLEEP_SECONDS_MAX:
            raise ValueError("a run can sleep for up to 366 days")
        with self._alone("context.sleep()"):
            if self._advance("sleep", "sleep") is not None:
                return
            if wake - started >= SHORT_SLEEP_SECONDS:
                waited = {} if seconds is None else {"forMs": math.ceil((wake - started) * 1e3)}
                self._suspend("sleep", "sleep", {"wakeAt": math.ceil(wake * 1e3), **waited})
            try:
                time.sleep(max(0.0, wake - time.time()))
                self._record("sleep", "sleep", None, started)
            except BaseException:
                self._last -= 1                                 # interrupted sleep: its ordinal is free again
                raise

    def approve(self, title, message, data, form, expires_in, calls=None):
        """Requests an approval. `calls`: tool calls of an agent, which are decided one by one; `data` has their names
        and arguments."""
        self._require("approve", "ask a person")
        title = _name(title, "the title of an approval")
        if isinstance(expires_in, datetime.timedelta):
            expires_in = expires_in.total_seconds()
        if expires_in is not None and not expires_in > 0:
            raise ValueError("expires_in must be more than 0 seconds")
        if message is not None and _units(str(message)) > MESSAGE_UNITS_MAX:
            raise ValueError(f"the message of an approval can have {MESSAGE_UNITS_MAX} characters")
        if form is not None and len(form := list(form)) > FORM_ITEMS_MAX:
            raise ValueError(f"the form of an approval can have {FORM_ITEMS_MAX} items")
        request = {
            "title": title,
            "message": None if message is None else str(message),
            "data": _plain(data, "data"),
            "form": None if form is None else _plain(form, "form"),
            "expiresInSeconds": None if expires_in is None else _seconds(expires_in, "expires_in"),
        }
        if calls is not None:
            request["calls"] = _plain(calls, "the calls")
        with self._alone("context.approve()"):
            known = self._advance("approve", title)
            return self._suspend("approve", title, request) if known is None else _read_result(known)

    def call(self, worker_id, inputs):
        self._require("call", "run other workers")
        worker_id = _name(worker_id, "the id of a worker", WORKER_ID_UNITS_MAX)
        request = {"workerId": worker_id, "inputs": _plain({} if inputs is None else dict(inputs), "inputs")}
        with self._alone("context.call()"):
            known = self._advance("call", worker_id)
            if known is None:
                self._suspend("call", worker_id, request)
            ended = _read_result(known) or {}
            if ended.get("status") != "completed":
                raise CallFailed(worker_id, ended.get("status"), ended.get("error"))
            return ended.get("output")

    def tool(self, connection, tool, arguments, timeout_seconds):
        name, request = _build_call(connection, tool, arguments, timeout_seconds)
        return self._call_service(name, request, lambda failure: tool_error(connection, tool, failure))

    def tools(self, calls):
        """Makes calls of (connection, tool, arguments, seconds) at once, each as its own step, in this order. Returns
        for each (result, None) or (None, its error). ValueError: none was made."""
        requests = [_build_call(*call) for call in calls]
        with self._alone(f"{len(requests)} tools at once"):
            first = self._last
            try:
                # If the process ended in the middle, some are recorded: the others keep their ordinals.
                places = [(self._advance("tool", name, True), self._last) for name, _ in requests]
                frames = [{"ordinal": place, **each} for (known, place), (_, each) in zip(places, requests) if known is None]
                answer = _request_host("the arguments of tools", {"t": "tools", "calls": frames}) if frames else {"answers": []}
                if "refused" in answer:
                    raise ValueError(answer["refused"])
            except ValueError:
                self._last = first
                raise
            answers = iter(answer["answers"])
            return [_parse_outcome(call, next(answers) if known is None else known) for call, (known, _) in zip(calls, places)]

    def model(self, name, arguments, timeout_seconds, stream=False, before=None):
        step = _name(f"model.{_name(name, 'the name of a model')}", "the name of a model")
        request = {"connection": MODELS, "tool": name, "arguments": _plain(arguments, "what is asked of a model"), "stream": stream}
        return self._call_service(step, {**request, "timeoutMs": math.ceil(timeout_seconds * 1e3)}, model_error, before)

    def _call_service(self, name, request, to_error, before=None):
        """Requests a step that the service executes and records: a tool or a model call. `before`: called if it is not
        recorded."""
        with self._alone(f"tool {name!r}"):
            known = self._advance("tool", name)
            started = time.time()
            try:
                if known is None:
                    if before is not None:
                        before()
                    answer = _request_host(f"the arguments of {name}", {"t": "tool", "ordinal": self._last, **request})
                    if "refused" in answer:
                        raise ValueError(answer["refused"])
                    failure = answer.get("failed")
                else:
                    answer, failure = known, _find_failure(known)
            except (ValueError, OSError):
                self._last -= 1                                 # nothing is recorded: its ordinal is free again
                raise
            if failure is None:
                return answer.get("result")
            error = to_error(failure)
            self._set_failure(name, started, error)
            self._failure["kind"] = "tool"
            raise error

    def find_last_failure(self):
        """Returns the step that failed last, unless the code has continued with another; None otherwise."""
        return self._failure and {key: self._failure[key] for key in ("ordinal", "name", "startedAt", "failed")}

    def count_unrequested(self):
        """Counts the recorded operations that the code has not requested."""
        return max(0, self._recorded_last - self._last)

    def is_known(self, ahead=0):
        """Returns whether an earlier attempt has recorded the last requested operation, or the one `ahead` after it."""
        return self._last + ahead <= self._recorded_last

    def _require(self, what, deed):
        if what not in self._may:
            raise RuntimeError(f"context.{what}() is not available in this run: only workers can {deed}, automations can't")

    @contextlib.contextmanager
    def _alone(self, what):
        with self._lock:
            if self.ended is not None:
                raise self.ended
            if self._current is not None:
                raise RuntimeError(f"{what} was called while {self._current} was in progress: steps, sleeps, approvals, "
                                   "calls and tools run one at a time, never nested or from two threads or tasks")
            self._current = what
        try:
            yield
        finally:
            self._current = None

    @contextlib.contextmanager
    def _attempt(self, name):
        started = time.time()
        try:
            yield started
        except BaseException as error:
            self._set_failure(name, started, error)
            raise

    def _set_failure(self, name, started, error):
        kind = type(error)
        self._failure = {"t": "step", "ordinal": self._last, "kind": "step", "name": name, "startedAt": _ms(started),
                         "failed": {"module": kind.__module__, "type": kind.__qualname__, "message": _message(error)}}

    def _advance(self, kind, name, at_once=False):
        """Takes the next ordinal. Returns its record, or None."""
        # The service has recorded the result of a tool.
        if self._failure is not None and self._failure["kind"] != "tool":
            answer = _request_host("a failure", self._failure)
            if "refused" in answer:
                raise RuntimeError(f"the failure of step {self._failure['name']!r} could not be recorded: {answer['refused']}")
        self._failure = None
        place = self._last + 1
        if place > STEPS_MAX:
            raise ValueError(f"a run can have {STEPS_MAX} steps, sleeps, approvals, calls and tool calls")
        known = self._recorded.get(place)
        if known is None and place < self._recorded_last and not at_once:
            self._raise_changed(f"nothing is recorded as number {place}, although later ones are; the code asked for {kind} {name!r}")
        # A title may contain a date, so the name of an approval is for people and not compared.
        if known is not None and not _is_refusal(known, kind) and (
                known["kind"] != kind or (kind in ("step", "call", "tool") and known["name"] != name)):
            self._raise_changed(f"recorded as number {place} is {known['kind']} {known['name']!r}, the code asked for {kind} {name!r}")
        self._last = place
        return known

    def _raise_changed(self, what):
        self.ended = CodeChanged(f"{what}. Code that runs again must ask for the same steps in the same order: what differs "
                                 "from one time to the next, such as the time or data from outside, belongs inside a step.")
        raise self.ended

    def _record(self, kind, name, value, started):
        """Records a result and returns its recorded form: the code sees the same value now and when it runs again."""
        what = f"the result of {kind} {name!r}"
        answer = _request_host(what, {"t": "step", "ordinal": self._last, "kind": kind, "name": name, "startedAt": _ms(started),
                                      "result": _plain(value, what)})
        if "refused" in answer:
            raise ValueError(answer["refused"])
        return answer.get("result")

    def _suspend(self, kind, name, request):
        step, started = {"ordinal": self._last, "kind": kind, "name": name}, time.time()
        try:
            suspension = {"kind": kind, "step": step, **request}
            answer = _request_host(f"what is handed to {kind} {name!r}", {"t": "suspend", "suspension": suspension})
            if "refused" in answer:
                raise ValueError(answer["refused"])
        except ValueError as error:
            # Decisions and results of other runs are recorded by the service; its refusal is a failed step.
            self._set_failure(_refusal_name(kind), started, error)
            raise
        self.ended = Suspend(f"the run waits for {kind} {name!r}: its process ends here")
        raise self.ended


def _request_host(what, message):
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(body) > QUESTION_BYTES_MAX:
        raise ValueError(f"{what} is {len(body)} bytes of JSON, which is too large: save it as an artifact")
    return channel.request(body)


def _build_call(connection, tool, arguments, timeout_seconds):
    """Returns (the name of its step, the call in the host's format)."""
    name = _name(f"{connection}.{_name(tool, 'the name of a tool')}", "the name of a tool with its connection")
    request = {"connection": connection, "tool": str(tool), "arguments": _plain(arguments, f"the arguments of {name}")}
    return name, {**request, "timeoutMs": math.ceil(timeout_seconds * 1e3)}


def _parse_outcome(call, answer):
    """Returns (result, None) or (None, error) of one call among several."""
    if "refused" in answer:
        return None, ValueError(answer["refused"])
    failure = answer.get("failed") or _find_failure(answer)
    return (answer.get("result"), None) if failure is None else (None, tool_error(call[0], call[1], failure))


def _is_async(fn):
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))


def _ms(seconds):
    return int(seconds * 1e3)


def _seconds(value, what):
    value = float(value)
    if not 0 <= value < math.inf:
        raise ValueError(f"{what} must be a number of seconds, 0 or more")
    return value


def _units(text):
    """Counts UTF-16 code units, as the host does."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _name(value, what, units_max=NAME_UNITS_MAX):
    value = str(value)
    if not value.strip() or _units(value) > units_max or not value.isprintable():
        raise ValueError(f"{what} must be 1 to {units_max} printable characters on one line")
    return value


def _plain(value, what):
    """Returns the value after a JSON round trip. Records pass through programs whose numbers are doubles: an id must
    not come back rounded."""
    def exact(digits):
        number = int(digits)
        if abs(number) > 2 ** 53:
            raise ValueError(f"{what} holds the integer {digits[:40]}, which is not exact in JSON above 2**53: use text instead")
        return number
    return json.loads(output.dumps(value), parse_int=exact)


def _message(error):
    try:
        return str(error)[:FAILURE_CHARS_MAX]
    except Exception:
        return ""


def _refusal_name(kind):
    return f"refused {kind}"


def _is_refusal(known, kind):
    """Returns whether a record is a refused request whose error the code caught: it continued, and is refused again."""
    return (kind in ("approve", "call") and known["kind"] == "step" and known["name"] == _refusal_name(kind)
            and _find_failure(known) is not None)


def _find_failure(known):
    result = known.get("result")
    failure = result.get(FAILED) if isinstance(result, dict) else None
    return failure if isinstance(failure, dict) else None


def _read_result(known):
    failure = _find_failure(known)
    if failure is not None:
        raise _recreate_error(failure, known["name"])
    return known.get("result")


def _recreate_error(failure, name):
    """Recreates the exception that the code caught when the step failed, so that the same `except` catches it."""
    message = str(failure.get("message"))
    try:
        kind = getattr(importlib.import_module(failure["module"]), failure["type"])
        if issubclass(kind, BaseException) and not issubclass(kind, (Suspend, CodeChanged)):
            error = kind.__new__(kind)
            error.args = (message,)
            str(error)
            return error
    except Exception:
        pass
    return StepFailed(f"step {name!r} failed before with {failure.get('type')}: {message}")
