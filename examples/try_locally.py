"""Runs an example on this machine, without a sandbox: python3 try_locally.py FOLDER [INPUTS.json]

The code is called by the platform's own harness, so every rule for calling run() and every part of the context is the real
one: only the other end of its channel is here. Logs and progress go to stderr, artifacts to .artifacts beside this file (or
--artifacts DIR), secrets come from the environment. Sleeping takes no time; an approval is asked for on the terminal, or
decided with --approve or --reject; a call runs another folder. The outputs are printed as JSON.
"""
import argparse
import json
import multiprocessing
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HARNESS = HERE.parent / "services/executor/python"


class Channel:
    """The platform's end of a run's channel."""

    def __init__(self, artifacts_dir, steps):
        self.artifacts_dir, self.steps, self.suspension = artifacts_dir, steps, None

    def write_json(self, frame):
        if frame["t"] == "log":
            print(f"[{frame['level']}] {frame['text']}", frame.get("fields", ""), file=sys.stderr)
        elif frame["t"] == "progress":
            print(f"[{frame['fraction']:4.0%}] {frame['message'] or ''}", file=sys.stderr)
        elif frame["t"] == "cost":
            print(f"[cost] {frame['usd']} USD {frame['label'] or ''}", file=sys.stderr)

    def request(self, body):
        message = json.loads(body)
        if message["t"] == "suspend":
            self.suspension = message["suspension"]
            return {"go": True}
        failed = message.get("failed")
        result = {"gantry:failed": failed} if failed else message.get("result")
        self.steps.append({key: message[key] for key in ("ordinal", "kind", "name")} | {"result": result})
        print(f"[step] {message['name']}{': failed' if failed else ''}", file=sys.stderr)
        return {"result": result}

    def upload(self, announcement, pieces):
        self.artifacts_dir.mkdir(parents=True, exist_ok=True)
        file = self.artifacts_dir / announcement["name"]
        file.write_bytes(b"".join(pieces))
        print(f"[file] {file}", file=sys.stderr)
        return {"artifactId": f"artifact_{announcement['name']}"}, True


def execute_attempt(folder, definition, inputs, steps, artifacts_dir, answers):
    """One attempt, in a process of its own as on the platform."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(HARNESS))
    from _gantry import channel, harness, logs
    end = Channel(artifacts_dir, steps)
    channel.write_json, channel.request, channel.upload = end.write_json, end.request, end.upload
    logs.install()
    os.dup2(2, 1)                                               # what the code prints is a log; the outputs alone go to stdout
    job = {
        **{"entrypoint": definition["entrypoint"], "inputs": inputs, "outputs": definition["outputs"]},
        **{"env": {name: os.environ[name] for name in definition["secrets"] if name in os.environ}},
        **{"runId": "run_local", "workspaceId": "ws_local", "steps": steps, "may": ["approve", "call"]},
    }
    answer, text = harness.execute(job, str(folder))
    answers.send((answer, text, end.steps, end.suspension))


def run(folder, inputs, options):
    """Returns the outputs; raises SystemExit if the code fails."""
    definition, steps = load_definition(folder), []
    processes = multiprocessing.get_context("spawn")
    while True:
        answers, sent = processes.Pipe(duplex=False)
        child = processes.Process(target=execute_attempt, args=(folder, definition, inputs, steps, Path(options.artifacts), sent))
        child.start()
        sent.close()
        try:
            answer, text, steps, suspension = answers.recv()
        except EOFError:
            sys.exit("the run's process ended without an answer")
        child.join()
        if not answer["ok"]:
            sys.exit(f"{answer['trace']}{answer['type']}: {answer['error']}")
        if text is not None:
            return json.loads(text)
        steps.append(suspension["step"] | {"result": resolve_suspension(suspension, options)})


def resolve_suspension(suspension, options):
    """Returns the result that the platform would record at the end of the wait."""
    kind = suspension["kind"]
    if kind == "approve":
        return request_decision(suspension, options)
    if kind == "call":
        folder = find_folder(suspension["workerId"])
        return {"status": "completed", "output": run(folder, suspension["inputs"], options)}
    print("[sleep] not waited for", file=sys.stderr)
    return None


def request_decision(approval, options):
    print(f"[approval] {approval['title']}", approval["message"] or "", sep="\n", file=sys.stderr)
    if approval["data"] is not None:
        print(json.dumps(approval["data"], indent=2), file=sys.stderr)
    decision = options.decision or read_line("approve? [y/N] ")
    if decision.lower() not in ("y", "yes", "approve"):
        sys.exit("rejected: the run ends here")
    form = {item["name"]: "" if options.decision else read_line(f"{item.get('label') or item['name']}: ")
            for item in map(to_item, approval["form"] or [])}
    return {"approved_by": "you", "data": form}


def to_item(item):
    return {"name": item} if isinstance(item, str) else item


def read_line(message):
    print(message, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        sys.exit("no terminal to read the decision from: use --approve or --reject")
    return line.strip()


def find_folder(name):
    for folder in (Path(name), HERE / name, HERE / "workers" / name):
        if any((folder / file).exists() for file in ("manifest.json", "worker.yaml", "worker.json")):
            return folder.resolve()
    sys.exit(f"{name}: no folder with a manifest.json or worker.yaml")


def load_definition(folder):
    """Reads the entrypoint, outputs, secrets and defaults of an automation (manifest.json) or a worker (worker.yaml)."""
    if (folder / "manifest.json").exists():
        known = json.loads((folder / "manifest.json").read_text())
    elif (folder / "worker.json").exists():
        known = json.loads((folder / "worker.json").read_text())
    else:
        try:
            import yaml
        except ImportError:
            sys.exit("reading worker.yaml needs PyYAML: python3 -m pip install pyyaml")
        known = yaml.safe_load((folder / "worker.yaml").read_text())
    outputs = [to_item(item) for item in known.get("outputs", [])]
    return {
        "entrypoint": known.get("entrypoint", "main.py"),
        "outputs": [{"name": item["name"], "type": item.get("type", "text")} for item in outputs],
        "secrets": known.get("secrets_needed", known.get("secrets", [])),
        "defaults": {item["name"]: item["default"] for item in map(to_item, known.get("inputs", [])) if "default" in item},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="such as csv-report, workers/expense-review, or a folder of your own")
    parser.add_argument("inputs", nargs="?", help="a JSON file; the folder's inputs.json when absent")
    parser.add_argument("--artifacts", default=HERE / ".artifacts")
    parser.add_argument("--approve", dest="decision", action="store_const", const="approve")
    parser.add_argument("--reject", dest="decision", action="store_const", const="reject")
    options = parser.parse_args()
    if not HARNESS.is_dir():
        sys.exit(f"{HARNESS} is missing: this needs a checkout of Gantry, whose harness it uses")
    folder = find_folder(options.folder)
    inputs = json.loads(Path(options.inputs or folder / "inputs.json").read_text())
    json.dump(run(folder, load_definition(folder)["defaults"] | inputs, options), sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
