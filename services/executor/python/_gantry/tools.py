"""`context.tools`: tools of the connections that a worker declares, called by the platform, which has the credentials."""
from typing import Any, Mapping

TIMEOUT_SECONDS, TIMEOUT_SECONDS_MAX = 30, 120


class ToolError(Exception):
    """A tool that was not called, that failed, or whose outcome is unknown: `code` says which."""

    connection = tool = ""
    code = "tool_error"


def tool_error(connection, tool, failure):
    error = ToolError(f"{connection}.{tool}: {failure.get('message')}")
    error.connection, error.tool, error.code = connection, tool, failure.get("code", "tool_error")
    return error


class NamedItems(Mapping):
    """What code declared, by name: `_named` has the names, in their order."""

    _named = ()

    def __iter__(self):
        return iter(self._named)

    def __len__(self):
        return len(self._named)


class Tools(NamedItems):
    """The connections whose tools the code may call, by the names that it declares."""

    def __init__(self, steps):
        self._steps = steps
        self._named = {}

    def _begin(self, connections):
        self._named = {each["name"]: ConnectionTools(self._steps, each["name"], each["tools"]) for each in connections}

    def __getitem__(self, name):
        found = self._named.get(name)
        if found is None:
            raise KeyError(f"no tools of {name!r}{_nearest(name, self._named)}: the worker must declare its connection, "
                           f"as in connections: [{name!r}], and the workspace must have it")
        return found

    def __repr__(self):
        return f"<tools of {', '.join(self._named) or 'no connection'}>"


class ConnectionTools:
    """Tools of one connection: `tools.create_issue(title="...")`, or `tools["create-issue"]` where a name is not valid
    in Python."""

    def __init__(self, steps, connection, names):
        self._steps, self._connection, self._names = steps, connection, names

    def __getitem__(self, name):
        return Tool(self._steps, self._connection, name)

    def __getattr__(self, name):
        # Python itself asks for names like these, for example to copy or to show an object.
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __iter__(self):
        if self._names is None:
            raise TypeError(f"the tools of {self._connection!r} are not known yet: look at the page of the connection")
        return iter(self._names)

    def __contains__(self, name):
        return name in (self._names or ())

    def __dir__(self):
        return [name for name in self._names or () if name.isidentifier()]

    def __repr__(self):
        return f"<tools of {self._connection}>"


class Tool:
    def __init__(self, steps, connection, name, timeout=TIMEOUT_SECONDS):
        self._steps, self._connection, self._name, self._timeout = steps, connection, name, timeout

    def within(self, seconds: float) -> "Tool":
        """The same tool with more or less time to answer: up to 120 seconds."""
        seconds = float(seconds)
        if not 0 < seconds <= TIMEOUT_SECONDS_MAX:
            raise ValueError(f"a tool can take up to {TIMEOUT_SECONDS_MAX} seconds")
        return Tool(self._steps, self._connection, self._name, seconds)

    def __call__(self, arguments: "Mapping[str, Any] | None" = None, /, **named: Any) -> Any:
        return self._steps.tool(self._connection, self._name, {**(arguments or {}), **named}, self._timeout)

    def __repr__(self):
        return f"<tool {self._connection}.{self._name}>"


def _nearest(name, names):
    import difflib                                              # lazy: for mistakes only
    near = difflib.get_close_matches(str(name), list(names), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""
