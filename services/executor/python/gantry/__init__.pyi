"""Types of the module that code in Gantry imports: `from gantry import Context, context`.

For editors and type checkers only; the sandbox provides the module itself. `run()` receives the same object if one of its
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
    """The approver."""
    data: Any
    """The form values; None without a form."""

class CallFailed(Exception):
    """A called run that did not complete."""

    worker_id: str
    status: str
    """`failed`, `timed_out`, `cancelled` or `rejected`."""
    error: dict[str, Any] | None
    """Its error: `code`, `message` and, for exceptions, `type`."""

class StepFailed(Exception):
    """A step whose failure the code caught before the run waited, and whose exception can't be recreated."""

class ToolError(Exception):
    """A tool that was not called, that failed, or whose outcome is unknown."""

    connection: str
    tool: str
    code: str
    """`unknown_tool`, `not_allowed`, `invalid_arguments`, `unavailable`, `tool_error`, `too_large`, `outcome_unknown` or
    `not_recorded` (in a rehearsal: it may write, and the recorded run has no response)."""

class Connection:
    """An account of another service."""

    name: str
    token: str
    """A placeholder: HTTPS requests to `hosts` are sent with the real token in its place."""
    base_url: str | None
    """Base URL of the service's API."""
    hosts: tuple[str, ...]
    scopes: tuple[str, ...]
    account_label: str | None

class ModelError(Exception):
    """A model that was not called, or whose response cannot be used."""

    code: str
    """`no_model`, `unknown_tool` (of a model that is not offered), `invalid_arguments`, `budget_exceeded`, `unavailable`,
    `invalid_output`, `too_large` or `outcome_unknown`."""

class ModelAnswer(dict[str, Any]):
    """The response of a model."""

    text: str
    output: Any
    """The JSON value, if a schema was passed."""
    tool_calls: list[dict[str, Any]]
    """Requested tool calls: `id`, `name`, `arguments` (a dict), and `problems`, a list of strings, if the arguments are invalid."""
    cut: bool
    """Whether the response was truncated at the limit of a call."""
    model: str
    usage: dict[str, Any]
    """`input_tokens`, `output_tokens`, `usd`."""
    @property
    def message(self) -> dict[str, Any]:
        """The message to pass to the next call, before the results of its tools."""

class Context:
    run_id: str
    """ID of this run: `run_...`, or `tr_...` in a test."""
    workspace_id: str
    attempt: int
    """1, incremented each time the run is retried after a failure."""
    inputs: dict[str, Any]
    """All inputs, validated. A `file` input is the path of the file in the sandbox."""
    secrets: Mapping[str, str]
    """The secrets that this code declares, by name. An undeclared name is a KeyError."""
    connections: Mapping[str, Connection]
    """The connections that this worker declares, by name. An undeclared name is a KeyError that explains how to declare it."""
    tools: Mapping[str, Any]
    """Tools of the declared connections: `context.tools["linear"].create_issue(title="...")`.

    Called by the platform and recorded like a step. `.within(60)` before the arguments allows a tool more than 30 seconds.
    Raises ToolError.
    """

    def log(
        self, message: Any, level: Literal["debug", "info", "warning", "warn", "error"] = "info", **fields: Any
    ) -> None:
        """Writes one line to the run's log, with structured fields.

        `print` and `logging` write log lines too; this one adds the level and the fields.
        """

    def progress(self, fraction: float, message: str | None = None) -> None:
        """Reports the progress of the run, from 0 to 1, and its current activity. Shown live; the last report counts."""

    def artifact(
        self,
        name: str,
        path_or_bytes: str | PathLike[str] | bytes | bytearray | memoryview,
        content_type: str | None = None,
    ) -> str:
        """Stores a file beyond the run and returns the artifact's ID.

        `name` is a file name of up to 255 characters. The content type is guessed from it if not passed.
        Raises ValueError for a file that cannot be stored (too large, not a regular file), OSError if storing failed.
        """

    def cost(self, usd: float, label: str | None = None) -> None:
        """Adds US dollars to the cost of this run, for example the price of a call to a paid service."""

    @overload
    def step(self, name: str, fn: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]: ...
    @overload
    def step(self, name: str, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Calls `fn` once and records its result; when the code runs again, the recorded result is returned instead.

        The result is converted to JSON and back, up to 64 KB, also the first time. Await the result of an async function.
        Raises what `fn` raises, and ValueError or TypeError for a result that can't be recorded.
        """

    def sleep(self, seconds: float | None = None, *, until: datetime | None = None) -> None:
        """Waits: in the process for less than 2 seconds, without one for anything longer, up to 366 days.

        A datetime without a time zone is UTC. Do not await it, even in async code.
        """

    def approve(
        self,
        title: str,
        message: str | None = None,
        data: Any = None,
        form: Iterable[dict[str, Any] | str] | None = None,
        expires_in: float | timedelta | None = None,
    ) -> Decision:
        """Waits for a person's decision, without a process. Only in workers.

        `data` is shown with the request; `form` lists items like inputs, which the approver fills in. If the request is
        rejected or not decided within `expires_in` seconds, the run ends as rejected and the code does not continue.
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
        """Calls a language model, by its name or an alias defined by the operator, and records the response. Only in workers.

        A message is `{"role": "user" | "assistant", "content": text}`, or `{"role": "tool", "tool_call_id": id, "content": text}`.
        The content of a user may be a list of parts: strings, and `{"type": "image" | "file", "path": path}`, or `"data": bytes` with a
        `media_type`. With `stream`, viewers of the run see the text as it is generated. With `schema`, a JSON Schema, `output` is a value that matches it. A tool is `{"name", "description", "parameters"}`; the code
        executes its calls. `tool_choice` is `auto`, `none`, `required` or the name of a tool, `temperature` from 0 to 2; a setting that
        the model does not support is ignored, and the log says so. Raises ModelError.
        """

context: Context
"""The context of the current run."""
