"""The package for user code: `from gantry import context`."""
from _gantry.context import Context, context
from _gantry.steps import CallFailed, StepFailed

__all__ = ["CallFailed", "Context", "StepFailed", "context"]
