"""Inspects an entrypoint by its syntax tree, without executing any of it."""
import ast
import os
import re
import sys

NAMES_MAX, NAME_CHARS_MAX = 50, 200
PROBLEMS_MAX, MESSAGE_CHARS_MAX = 100, 500
_SECRET = re.compile("[A-Z][A-Z0-9_]{0,63}")
_MISSING_IS_FINE = {"ImportError", "ModuleNotFoundError", "Exception"}


def inspect_entrypoint(root, entrypoint):
    """Returns {ok, parameters, imports, secrets} or {ok: False, code, message}."""
    try:
        with open(os.path.join(root, entrypoint), "rb") as file:
            source = file.read()
    except OSError as error:
        return {"ok": False, "code": "unreadable", "message": f"{entrypoint}: {error.strerror}"}
    try:
        tree = ast.parse(source, entrypoint)
    except SyntaxError as error:
        where = f"line {error.lineno}" + (f", column {error.offset}" if error.offset else "")
        return {"ok": False, "code": "syntax_error", "message": f"{entrypoint}, {where}: {error.msg}"}
    except (ValueError, RecursionError, MemoryError) as error:
        return {"ok": False, "code": "syntax_error", "message": f"{entrypoint}: {str(error) or type(error).__name__}"}
    found = _find_run(tree.body)
    if found is None:
        return {"ok": False, "code": "no_run", "message": f"{entrypoint} {NO_RUN}"}
    if found is NO_FUNCTION:
        return {"ok": False, "code": "no_run", "message": f"{entrypoint}: {OTHER_RUN}"}
    folders = {root, os.path.dirname(os.path.join(root, entrypoint))}
    imports = {name for name, _ in _imports(tree) if _is_foreign(name) and not _is_here(folders, name)}
    return {"ok": True, "parameters": [name for name, _ in found], "imports": sorted(imports)[:NAMES_MAX],
            "secrets": sorted({name for name, _ in _secrets(tree)} - os.environ.keys())[:NAMES_MAX]}


def inspect_draft(sources, modules, entrypoint):
    """Returns {parameters, imports, secrets, problems, places} of sources that are being edited, with all problems at
    once.

    `modules` are the names that an import finds among the draft's own files.
    """
    problems, tree, lines = [], None, []
    for source in sources:
        parsed = _parse(source["path"], source["text"], problems)
        if source["path"] == entrypoint:
            tree, lines = parsed, source["text"].split("\n")
    answer = {"parameters": [], "imports": [], "secrets": [], "problems": problems[:PROBLEMS_MAX], "places": []}
    if tree is None:
        return answer
    found = _find_run(tree.body)
    if found is None or found is NO_FUNCTION:
        message = f"{entrypoint} {NO_RUN}" if found is None else OTHER_RUN
        answer["problems"].append({"code": "no_run", "path": entrypoint, "line": None, "column": None, "message": message})
        found = []
    foreign = [(name, node) for name, node in _imports(tree) if _is_foreign(name) and name not in modules]
    secrets = [(name, node) for name, node in _secrets(tree) if name not in os.environ]
    for kind, key, named in (("parameter", "parameters", found), ("import", "imports", foreign), ("secret", "secrets", secrets)):
        first = {}
        for name, node in named:
            if len(name) <= NAME_CHARS_MAX:
                first.setdefault(name, node)
        kept = list(first.items())[:NAMES_MAX]
        answer[key] = [name for name, _ in kept]
        answer["places"] += [{"kind": kind, "name": name, "line": node.lineno, "column": _column(node, lines)} for name, node in kept]
    return answer


# Settings of [tool.uv] by which a name means another package than that of the executor's index.
_SOURCES = ("sources", "index", "index-url", "extra-index-url", "find-links", "pip", "override-dependencies",
            "constraint-dependencies")


