"""Types of what runs inside Gantry can import: `from gantry import Context, context`.

For editors and type checkers only; the sandbox brings the module itself. `run()` gets the same object when one of its
parameters is named `context` (or `ctx`).
"""
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime, timedelta
from os import PathLike
from typing import Any, Literal, ParamSpec, TypedDict, TypeVar, overload

P = ParamSpec("P")
T = TypeVar("T")

class Decision(TypedDict):
    approved_by: str
    """Who approved."""
    data: Any
    """What was filled into the form; None without one."""

class CallFailed(Exception):
    """A called run that did not complete."""

    worker_id: str
    status: str
    """`failed`, `timed_out`, `cancelled` or `rejected`."""
    error: dict[str, Any] | None
    """Its error: `code`, `message` and, for exceptions, `type`."""

class StepFailed(Exception):
    """A step whose failure the code caught before the run waited, and whose exception can't be made again."""

class ToolError(Exception):
    """A tool that was not called, that failed, or whose outcome is unknown."""

    connection: str
    tool: str
    code: str
    """`unknown_tool`, `not_allowed`, `invalid_arguments`, `unavailable`, `tool_error`, `too_large`, `outcome_unknown` or
    `not_recorded` (in a rehearsal: it may write, and the recorded run has no answer)."""

class Connection:
    """An account of another service."""

    name: str
    token: str
    """A placeholder: requests over https to `hosts` leave with the real token in its place."""
    base_url: str | None
    """Where the service's API begins."""
    hosts: tuple[str, ...]
    scopes: tuple[str, ...]
    account_label: str | None

class ModelError(Exception):
    """A model that was not called, or that gave no usable answer."""

    code: str
    """`no_model`, `unknown_tool` (of a model that is not offered), `invalid_arguments`, `budget_exceeded`, `unavailable`,
    `invalid_output`, `too_large` or `outcome_unknown`."""

class ModelAnswer(dict[str, Any]):
    """The answer of a model."""

    text: str
    output: Any
    """The JSON value, where a schema was given."""
    tool_calls: list[dict[str, Any]]
    """Tools that it asks for: `id`, `name`, `arguments` (a dict), and `problems`, a list of texts, where arguments do not fit."""
    cut: bool
    """The answer was longer than a call may give."""
    model: str
    usage: dict[str, Any]
    """`input_tokens`, `output_tokens`, `usd`."""
    @property
    def message(self) -> dict[str, Any]:
        """As the next call takes it, before the results of its tools."""

class Context:
    run_id: str
    """This run: `run_...`, or `tr_...` in a test."""
    workspace_id: str
    attempt: int
    """1, and one more each time the run is tried again after a failure."""
    inputs: dict[str, Any]
    """All inputs as they were validated. A `file` input is the path of the file in the sandbox."""
    secrets: Mapping[str, str]
    """The secrets that this code declares, by name. A name that it does not declare is a KeyError."""
    connections: Mapping[str, Connection]
    """The connections that this worker declares, by the declared name. Another name is a KeyError that says how to declare it."""
    tools: Mapping[str, Any]
    """Tools of the declared connections: `context.tools["linear"].create_issue(title="...")`.

    Called by the platform and recorded like a step. `.within(60)` before the arguments gives a tool more than 30 seconds.
    Raises ToolError.
    """

    def log(
        self, message: Any, level: Literal["debug", "info", "warning", "warn", "error"] = "info", **fields: Any
    ) -> None:
        """Writes one line of the run's log, with structured fields beside it.

        `print` and `logging` write log lines too; this one adds the level and the fields.
        """

    def progress(self, fraction: float, message: str | None = None) -> None:
        """Says how far the run is, from 0 to 1, and what it is doing. Shown live; the last one counts."""

    def artifact(
        self,
        name: str,
        path_or_bytes: str | PathLike[str] | bytes | bytearray | memoryview,
        content_type: str | None = None,
    ) -> str:
        """Keeps a file beyond the run and returns the artifact's id.

        `name` is a file name of up to 255 characters. The content type is guessed from it when not given.
        Raises ValueError for what may not be kept (too large, not a regular file), OSError when storing failed.
        """

    def cost(self, usd: float, label: str | None = None) -> None:
        """Adds US dollars to what this run has cost, for example the price of a call to a paid service."""

    @overload
    def step(self, name: str, fn: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]: ...
    @overload
    def step(self, name: str, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls `fn` once and records what it returns; when the code runs again, the record answers instead.

        The result is what JSON makes of it, up to 64 KB, also the first time. Of an async function it is to be awaited.
        Raises what `fn` raises, and ValueError or TypeError for a result that can't be recorded.
        """

    def sleep(self, seconds: float | None = None, *, until: datetime | None = None) -> None:
        """Waits: in the process for less than 2 seconds, without one for anything longer, up to 366 days.

        A datetime without a zone is UTC. A plain call in async code too, not to be awaited.
        """

    def approve(
        self,
        title: str,
        message: str | None = None,
        data: Any = None,
        form: Iterable[dict[str, Any] | str] | None = None,
        expires_in: float | timedelta | None = None,
    ) -> Decision:
        """Waits for a person, without a process. Only in workers.

        `data` is shown with the question; `form` lists items like inputs, which the approver fills in. The run ends as
        rejected, and the code does not go on, if it is rejected or not decided within `expires_in` seconds.
        """

    def call(self, worker_id: str, inputs: Mapping[str, Any] | None = None) -> Any:
        """Runs another worker of the workspace, waits without a process, and returns its output. Only in workers.

        Raises CallFailed if that run did not complete.
        """

    def model(
        self,
        messages: str | Iterable[str | Mapping[str, Any]],
        *,
        system: str | None = None,
        model: str | None = None,
        schema: Mapping[str, Any] | None = None,
        tools: Iterable[Mapping[str, Any]] | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
        tool_choice: str | None = None,
        reasoning: Literal["low", "medium", "high"] | None = None,
        timeout: float = 120,
        stream: bool = False,
    ) -> ModelAnswer:
        """Asks a language model, by a name or an alias of the operator's, and records its answer. Only in workers.

        A message is `{"role": "user" | "assistant", "content": text}`, or `{"role": "tool", "tool_call_id": id, "content": text}`.
        What a user says may be a list of parts: texts, and `{"type": "image" | "file", "path": path}`, or `"data": bytes` with a
        `media_type`. With `stream` those who watch the run read the words as they come. With `schema`, a JSON Schema, `output` is a value that fits it. A tool is `{"name", "description", "parameters"}`; the code
        carries its calls out. `tool_choice` is `auto`, `none`, `required` or the name of a tool, `temperature` from 0 to 2; a setting that
        the model does not support is ignored, and the log says so. Raises ModelError.
        """

context: Context
"""The context of the run that is going on."""
