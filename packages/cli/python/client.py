"""A Gantry client for programs that run elsewhere, using only the standard library.

    from gantry.client import Gantry

    run = Gantry().workers["word-count"].run({"text": "to be or not"})
    for line in run.log():
        print(line["text"])
    print(run.wait().output)

Without arguments, it reads GANTRY_URL, GANTRY_TOKEN and GANTRY_WORKSPACE. AsyncGantry has the same methods as
coroutines; they use threads of the event loop's default executor, one for each active request and log.
"""
import asyncio
import http.client
import json
import os
import random
import socket
import time
import urllib.parse
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar

__all__ = ["AsyncGantry", "AsyncRun", "AsyncWorker", "Gantry", "GantryError", "Run", "Worker"]

Item = TypeVar("Item")

URL_DEFAULT = "http://localhost:8080"
RETRIES_MAX = 3
FIRST_DELAY_SECONDS, DELAY_SECONDS_MAX = 0.3, 20.0
# About two minutes without a server.
STREAM_RETRIES_MAX = 15
RETRIED = {429, 502, 503, 504}
# Streams have a comment every 15 seconds.
STREAM_TIMEOUT_SECONDS = 60.0


class GantryError(Exception):
    """An unsuccessful response, or no response."""

    status: int
    """HTTP status; 0 if the server was not reached."""
    code: str
    """Stable name, such as `not_found`; `unreachable` and `not_json` come from the client."""
    message: str
    request_id: "str | None"
    """Identifies the request in the operator's log."""
    fields: "list[dict[str, str]]"
    """`path` and `message` of each rejected field."""
    retry_after: "float | None"
    """Seconds, if the server sends them."""

    def __init__(self, status: int, code: str, message: str, request_id: "str | None" = None,
                 fields: "list[dict[str, str]] | None" = None, retry_after: "float | None" = None):
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.request_id, self.fields, self.retry_after = request_id, fields or [], retry_after

    def __str__(self) -> str:
        where = f" (request {self.request_id})" if self.request_id else ""
        problems = (f"{field['path']}: {field['message']}" for field in self.fields)
        details = "".join(f"; {problem}" for problem in problems if problem not in self.message)
        return f"{self.message}{details}{where}"


