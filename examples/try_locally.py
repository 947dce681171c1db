"""Runs an example on this machine, without a sandbox: python3 try_locally.py FOLDER [INPUTS.json]

A stand-in for the real context: logs and progress go to stderr, artifacts to .artifacts beside this file (or --artifacts DIR),
secrets come from the environment. The outputs are printed as JSON.
"""
import argparse
import decimal
import importlib.util
import inspect
import json
import os
import sys
from pathlib import Path


class StandInContext:
    def __init__(self, inputs, secrets_needed, artifacts_dir):
        self.run_id, self.workspace_id, self.attempt = "run_local", "ws_local", 1
        self.inputs = inputs
        self.secrets = {name: os.environ[name] for name in secrets_needed if name in os.environ}
        self.artifacts_dir = Path(artifacts_dir)

    def log(self, message, level="info", **fields):
        print(f"[{level}] {message}", json.dumps(fields) if fields else "", file=sys.stderr)

    def progress(self, fraction, message=None):
        print(f"[{fraction:4.0%}] {message or ''}", file=sys.stderr)

    def artifact(self, name, path_or_bytes, content_type=None):
        self.artifacts_dir.mkdir(parents=True, exist_ok=True)
        is_data = isinstance(path_or_bytes, (bytes, bytearray, memoryview))
        (self.artifacts_dir / name).write_bytes(path_or_bytes if is_data else Path(path_or_bytes).read_bytes())
        print(f"[file] {self.artifacts_dir / name}", file=sys.stderr)
        return f"artifact_{name}"

    def cost(self, usd, label=None):
        print(f"[cost] {usd} USD {label or ''}", file=sys.stderr)


def run_example(folder, inputs, artifacts_dir):
    manifest = json.loads((folder / "manifest.json").read_text())
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("main", folder / "main.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    context = StandInContext(inputs, manifest["secrets_needed"], artifacts_dir)
    arguments = dict(inputs)
    if "context" in inspect.signature(module.run).parameters:
        arguments["context"] = context
    return module.run(**arguments)


def to_json(value):
    """The conversions of the platform that the examples rely on."""
    return float(value) if isinstance(value, decimal.Decimal) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="a folder beside this file, such as csv-report")
    parser.add_argument("inputs", nargs="?", help="a JSON file; the folder's inputs.json when absent")
    parser.add_argument("--artifacts", default=Path(__file__).parent / ".artifacts")
    options = parser.parse_args()
    folder = Path(__file__).parent / Path(options.folder).name
    inputs = json.loads(Path(options.inputs or folder / "inputs.json").read_text())
    json.dump(run_example(folder, inputs, options.artifacts), sys.stdout, indent=2, default=to_json)
    print()


if __name__ == "__main__":
    main()
