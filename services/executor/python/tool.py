"""The platform's own tools for untrusted files, each in a sandbox of its own with one writable directory, /work.

compile   byte code next to each source file, never invalidated (UNCHECKED_HASH): a digest's content never changes
install   pip, wheels only: building a source package would run its code

No tool starts a program. --only-binary does not cover an archive that a wheel references by address (PEP 508, `name @
url`): pip would build that, which takes another process, or fetch it with git. The kernel denies either.
"""
import base64
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _gantry import channel, forwarder  # noqa: E402
from _gantry.syscalls import install_seccomp  # noqa: E402


def compile_all(config):
    import compileall
    import py_compile
    # Names in tracebacks and warnings are those seen by the run, where this directory is /code or /deps.
    compileall.compile_dir("/work", quiet=2, stripdir="/work", prependdir=config.get("as", "/code"),
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


def install(config):
    sys.path.append(config["pipPath"])
    sys.argv = ["pip", "install", "--only-binary", ":all:", "--target", "/work", "--no-input", "--no-cache-dir",
                "--no-compile", "--no-color", "--disable-pip-version-check", "--progress-bar", "off", "--root-user-action", "ignore",
                *config["options"], "--", *config["requirements"]]
    from pip._internal.cli.main import main
    return main(sys.argv[1:])


def main():
    config = json.loads(sys.argv[1])
    install_seccomp(base64.b64decode(config["noExec"]))         # before the forwarder's thread: a filter applies per thread
    nonce = channel.read_json()["egressNonce"]
    if nonce:
        os.environ.update(forwarder.ENVIRONMENT)
        forwarder.listen()
        forwarder.start(nonce)
    status = {"compile": compile_all, "install": install}[config["tool"]](config)
    sys.stdout.flush()
    os._exit(status or 0)


if __name__ == "__main__":
    main()