def inspect_toml(kind, text):
    """Returns {dependencies} of a script's block or a pyproject.toml, None without a list, or {problem, line}."""
    try:
        import tomllib
    except ImportError:             # Python 3.10
        return _refuse("needs an executor with Python 3.11 or newer: list the packages in requirements.txt")
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError, MemoryError) as error:
        message = str(error) or type(error).__name__
        at = re.search(r"at line ([0-9]{1,9})", message)
        at_end = text.count("\n") + 1 if "at end of document" in message else None
        return _refuse(f"is not TOML: {message}", int(at[1]) if at else at_end)
    for name in _SOURCES:
        if name in _table(_table(document, "tool"), "uv"):
            return _refuse(f"tool.uv.{name} is not possible: packages come from the index of the executors, in any version "
                           "that the list allows")
    table = document if kind == "script" else _table(document, "project")
    dynamic = table.get("dynamic")
    if isinstance(dynamic, list) and "dependencies" in dynamic:
        return _refuse("project.dependencies is dynamic, which only a build could resolve: list the packages")
    dependencies = table.get("dependencies")
    if dependencies is not None and not (isinstance(dependencies, list) and all(isinstance(one, str) for one in dependencies)):
        return _refuse("dependencies must be a list of texts")
    return {"dependencies": dependencies}


def _refuse(problem, line=None):
    return {"problem": problem[:MESSAGE_CHARS_MAX], "line": line}


def _table(document, name):
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _column(node, lines):
    """Computes the column in characters: the tree counts bytes of UTF-8."""
    line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
    return len(line.encode()[:node.col_offset].decode(errors="ignore")) + 1


def _parse(path, text, problems):
    try:
        return ast.parse(text, path)
    except SyntaxError as error:
        line, column, message = error.lineno, error.offset, error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        line, column, message = None, None, str(error) or type(error).__name__
    problems.append({"code": "syntax_error", "path": path, "line": line or None, "column": (column or None) if line else None,
                     "message": message[:MESSAGE_CHARS_MAX]})
    return None


def _is_foreign(name):
    return name not in sys.stdlib_module_names and name != "gantry"


def _is_here(folders, name):
    return any(os.path.exists(os.path.join(folder, name + end)) for folder in folders for end in ("", ".py"))


def _imports(node):
    """Yields (name, node) of required top-level packages: not those whose absence the code catches."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from ((alias.name.partition(".")[0], alias) for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and not child.level:
            yield child.module.partition(".")[0], child
        elif not (isinstance(child, ast.Try) and any(_catches_absence(handler) for handler in child.handlers)):
            yield from _imports(child)


def _catches_absence(handler):
    caught = handler.type
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(name is None or getattr(name, "id", None) in _MISSING_IS_FINE for name in names)


def _secrets(tree):
    """Yields (NAME, node) of os.environ["NAME"] and context.secrets["NAME"]. A name that is read with get() may be
    absent."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and isinstance(node.slice, ast.Constant)
                and getattr(node.value, "attr", None) in ("environ", "secrets")
                and isinstance(node.slice.value, str) and _SECRET.fullmatch(node.slice.value)):
            yield node.slice.value, node.slice


NO_RUN = "defines no function run() at its top level"
OTHER_RUN = "run must be a function, and is something else"
NO_FUNCTION = ("no function",)
VALUES = (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp,
          ast.GeneratorExp, ast.Compare)


def _find_run(body):
    """Finds (name, node) of the parameters of the last binding of `run` at module level; [] if unknown, NO_FUNCTION if
    it is plainly something else, None without one."""
    found = None
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == "run":
            a = node.args
            found = [(p.arg, p) for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        elif isinstance(node, ast.ClassDef) and node.name == "run":
            found = NO_FUNCTION
        elif isinstance(node, ast.Assign) and any("run" in _names(t) for t in node.targets):
            is_value = isinstance(node.value, VALUES) and any(isinstance(t, ast.Name) and t.id == "run" for t in node.targets)
            found = NO_FUNCTION if is_value else []
        elif isinstance(node, ast.AnnAssign) and node.value is not None and "run" in _names(node.target):
            found = NO_FUNCTION if isinstance(node.value, VALUES) else []
        elif isinstance(node, ast.Import) and any((n.asname or n.name.partition(".")[0]) == "run" for n in node.names):
            found = NO_FUNCTION
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and any((n.asname or n.name) in ("run", "*") for n in node.names):
            found = found if found and any(n.name == "*" for n in node.names) else []
        else:
            for inner in _blocks(node):
                within = _find_run(inner)
                found = found if within is None else within
    return found


def _blocks(node):
    """Yields the statements that run at import inside if, try, with, for and while."""
    if isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
        yield node.body
        yield getattr(node, "orelse", [])
        yield getattr(node, "finalbody", [])
        for handler in getattr(node, "handlers", []):
            yield handler.body


def _names(target):
    if isinstance(target, ast.Name):
        return [target.id]
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for element in target.elts for name in _names(element)]
    return []
