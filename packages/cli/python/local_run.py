"""One local execution of a worker: the harness of the sandbox, without the parts that only the platform has.

Reads its instruction from descriptor 3, and then speaks the protocol of channel.py, as a process of the executor does.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from _gantry import channel, context as contexts, harness, logs, packs  # noqa: E402
import gantry  # noqa: E402,F401  (so that the code finds it when this folder is out of sight)

sys.path.remove(HERE)


class LocalConnections(contexts.Connections):
    def __getitem__(self, name):
        raise KeyError(f"connection {name!r} is not available locally: only the platform has its credentials; deploy the worker and run it there")


contexts.Connections = LocalConnections


def limit_memory(count):
    """Limits memory like the sandbox. A system without such limits runs the code unlimited."""
    import resource
    try:
        resource.setrlimit(resource.RLIMIT_DATA, (count, count))
    except (OSError, ValueError):
        pass


def open_terminal():
    """Connects breakpoint() to the terminal of standard input. The code itself reads nothing from it, as on the platform."""
    terminal = os.dup(0) if os.isatty(0) else None
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    if terminal is None:
        return

    def stop(*_args, **_kwargs):
        import pdb
        reader, writer = open(terminal, closefd=False), open(terminal, "w", closefd=False)
        pdb.Pdb(stdin=reader, stdout=writer, nosigint=True).set_trace(sys._getframe().f_back)

    sys.breakpointhook = stop


def main():
    open_terminal()
    config = channel.read_json()
    os.set_inheritable(channel.CTL, False)
    logs.install()
    sys.stdout.reconfigure(line_buffering=True)
    os.chdir(config["workDir"])
    packs.DIRECTORY, packs.SOURCES = (os.path.join(config["workDir"], name) for name in ("contexts", ".contexts"))
    sys.path.extend(config["packages"])
    limit_memory(config["memoryBytes"])
    answer, text = harness.execute(config["job"], config["root"])
    harness.flush_and_close_logs()
    channel.write_json({**answer, "outputBytes": None if text is None else len(text)})
    if text is not None:
        channel.write_frame(text)
    # Threads that the code left behind would keep the process.
    os._exit(0)


main()
