"""The package for user code: `from gantry import context`."""
from _gantry.context import Connection, Context, context
from _gantry.steps import CallFailed, StepFailed
from _gantry.tools import ToolError

__all__ = ["CallFailed", "Connection", "Context", "StepFailed", "ToolError", "context"]
