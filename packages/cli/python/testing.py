"""A run for tests of a worker, without the platform.

    from gantry.testing import local_context
    from main import run

    def test_large_amounts_wait_for_approval():
        with local_context(approvals=[{"by": "ada@example.com"}]) as context:
            assert run(300, "Chairs", context)["approved_by"] == "ada@example.com"
        assert context.steps == ["approve Pay 300.00 for Chairs?", "step pay"]

The context is the same object as `from gantry import context`. Step rules apply; waits end immediately.
"""
import contextlib
import json
import os
from typing import Any, Iterator, Mapping, Sequence, cast

from _gantry import channel, context as _contexts, steps as _steps
from _gantry.models import CONNECTION as _MODELS
from gantry import Context, context as _context

__all__ = ["LocalContext", "Rejected", "local_context"]

STEP_BYTES_MAX = 64 * 1024


class Rejected(BaseException):
    """A rejection, which ends the run. Not an Exception: on the platform, no code continues after it."""


class LocalContext(Context):
    """The context of a test, with a record of what the code did."""

    logs: "list[dict[str, Any]]"
    """`level`, `text` and, if present, `fields`."""
    steps: "list[str]"
    """Kind and name of each operation, such as `step load`."""
    artifacts: "dict[str, bytes]"
    progress_made: "list[float]"
    cost_usd: float


@contextlib.contextmanager
def local_context(inputs: "Mapping[str, Any] | None" = None, *, secrets: "Mapping[str, str] | None" = None,
                  approvals: "Sequence[bool | Mapping[str, Any]]" = (), models: "Sequence[Any]" = (),
                  tools: "Mapping[str, Sequence[Any]] | None" = None,
                  calls: "Mapping[str, Sequence[Any]] | None" = None) -> "Iterator[LocalContext]":
    """Begins and ends a run. Responses are used once each, in order: `approvals` are True, False or {"approve", "by", "data"};
    `models` are texts, or values that fit a schema; `tools` are results by "connection.tool", `calls` outputs by the worker's id."""
    if channel.host is not None:
        raise RuntimeError("local_context cannot be nested: a process has one run at a time")
    host = _Host(approvals, models, tools or {}, calls or {})
    connections = sorted({name.partition(".")[0] for name in tools or {}})
    before = {name: os.environ.get(name) for name in secrets or {}}
    os.environ.update(secrets or {})
    context = cast(LocalContext, _context)
    context.__class__, context._steps.__class__ = LocalContext, _LocalSteps
    context._steps.host = channel.host = host
    context.logs, context.steps, context.artifacts = host.logs, host.steps, host.artifacts
    context.progress_made, context.cost_usd = host.progress, 0.0
    context._begin({"runId": "run_local", "workspaceId": "ws_local", "inputs": dict(inputs or {}), "env": dict(secrets or {}),
                    "may": ["approve", "call"], "tools": [{"name": name, "tools": None} for name in [_MODELS, *connections]]})
    try:
        yield context
    finally:
        context.cost_usd = host.cost
        channel.host = None
        context.__class__, context._steps.__class__ = _contexts.Context, _steps.Steps
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _LocalSteps(_steps.Steps):
    """Steps whose waits end immediately with the results of the test."""

    def _advance(self, kind, name, at_once=False):
        known = super()._advance(kind, name, at_once)
        if known is not None or kind not in ("sleep", "approve", "call"):
            return known
        self.host.steps.append(kind if kind == "sleep" else f"{kind} {name}")
        return {"ordinal": self._last, "kind": kind, "name": name, "result": self.host.decide(kind, name)}


class _Host:
    """Replaces the executor and the platform."""

    def __init__(self, approvals, models, tools, calls):
        self._approvals, self._models = list(approvals), list(models)
        self._tools, self._calls = ({name: list(answers) for name, answers in each.items()} for each in (tools, calls))
        self.logs, self.steps, self.artifacts, self.progress, self.cost = [], [], {}, [], 0.0

    def receive(self, message):
        kind = message.pop("t")
        if kind == "log":
            self.logs.append({**message, **({"fields": json.loads(message["fields"])} if "fields" in message else {})})
        elif kind == "progress":
            self.progress.append(message["fraction"])
        elif kind == "cost":
            self.cost += message["usd"]

    def store(self, announcement, content):
        if announcement["t"] == "artifact":
            self.artifacts[announcement["name"]] = content
            return {"artifactId": f"local_{announcement['name']}"}
        return {"kept": True}

    def respond(self, message):
        if message["t"] == "tools":
            return {"answers": [self._call_tool(call) for call in message["calls"]]}
        if message["t"] == "tool":
            return self._call_tool(message)
        self.steps.append(f"{message['kind']} {message['name']}")
        result = message.get("result")
        size = len(_steps.output.dumps(result).encode())
        if size > STEP_BYTES_MAX:
            return {"refused": f"the result of {message['kind']} {message['name']!r} is {size} bytes of JSON; the limit is {STEP_BYTES_MAX}: "
                               "save it as an artifact, or return less"}
        return {"result": result}

    def decide(self, kind, name):
        if kind == "sleep":
            return None
        if kind == "call":
            return {"status": "completed", "output": _pop_response(self._calls.get(name), f"worker {name!r} was called", "calls")}
        decision = _pop_response(self._approvals, f"{name!r} needs approval", "approvals")
        details = decision if isinstance(decision, Mapping) else {"approve": decision}
        if details.get("approve") is False:
            raise Rejected(name)
        return {"approved_by": details.get("by", "local_context"), "data": details.get("data")}

    def _call_tool(self, call):
        if call["connection"] == _MODELS:
            self.steps.append(f"model {call['tool']}")
            response = _pop_response(self._models, "a model was called", "models")
            text = response if isinstance(response, str) else _steps.output.dumps(response)
            return {"result": {"text": text, **({} if isinstance(response, str) else {"output": response}), "tool_calls": [], "cut": False,
                               "model": "local", "usage": {"input_tokens": 0, "output_tokens": 0, "usd": 0}}}
        name = f"{call['connection']}.{call['tool']}"
        self.steps.append(f"tool {name}")
        return {"result": _pop_response(self._tools.get(name), f"tool {name} was called", "tools")}


def _pop_response(answers, what, where):
    if not answers:
        raise AssertionError(f"{what}, but {where} of local_context() has no more responses")
    return answers.pop(0)
