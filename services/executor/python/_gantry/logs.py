"""Emits records of `logging` as log lines with their own level."""
import logging

from .context import context

_plain_basic_config = logging.basicConfig


class ContextHandler(logging.Handler):
    def emit(self, record):
        try:
            level = "error" if record.levelno >= 40 else "warning" if record.levelno >= 30 else "info" if record.levelno >= 20 else "debug"
            fields = {} if record.name == "root" else {"logger": record.name}
            context.log(self.format(record), level, **fields)
        except Exception:
            self.handleError(record)


def _basic_config(**options):
    """Applies basicConfig(level=...), which most scripts call to make their lines visible. They are visible already, so
    only the level of such a call is applied; a call with a destination or a replacement gets the documented
    behaviour."""
    if options.keys() & {"filename", "stream", "handlers", "force"}:
        return _plain_basic_config(**options)
    if options.get("level") is not None:
        logging.root.setLevel(options["level"])


def install():
    logging.root.addHandler(ContextHandler())
    logging.root.setLevel(logging.INFO)
    logging.basicConfig = _basic_config
