"""The platform's own tools for untrusted files, each in its own sandbox with one writable directory, /work.

compile       byte code next to each source file, never invalidated (UNCHECKED_HASH): a digest's content never changes
interpreter   uv's facts about this Python, for the tools below, where it cannot start Python
resolve       by uv: addresses and digests of the wheels that meet requirements, as /work/wheels.json; `locked` has the
              digests of the wheels to choose, one for each requirement, or is empty
fetch         wheels from their addresses
download      by pip: the wheels that meet requirements
install       one wheel, by uv or pip, and its byte code

Only wheels are handled, since building a source package would run its code. No tool starts a program but uv, which
starts none. --only-binary does not cover an archive that a wheel references by address (PEP 508, `name @ url`): pip and
uv would build that, which needs another process, or fetch it with git. The kernel denies both.
"""
import base64
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _gantry import channel, forwarder, sole_program  # noqa: E402
from _gantry.syscalls import install_seccomp  # noqa: E402

UV_CACHE = "/tmp/uv-cache"
FETCHED_AT_ONCE = 4
FETCH_TRIES = 3
FETCH_TIMEOUT_S = 30
PIECE_BYTES = 1 << 20
# A package's own tests are seldom imported, and are more than half of the code of some.
TESTS = re.compile(r"/tests/")


def compile_all(directory, seen_as, skip=None):
    import compileall
    import py_compile
    # Names in tracebacks and warnings are those seen by the run, where this directory is /code or /deps.
    compileall.compile_dir(directory, quiet=2, stripdir=directory, prependdir=seen_as, rx=skip,
                           invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)


def compile_code(config):
    compile_all("/work", config.get("as", "/code"))


def pip(config, command, *arguments):
    sys.path.append(config["pipPath"])
    sys.argv = ["pip", command, "--only-binary", ":all:", "--no-input", "--no-cache-dir", "--no-color",
                "--disable-pip-version-check", "--progress-bar", "off", *arguments]
    from pip._internal.cli.main import main
    return main(sys.argv[1:])


def uv(config, *arguments, cache=UV_CACHE):
    known = config["uv"].get("interpreters")
    if known and not os.path.exists(cache):
        import shutil
        shutil.copytree(known, cache)
    os.environ.update(UV_HTTP_RETRIES="1", UV_HTTP_TIMEOUT=str(FETCH_TIMEOUT_S))
    return sole_program.run(config["uv"]["nameAt"], [
        "uv", "--no-config", "--no-progress", "--color", "never", "--no-python-downloads", "--cache-dir", cache, *arguments,
        "--python", os.path.realpath(sys.executable), "--no-build"])


def interpreter(config):
    return uv(config, "pip", "compile", "--offline", "--no-index", "-", cache="/work")


def resolve(config):
    with open("/tmp/requirements.in", "w") as file:
        file.write("\n".join(config["requirements"]))
    status = uv(config, "pip", "compile", "/tmp/requirements.in", "--format", "pylock.toml", "--output-file", "/tmp/pylock.toml",
                "--quiet", *config["options"])
    if status == 0:
        with open("/work/wheels.json", "w") as file:
            json.dump([parse_wheel(package, config["locked"]) for package in read_toml("/tmp/pylock.toml", config).get("packages", [])], file)
    return status


def parse_wheel(package, locked):
    """Several wheels of one version may fit this machine: only a lock says which one."""
    wheels = package.get("wheels", [])
    wheels = [wheel for wheel in wheels if wheel.get("hashes", {}).get("sha256") in locked] or wheels
    if len(wheels) != 1:
        raise SystemExit(f"{package['name']} is not a wheel of the index")
    wheel = wheels[0]
    return {"url": wheel["url"], "sha256": wheel.get("hashes", {}).get("sha256")}


def read_toml(path, config):
    try:
        import tomllib
    except ImportError:             # Python 3.10
        sys.path.append(config["pipPath"] or "")
        from pip._vendor import tomli as tomllib
    with open(path, "rb") as file:
        return tomllib.load(file)


def fetch(config):
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(FETCHED_AT_ONCE) as threads:
        list(threads.map(fetch_one, config["wheels"]))


def fetch_one(wheel):
    import urllib.error
    import urllib.request
    request = urllib.request.Request(wheel["url"])
    if wheel.get("basic"):
        # Not for the host that the index may redirect to.
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(wheel["basic"].encode()).decode())
    for left in reversed(range(FETCH_TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=FETCH_TIMEOUT_S) as response, open(f"/work/{wheel['file']}", "wb") as file:
                while piece := response.read(PIECE_BYTES):
                    file.write(piece)
            return
        except OSError as err:
            if not left or isinstance(err, urllib.error.HTTPError) and err.code < 500:
                raise SystemExit(f"ERROR: {wheel['file']} could not be downloaded: {err}")


def download(config):
    if not config["locked"]:
        return pip(config, "download", "--dest", "/work", *config["options"], "--", *config["requirements"])
    with open("/tmp/requirements.txt", "w") as file:
        file.write("\n".join(f"{requirement} --hash=sha256:{digest}" for requirement, digest in zip(config["requirements"], config["locked"])))
    return pip(config, "download", "--dest", "/work", *config["options"], "--require-hashes", "-r", "/tmp/requirements.txt")


def install(config):
    alone = ["--no-deps", "--no-index", "--target", "/work"]
    if config["uv"]:
        status = uv(config, "pip", "install", "--offline", *alone, "--link-mode", "copy", "--quiet", config["wheel"])
    else:
        status = pip(config, "install", *alone, "--no-compile", "--root-user-action", "ignore", "--", config["wheel"])
    if status == 0:
        if os.path.exists("/work/.lock"):       # uv's own
            os.unlink("/work/.lock")
        compile_all("/work", "/deps", TESTS)
    return status


TOOLS = {"compile": compile_code, "interpreter": interpreter, "resolve": resolve, "fetch": fetch, "download": download, "install": install}


def main():
    config = json.loads(sys.argv[1])
    if config.get("uv"):
        sole_program.place(config["uv"]["nameAt"], config["uv"]["path"])
    if config["filter"]:
        install_seccomp(base64.b64decode(config["filter"]))     # before the forwarder's thread: a filter applies per thread
    nonce = channel.read_json()["egressNonce"]
    if nonce:
        os.environ.update(forwarder.ENVIRONMENT)
        forwarder.listen()
        forwarder.start(nonce)
    status = TOOLS[config["tool"]](config)
    sys.stdout.flush()
    os._exit(status or 0)


if __name__ == "__main__":
    main()
