"""`context`: the platform's interface for a run."""
import os
import stat
from typing import Any

from . import channel
from .content_types import guess_content_type
from .models import CONNECTION as MODELS, TIMEOUT_SECONDS as MODEL_TIMEOUT_SECONDS, ModelAnswer, Models
from .steps import Steps
from .tools import NamedItems, Tools

LEVELS = ("debug", "info", "warning", "error")
# Longer log lines are truncated; the host splits at line ends.
TEXT_CHARS_MAX = 30_000


class SecretNotAvailable(KeyError):
    """Its name is for the author: public pages recognise this type and do not show the message."""


class Secrets(NamedItems):
    """The secrets that this code declared, by name."""

    def __getitem__(self, name):
        if name not in self._named:
            raise SecretNotAvailable(f"secret {name!r} is not available: declare it in secrets_needed (for a worker: in secrets), "
                                     "and set its value")
        return os.environ[name]

    def __repr__(self):
        return f"<secrets {', '.join(self._named)}>"


class Connection:
    """An account of another service. `token` is a placeholder: requests to `hosts` leave with the real one."""
    __slots__ = ("name", "token", "base_url", "hosts", "scopes", "account_label")

    def __init__(self, connection):
        self.name = connection["name"]
        self.token = connection["token"]
        self.base_url = connection.get("baseUrl")
        self.hosts = tuple(connection["hosts"])
        self.scopes = tuple(connection.get("scopes", ()))
        self.account_label = connection.get("accountLabel")

    def __repr__(self):
        return f"<connection {self.name} to {', '.join(self.hosts)}>"


class Connections(NamedItems):
    """The connections that this worker declares, by the declared name."""

    def __init__(self, connections=()):
        self._named = {each["name"]: Connection(each) for each in connections}

    def __getitem__(self, name):
        if name not in self._named:
            have = f"It has {', '.join(self._named)}." if self._named else "It has none."
            raise KeyError(f"connection {name!r} is not available: the worker must declare its connection, as in "
                           f"connections: [{name!r}]. {have}")
        return self._named[name]

    def __repr__(self):
        return f"<connections {', '.join(self._named)}>" if self._named else "<no connections>"