class Gantry:
    """A client of one server, account and workspace. It keeps no connections open, and threads may share it."""

    def __init__(self, url: "str | None" = None, token: "str | None" = None, *, workspace: "str | None" = None,
                 timeout_seconds: float = 60.0, retries_max: int = RETRIES_MAX):
        self.url = (url or os.environ.get("GANTRY_URL") or URL_DEFAULT).rstrip("/")
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
            raise ValueError("url is not a server URL, such as https://gantry.example.com")
        given = token or os.environ.get("GANTRY_TOKEN")
        if not given:
            raise ValueError("no token: pass token or set GANTRY_TOKEN")
        workspace = workspace or os.environ.get("GANTRY_WORKSPACE")
        self._parts, self._timeout, self._retries_max = parts, timeout_seconds, retries_max
        self._headers = {"Authorization": f"Bearer {given}", **({"x-svc-workspace": workspace} if workspace else {})}
        self.workers = _Items(lambda worker_id: Worker(self, worker_id))
        """`workers["word-count"]`; sends no request."""
        self.runs = _Items(lambda run_id: Run(self, run_id, {}))

    def request(self, method: str, path: str, body: Any = None, *, query: "Mapping[str, Any] | None" = None,
                idempotency_key: "str | None" = None) -> Any:
        """Calls any operation and returns its JSON. Reads, and requests with an idempotency_key, are retried after lost
        connections, 429, 502, 503 and 504, or as Retry-After says. Raises GantryError."""
        headers = {"Accept": "application/json", **({"Idempotency-Key": idempotency_key} if idempotency_key else {})}
        content = None if body is None else json.dumps(body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        target = path + (f"?{urllib.parse.urlencode(query)}" if query else "")
        is_safe = method in ("GET", "HEAD") or idempotency_key is not None
        attempt = 0
        while True:
            try:
                return self._send_once(method, target, content, headers)
            except GantryError as error:
                delay = _retry_delay(error, attempt, idempotency_key is not None)
                if not is_safe or attempt >= self._retries_max or delay is None:
                    raise
            time.sleep(delay)
            attempt += 1

    def _send_once(self, method: str, target: str, content: "bytes | None", headers: "Mapping[str, str]") -> Any:
        connection = self._connect(self._timeout)
        try:
            connection.request(method, self._parts.path + target, content, {**self._headers, **headers})
            response = connection.getresponse()
            received = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable() from error
        finally:
            connection.close()
        return _read_json(response, received)

    def _connect(self, timeout_seconds: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        return kind(self._parts.hostname or "", self._parts.port, timeout=timeout_seconds)

    def _unreachable(self) -> GantryError:
        return GantryError(0, "unreachable", f"the server at {self.url} cannot be reached")


class _Items(Generic[Item]):
    def __init__(self, make: "Callable[[str], Item]"):
        self._make = make

    def __getitem__(self, item_id: str) -> Item:
        return self._make(item_id)


class Worker:
    def __init__(self, gantry: Gantry, worker_id: str):
        self._gantry, self.id = gantry, worker_id

    def run(self, inputs: "Mapping[str, Any] | None" = None, *, priority: "int | None" = None,
            idempotency_key: "str | None" = None) -> "Run":
        """Starts a run once, even if the request is retried. The same idempotency_key starts no second run."""
        body = {"inputs": dict(inputs or {}), **({} if priority is None else {"priority": priority})}
        path = f"/api/workers/{_quote(self.id)}/runs"
        started = self._gantry.request("POST", path, body, idempotency_key=idempotency_key or str(uuid.uuid4()))
        return Run(self._gantry, started["run_id"], started)


class _RunState:
    """The last state of a run that was read."""

    data: "dict[str, Any]"
    """All fields of the API."""

    @property
    def status(self) -> "str | None":
        """None until it is read."""
        return self.data.get("status")

    @property
    def output(self) -> "dict[str, Any] | None":
        """The return value of the code, under `result` if it is not an object. None until the run has completed."""
        return self.data.get("output")

    @property
    def error(self) -> "str | None":
        """The reason for a failure."""
        return self.data.get("error")


class Run(_RunState):
    def __init__(self, gantry: Gantry, run_id: str, data: "Mapping[str, Any]"):
        self._gantry, self.id, self.data = gantry, run_id, dict(data)

    def refresh(self) -> "Run":
        self.data = self._gantry.request("GET", self._path())
        return self

    def cancel(self) -> "Run":
        self.data = self._gantry.request("POST", self._path("/cancel"))
        return self

    def wait(self, timeout_seconds: "float | None" = None) -> "Run":
        """Waits until the run has ended, whatever the outcome. Raises TimeoutError, which leaves it running."""
        for _ in _EventStream(self._gantry, self._path("/events"), timeout_seconds):
            pass
        return self.refresh()

    def log(self) -> "Iterator[dict[str, Any]]":
        """Yields the lines of the log, live, to the end of the run: `level`, `text` and `fields`. A lost connection is resumed:
        no line is lost or repeated."""
        return _log_lines(self._log_stream())

    def _path(self, below: str = "") -> str:
        return f"/api/runs/{_quote(self.id)}{below}"

    def _log_stream(self) -> "_EventStream":
        return _EventStream(self._gantry, self._path("/logs/stream"), None)


def _log_lines(stream: "_EventStream") -> "Iterator[dict[str, Any]]":
    try:
        for kind, data in stream:
            if kind == "log":
                yield data
    finally:
        stream.close()


class _EventStream:
    """Events of a run to its end. close() may be called by another thread, and ends a read under way."""

    def __init__(self, gantry: Gantry, path: str, timeout_seconds: "float | None"):
        self._gantry, self._path = gantry, path
        self._deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        self._is_closed = False
        self._socket: "socket.socket | None" = None
        self._events = self._read_all()

    def __iter__(self) -> "Iterator[tuple[str, dict[str, Any]]]":
        return self._events

    def read_next(self) -> "tuple[str, dict[str, Any]] | None":
        return next(self._events, None)

    def close(self) -> None:
        self._is_closed = True
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _read_all(self) -> "Iterator[tuple[str, dict[str, Any]]]":
        last_id: "str | None" = None
        failures = 0
        while not self._is_closed:
            if (left := self._seconds_left()) <= 0:
                raise TimeoutError("the run has not ended in time; it is still running")
            failure: "Exception | None" = None
            connection = self._gantry._connect(left)
            try:
                response = self._open(connection, last_id)
                if response.status == 204:
                    return
                if response.status != 200:
                    _read_json(response, response.read())
                for event_id, kind, data in _parse_events(self._lines(response)):
                    failures = 0
                    last_id = event_id or last_id
                    yield kind, data
                    if kind == "done":
                        return
            except GantryError as error:
                if 400 <= error.status < 500 and error.status != 429:
                    raise
                failure = error
            except (OSError, http.client.HTTPException, ValueError) as error:
                # A socket that another thread has shut down is a ValueError for the reader of its file.
                failure = error
            finally:
                connection.close()
            if self._is_closed:
                return
            failures += 1
            if failures > STREAM_RETRIES_MAX:
                raise self._gantry._unreachable() from failure
            time.sleep(max(0.0, min(_backoff(failures - 1), self._seconds_left())))

    def _open(self, connection: http.client.HTTPConnection, last_id: "str | None") -> http.client.HTTPResponse:
        connection.connect()
        self._socket = connection.sock
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last_id} if last_id else {})}
        connection.request("GET", self._gantry._parts.path + self._path, None, {**self._gantry._headers, **headers})
        return connection.getresponse()

    def _lines(self, response: http.client.HTTPResponse) -> "Iterator[str]":
        while not self._is_closed and (line := response.readline()):
            yield line.decode("utf-8", "replace").rstrip("\r\n")
            if self._socket is not None:
                # The next attempt says whether anything is left.
                self._socket.settimeout(max(self._seconds_left(), 0.001))

    def _seconds_left(self) -> float:
        return STREAM_TIMEOUT_SECONDS if self._deadline is None else min(self._deadline - time.monotonic(), STREAM_TIMEOUT_SECONDS)


