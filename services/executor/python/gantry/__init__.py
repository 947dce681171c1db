"""The package for user code: `from gantry import context`."""
from _gantry.context import Context, context
from _gantry.steps import CallFailed, StepFailed
from _gantry.tools import ToolError

__all__ = ["CallFailed", "Context", "StepFailed", "ToolError", "context"]
