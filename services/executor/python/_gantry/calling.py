"""How `run()` is found and called."""
import importlib.util
import inspect
import os
import sys

# A lone parameter of one of these names takes all inputs as one dict.
DICT_NAMES = ("inputs", "input", "data", "event", "payload", "params")
CONTEXT_NAMES = ("context", "ctx")


class NoRun(Exception):
    """The entrypoint defines no run()."""


def load_entrypoint(root, entrypoint):
    """Imports the file. Its folder and the root of the code are importable; a file named like a module that is loaded
    already (random.py, json.py) must not be mistaken for it, so the file is loaded by path and not by name."""
    path = os.path.join(root, entrypoint)
    folder = os.path.dirname(path)
    sys.path[:0] = [folder] if folder == root else [folder, root]
    sys.path.append("/deps")
    name = os.path.splitext(os.path.basename(entrypoint))[0]
    if name in sys.modules:
        name = "entrypoint_" + name
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or not os.path.isfile(path):
        raise NoRun(f"{entrypoint} is not a Python file of this code")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    function = getattr(module, "run", None)
    if not callable(function):
        raise NoRun(f"{entrypoint} defines no function run()")
    return function


def call(function, inputs, context):
    """Calls run() the way its signature asks for, and waits for it if it is async."""
    parameters = list(inspect.signature(function).parameters.values())
    positional, keywords = [], {}
    own = [p for p in parameters if p.name not in CONTEXT_NAMES]
    takes_dict = len(own) == 1 and own[0].kind < inspect.Parameter.VAR_POSITIONAL \
        and own[0].name in DICT_NAMES and own[0].name not in inputs
    missing = []
    for parameter in parameters:
        if parameter.kind == parameter.VAR_POSITIONAL:
            continue
        if parameter.kind == parameter.VAR_KEYWORD:
            known = {p.name for p in parameters}
            keywords.update({k: v for k, v in inputs.items() if k not in known})
            continue
        if parameter.name in CONTEXT_NAMES:
            value = context
        elif takes_dict:
            value = inputs
        elif parameter.name in inputs:
            value = inputs[parameter.name]
        elif parameter.default is not parameter.empty:
            if parameter.kind != parameter.POSITIONAL_ONLY:
                continue
            value = parameter.default
        else:
            missing.append(parameter.name)
            continue
        if parameter.kind == parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            keywords[parameter.name] = value
    if missing:
        raise TypeError("run() is missing inputs: " + ", ".join(missing))
    value = function(*positional, **keywords)
    if inspect.isawaitable(value):
        import asyncio

        async def wait():
            return await value
        value = asyncio.run(wait())
    return value
