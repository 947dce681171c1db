"""The package for user code: `from gantry import context`."""
from _gantry.context import Connection, Context, context
from _gantry.steps import CallFailed, StepFailed

__all__ = ["CallFailed", "Connection", "Context", "StepFailed", "context"]
