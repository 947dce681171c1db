"""Types of what runs inside Gantry can import: `from gantry import Context, context`.

For editors and type checkers only; the sandbox brings the module itself. `run()` gets the same object when one of its
parameters is named `context` (or `ctx`).
"""
from collections.abc import Mapping
from os import PathLike
from typing import Any, Literal

class Context:
    run_id: str
    """This run: `run_...`, or `tr_...` in a test."""
    workspace_id: str
    attempt: int
    """1, and one more each time the run is started over, for example after its executor was lost."""
    inputs: dict[str, Any]
    """All inputs as they were validated. A `file` input is the path of the file in the sandbox."""
    secrets: Mapping[str, str]
    """The secrets that the manifest declares, by name. A name that it does not declare is a KeyError."""

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

context: Context
"""The context of the run that is going on."""
