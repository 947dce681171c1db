"""What user code imports: `from gantry import context`."""
from _gantry.context import Context, context

__all__ = ["Context", "context"]
