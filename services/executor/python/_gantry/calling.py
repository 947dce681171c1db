"""Finding and calling `run()`.

Each run executes this once in a fresh copy of the zygote, where every function executed for the first time costs
copied pages: the general work of importlib.util and inspect.signature is done here for the common case in a few lines
(0.6 ms less in each child).
"""
import importlib.machinery
import inspect
import sys
import types

# A single parameter with one of these names receives all inputs as one dict.
DICT_NAMES = ("inputs", "input", "data", "event", "payload", "params")
CONTEXT_NAMES = ("context", "ctx")


class NoRun(Exception):
    """The entrypoint defines no run()."""


_PARAMETER_EMPTY = inspect.Parameter.empty
_POSITIONAL_ONLY, _POSITIONAL_OR_KEYWORD, _VAR_POSITIONAL, _KEYWORD_ONLY, _VAR_KEYWORD = range(5)    # as inspect numbers them
# Checking against an abstract base class is expensive.
_NOT_AWAITABLE = frozenset((dict, list, tuple, str, bytes, int, float, bool, type(None)))


def load_entrypoint(root, entrypoint):
    """Imports the file. Its folder and the root of the code are importable; a file named like an already loaded module
    (random.py, json.py) must not be mistaken for it, so the file is loaded by path and not by name."""
    folder, _, file = f"{root}/{entrypoint}".rpartition("/")
    path = f"{folder}/{file}"
    sys.path[:0] = [folder] if folder == root else [folder, root]
    sys.path.append("/deps")
    name = file.rpartition(".")[0] or file
    if name in sys.modules:
        name = "entrypoint_" + name
    loader = importlib.machinery.SourceFileLoader(name, path)
    try:
        code = loader.get_code(name)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise NoRun(f"{entrypoint} is not a Python file of this code") from None
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, loader, origin=path)
    module.__spec__.has_location = True
    module.__file__, module.__loader__, module.__package__ = path, loader, ""
    module.__cached__ = module.__spec__.cached
    sys.modules[name] = module
    exec(code, module.__dict__)
    function = getattr(module, "run", None)
    if not callable(function):
        raise NoRun(f"{entrypoint} defines no function run()")
    return function


def list_parameters(function):
    """Lists [(name, kind, default)], with the kinds and the empty default of inspect.Parameter."""
    if type(function) is types.FunctionType and not function.__dict__:
        code = function.__code__
        if not code.co_posonlyargcount and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
            defaults = dict(zip(reversed(names[:code.co_argcount]), reversed(function.__defaults__ or ())))
            defaults.update(function.__kwdefaults__ or {})
            return [(name, _POSITIONAL_OR_KEYWORD if i < code.co_argcount else _KEYWORD_ONLY,
                     defaults.get(name, _PARAMETER_EMPTY)) for i, name in enumerate(names)]
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def call(function, inputs, context):
    """Calls run() according to its signature, and awaits it if it is async."""
    parameters = list_parameters(function)
    positional, keywords = [], {}
    own = [(name, kind) for name, kind, _ in parameters if name not in CONTEXT_NAMES]
    takes_dict = len(own) == 1 and own[0][1] < _VAR_POSITIONAL and own[0][0] in DICT_NAMES and own[0][0] not in inputs
    missing = []
    for name, kind, default in parameters:
        if kind == _VAR_POSITIONAL:
            continue
        if kind == _VAR_KEYWORD:
            known = {known for known, _, _ in parameters}
            keywords.update({k: v for k, v in inputs.items() if k not in known})
            continue
        if name in CONTEXT_NAMES:
            value = context
        elif takes_dict:
            value = inputs
        elif name in inputs:
            value = inputs[name]
        elif default is not _PARAMETER_EMPTY:
            if kind != _POSITIONAL_ONLY:
                continue
            value = default
        else:
            missing.append(name)
            continue
        if kind == _POSITIONAL_ONLY:
            positional.append(value)
        else:
            keywords[name] = value
    if missing:
        raise TypeError("run() is missing inputs: " + ", ".join(missing))
    value = function(*positional, **keywords)
    if type(value) not in _NOT_AWAITABLE and inspect.isawaitable(value):
        import asyncio

        async def wait():
            return await value
        value = asyncio.run(wait())
    return value
