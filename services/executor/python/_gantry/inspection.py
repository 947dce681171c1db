"""What an entrypoint looks like, from its syntax tree alone: nothing of it is executed."""
import ast
import os


def inspect_entrypoint(root, entrypoint):
    """{ok, parameters?} or {ok: False, code, message}."""
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
        return {"ok": False, "code": "no_run", "message": f"{entrypoint} defines no function run() at its top level"}
    return {"ok": True, "parameters": found}


def _find_run(body):
    """Parameter names of the last binding of `run` at module level, [] where they can not be told, None without one."""
    found = None
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == "run":
            a = node.args
            found = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
        elif isinstance(node, ast.ClassDef) and node.name == "run":
            found = []
        elif isinstance(node, ast.Assign) and any("run" in _names(t) for t in node.targets):
            found = []
        elif isinstance(node, ast.AnnAssign) and node.value is not None and "run" in _names(node.target):
            found = []
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and any((n.asname or n.name) in ("run", "*") for n in node.names):
            found = found if found and any(n.name == "*" for n in node.names) else []
        else:
            for inner in _blocks(node):
                within = _find_run(inner)
                found = found if within is None else within
    return found


def _blocks(node):
    """Statements that run at import inside if, try, with, for and while."""
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