def _parse_events(lines: "Iterator[str]") -> "Iterator[tuple[str | None, str, dict[str, Any]]]":
    """Server-sent events with their id, their kind and their data."""
    event_id, kind, data = None, "message", []
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "":
            if data:
                yield event_id, kind, json.loads("\n".join(data))
            event_id, kind, data = None, "message", []
        elif name == "id":
            event_id = value
        elif name == "event":
            kind = value
        elif name == "data":
            data.append(value)


def _read_json(response: http.client.HTTPResponse, received: bytes) -> Any:
    """Raises GantryError for anything but a success with JSON."""
    request_id = response.headers.get("X-Request-Id")
    try:
        body = json.loads(received) if received else None
    except ValueError:
        body = None
        if 200 <= response.status < 300:
            raise GantryError(response.status, "not_json", "the response is not JSON: is this the URL of a Gantry server?", request_id) from None
    if 200 <= response.status < 300:
        return body
    problem = body if isinstance(body, dict) else {}
    message = problem.get("detail") or f"the server responded with status {response.status}"
    fields = problem.get("errors") or []
    raise GantryError(response.status, problem.get("code") or "unknown", message, request_id, fields, _retry_after(response))


def _retry_after(response: http.client.HTTPResponse) -> "float | None":
    value = response.headers.get("Retry-After", "")
    if value.isdecimal():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _retry_delay(error: GantryError, attempt: int, has_key: bool) -> "float | None":
    """Seconds until the next attempt; None where the response is final."""
    # The first request with this key is still under way.
    is_in_flight = error.status == 409 and has_key and error.retry_after is not None
    if error.status != 0 and error.status not in RETRIED and not is_in_flight:
        return None
    delay = max(error.retry_after or 0.0, _backoff(attempt))
    return delay if delay <= DELAY_SECONDS_MAX else None


def _backoff(attempt: int) -> float:
    """Seconds, spread so that clients do not all return at once."""
    return min(FIRST_DELAY_SECONDS * 2 ** attempt, DELAY_SECONDS_MAX) * (0.5 + random.random() / 2)


def _quote(value: str) -> str:
    return urllib.parse.quote(value, safe="")


class AsyncGantry:
    """Gantry for asyncio."""

    def __init__(self, url: "str | None" = None, token: "str | None" = None, *, workspace: "str | None" = None,
                 timeout_seconds: float = 60.0, retries_max: int = RETRIES_MAX):
        self._gantry = Gantry(url, token, workspace=workspace, timeout_seconds=timeout_seconds, retries_max=retries_max)
        self.url = self._gantry.url
        self.workers = _Items(lambda worker_id: AsyncWorker(self._gantry.workers[worker_id]))
        self.runs = _Items(lambda run_id: AsyncRun(self._gantry.runs[run_id]))

    async def request(self, method: str, path: str, body: Any = None, *, query: "Mapping[str, Any] | None" = None,
                      idempotency_key: "str | None" = None) -> Any:
        return await asyncio.to_thread(self._gantry.request, method, path, body, query=query, idempotency_key=idempotency_key)


class AsyncWorker:
    def __init__(self, worker: Worker):
        self._worker, self.id = worker, worker.id

    async def run(self, inputs: "Mapping[str, Any] | None" = None, *, priority: "int | None" = None,
                  idempotency_key: "str | None" = None) -> "AsyncRun":
        return AsyncRun(await asyncio.to_thread(self._worker.run, inputs, priority=priority, idempotency_key=idempotency_key))


class AsyncRun(_RunState):
    def __init__(self, run: Run):
        self._run, self.id = run, run.id

    @property
    def data(self) -> "dict[str, Any]":
        return self._run.data

    async def refresh(self) -> "AsyncRun":
        await asyncio.to_thread(self._run.refresh)
        return self

    async def cancel(self) -> "AsyncRun":
        await asyncio.to_thread(self._run.cancel)
        return self

    async def wait(self, timeout_seconds: "float | None" = None) -> "AsyncRun":
        async for _ in _events(_EventStream(self._run._gantry, self._run._path("/events"), timeout_seconds)):
            pass
        return await self.refresh()

    async def log(self) -> "AsyncIterator[dict[str, Any]]":
        async for kind, data in _events(self._run._log_stream()):
            if kind == "log":
                yield data


async def _events(stream: _EventStream) -> "AsyncIterator[tuple[str, dict[str, Any]]]":
    try:
        while (event := await asyncio.to_thread(stream.read_next)) is not None:
            yield event
    finally:
        # The thread of a task that was cancelled would go on reading.
        stream.close()