class Context:
    run_id: str
    workspace_id: str
    attempt: int
    inputs: dict
    secrets: Secrets
    connections: Connections
    tools: Tools

    def __init__(self):
        self.run_id = self.workspace_id = ""
        self.attempt = 1
        self.inputs = {}
        self.secrets = Secrets()
        self.connections = Connections()
        self._steps = Steps()
        self.tools = Tools(self._steps)
        self._models = Models(self._steps)

    def _begin(self, job):
        self.run_id = job.get("runId", "")
        self.workspace_id = job.get("workspaceId", "")
        self.attempt = job.get("attempt", 1)
        self.inputs = job.get("inputs", {})
        self.secrets._named = tuple(job.get("env", {}))
        self.connections = Connections(job.get("connections", ()))
        self._steps.begin(job.get("steps", ()), job.get("may", ()))
        tools = job.get("tools", ())
        self.tools._begin([each for each in tools if each["name"] != MODELS])
        self._models._begin(tools)

    def log(self, message: Any, level: str = "info", **fields: Any) -> None:
        """One line of the run's log. Fields must be JSON; other values are written as text."""
        if level == "warn":
            level = "warning"
        if level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}")
        frame = {"t": "log", "level": level, "text": str(message)[:TEXT_CHARS_MAX]}
        if fields:
            from .output import dumps
            try:
                text = dumps(fields)
            except TypeError:
                text = dumps({k: str(v) for k, v in fields.items()})
            frame["fields"] = text[:TEXT_CHARS_MAX]
        channel.write_json(frame)

    def progress(self, fraction: float, message: "str | None" = None) -> None:
        """Progress of the run, from 0 to 1."""
        fraction = min(1.0, max(0.0, float(fraction)))
        if fraction != fraction:
            raise ValueError("progress must be a number from 0 to 1")
        text = None if message is None else str(message)[:1000]
        channel.write_json({"t": "progress", "fraction": fraction, "message": text})

    def cost(self, usd: float, label: "str | None" = None) -> None:
        """Adds to the cost of this run."""
        usd = float(usd)
        if not 0 <= usd < 1e9:
            raise ValueError("cost must be a number of dollars, 0 or more")
        channel.write_json({"t": "cost", "usd": usd, "label": None if label is None else str(label)[:200]})

    def artifact(self, name: str, path_or_bytes: Any, content_type: "str | None" = None) -> str:
        """Keeps a file beyond the run: bytes, or the path of a regular file. Returns the artifact's id."""
        name = str(name)
        if not name or len(name) > 255 or "/" in name or "\0" in name or name in (".", ".."):
            raise ValueError("an artifact's name is a file name: up to 255 characters, no slash")
        content_type = content_type or guess_content_type(name)
        if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            data = memoryview(path_or_bytes).cast("B")
            pieces = (bytes(data[i:i + channel.CHUNK_BYTES]) for i in range(0, len(data), channel.CHUNK_BYTES))
            return self._send(name, content_type, len(data), pieces)
        if not isinstance(path_or_bytes, (str, os.PathLike)):
            raise TypeError(f"artifact {name!r} must be bytes or the path of a file, not {type(path_or_bytes).__name__}")
        # O_NONBLOCK: opening a FIFO must not wait for a writer.
        fd = os.open(path_or_bytes, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ValueError(f"artifact {name!r}: {os.fspath(path_or_bytes)} is not a regular file")
            size = os.fstat(fd).st_size
            return self._send(name, content_type, size, _pieces(fd, size, name))
        finally:
            os.close(fd)

    def _send(self, name, content_type, size, pieces):
        announcement = {"t": "artifact", "name": name, "contentType": content_type, "size": size}
        answer, sent = channel.upload(announcement, pieces)
        if answer.get("refused"):
            problem = "could not be stored" if sent else "was refused"
            raise (OSError if sent else ValueError)(f"artifact {name!r} {problem}: {answer['refused']}")
        return answer["artifactId"]

    def step(self, name: str, fn: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls fn once and records its result; when the code runs again the record is returned. JSON only, up to 64 KB.
        Await the result of an async function in async code."""
        return self._steps.step(name, fn, args, kwargs)

    def sleep(self, seconds: "float | None" = None, *, until: Any = None) -> None:
        """Waits, without a process if it takes 2 seconds or more. `until` is a datetime; one without a zone is UTC."""
        self._steps.sleep(seconds, until)

    def approve(self, title: str, message: "str | None" = None, data: Any = None, form: "list | None" = None,
                expires_in: Any = None) -> dict:
        """Waits for a person, without a process. {"approved_by", "data"}; a rejection ends the run as rejected.
        `form` lists items like inputs, which the approver fills in; `expires_in` is seconds or a timedelta."""
        return self._steps.approve(title, message, data, form, expires_in)

    def call(self, worker_id: str, inputs: "dict | None" = None) -> Any:
        """Runs another worker and waits, without a process. Returns its output; CallFailed if that run did not complete."""
        return self._steps.call(worker_id, inputs)

    def model(self, messages: Any, *, system: "str | None" = None, model: "str | None" = None, schema: "dict | None" = None,
              tools: "list | None" = None, max_output_tokens: "int | None" = None, temperature: "float | None" = None,
              tool_choice: "str | None" = None, reasoning: "str | None" = None,
              timeout: float = MODEL_TIMEOUT_SECONDS, stream: bool = False) -> ModelAnswer:
        """Asks a language model and records its answer. `messages` is a text, or a list of messages; with `schema`, a JSON
        Schema, the answer's `output` fits it. With `stream` those who watch the run read along. Raises ModelError."""
        options = {"system": system, "schema": schema, "tools": None if tools is None else list(tools),
                   "max_output_tokens": max_output_tokens, "temperature": temperature, "tool_choice": tool_choice, "reasoning": reasoning}
        answer = self._models.call(messages, model, options, timeout, stream)
        for setting in answer.get("ignored", ()):
            self.log(f"{answer.get('model')} does not support a setting, which was ignored: {setting}", "warning")
        return answer


def _pieces(fd, size, name):
    """Yields exactly `size` bytes: the announced number is binding on the channel, even if the file changes
    meanwhile."""
    left = size
    while left:
        piece = os.read(fd, min(left, channel.CHUNK_BYTES))
        if not piece:
            piece = bytes(min(left, channel.CHUNK_BYTES))       # the file shrank
        left -= len(piece)
        yield piece


context = Context()
