"""The package for user code: `from gantry import context`."""
from _gantry.context import Connection, Context, context
from _gantry.models import ModelAnswer, ModelError
from _gantry.steps import CallFailed, StepFailed
from _gantry.tools import ToolError

__all__ = ["CallFailed", "Connection", "Context", "ModelAnswer", "ModelError", "StepFailed", "ToolError", "context"]
