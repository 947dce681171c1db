"""`context.model`: language models that the operator offers, called by the platform, which has the keys."""
from typing import Mapping

from .attachments import Attachments

CONNECTION, DEFAULT = "gantry:models", "default"
TIMEOUT_SECONDS, TIMEOUT_SECONDS_MAX = 120, 300


class ModelError(Exception):
    """A model that was not called, or that gave no usable answer: `code` says which."""

    code = "unavailable"


def model_error(failure):
    error = ModelError(str(failure.get("message")))
    error.code = failure.get("code", "unavailable")
    return error


class ModelAnswer(dict):
    """The answer of a model: `text`, `output`, `tool_calls`, `cut`, `model` and `usage`, as keys and as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __str__(self):
        return self["text"]

    @property
    def message(self):
        """Returns it as a message of the next call, before the results of tools."""
        calls = [{key: call[key] for key in ("id", "name", "arguments")} for call in self["tool_calls"]]
        return {"role": "assistant", "content": self["text"], "tool_calls": calls}


class Models:
    def __init__(self, steps):
        self._steps, self._offered, self._attachments = steps, False, None

    def _begin(self, connections):
        self._offered = any(each["name"] == CONNECTION for each in connections)

    def call(self, messages, model, options, timeout, stream):
        if not self._offered:
            raise model_error({"code": "no_model", "message": "no model can be used in this run: the operator sets MODEL_PROVIDERS "
                                                              "(docs/models.md), and only workers may ask one"})
        timeout = float(timeout)
        if not 0 < timeout <= TIMEOUT_SECONDS_MAX:
            raise ValueError(f"a model can take up to {TIMEOUT_SECONDS_MAX} seconds")
        if stream and options["schema"] is not None:
            raise ValueError("an answer with a schema is JSON, and cannot be streamed")
        if isinstance(messages, (str, Mapping)):
            messages = [messages]
        messages = [{"role": "user", "content": each} if isinstance(each, str) else dict(each) for each in messages]
        messages, upload = self._replace_files(messages)
        arguments = {"messages": messages, **{key: value for key, value in options.items() if value is not None}}
        name = DEFAULT if model is None else str(model)
        return ModelAnswer(self._steps.model(name, arguments, timeout, stream=bool(stream), before=upload))

    def _replace_files(self, messages):
        """Returns (messages without bytes, a function that uploads the bytes or None)."""
        if all(isinstance(each.get("content", ""), str) for each in messages):
            return messages, None
        self._attachments = self._attachments or Attachments()
        messages, files = self._attachments.replace_files(messages)
        return messages, lambda: self._attachments.upload(files)
