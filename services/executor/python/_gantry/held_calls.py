"""Tool calls of an agent that wait for a person, who decides those of one answer together."""
from . import output

# Of one approval, less than the 64 KB that the host takes; a longer call is asked for alone.
CALLS_MAX, BYTES_MAX = 20, 48 * 1024
TITLE_CHARS_MAX = 200


class CallRefused(Exception):
    """A call that a person refused, with the reason."""


class HeldCalls:
    def __init__(self, calls, find_parameters, approve):
        """`approve`: as in Steps. `find_parameters`: the schema of a tool that the agent's program carries out."""
        self._calls, self._find_parameters, self._approve = calls, find_parameters, approve
        self._decisions = {}

    def decide(self, call):
        """The decision about the call, {"status", "by", "at"} with "arguments" or "reason"; None: it needs none. The first call that
        needs one asks for the others as well."""
        if call not in self._calls:
            return None
        if call["own_id"] not in self._decisions:
            asked = _fitting(self._calls[self._calls.index(call):])
            decided = self._ask(asked)
            by = {"by": decided.get("approved_by"), "at": decided.get("decided_at")}
            # An approval that was requested by an earlier version is of the first call alone.
            for one, decision in zip(asked, decided.get("calls") or [{"status": "approved"}]):
                self._decisions[one["own_id"]] = {**decision, **by}
        return self._decisions[call["own_id"]]

    def _ask(self, calls):
        shown = [{"tool": call["name"], "arguments": read_arguments(call)} for call in calls]
        held = [{"id": call["own_id"], "serves": call.get("serves"), "parameters": self._find_parameters(call)} for call in calls]
        if len(calls) == 1:
            title, data = f"The agent asks to call {calls[0]['name']}"[:TITLE_CHARS_MAX], shown[0]
        else:
            title, data = f"The agent asks to make {len(calls)} calls", {"calls": shown}
        return self._approve(title, "Calls are made with exactly the approved arguments.", data, None, None, held)


def read_arguments(call):
    """Those of a provider may be anything."""
    arguments = call.get("arguments")
    return arguments if isinstance(arguments, dict) else {}


def resolve_arguments(call, decision):
    """The arguments to call with. CallRefused: it must not be made."""
    if is_refused(decision):
        raise CallRefused(decision.get("reason") or "no reason was given")
    return decision["arguments"] if is_corrected(decision) else read_arguments(call)


def is_corrected(decision):
    return decision is not None and decision["status"] == "corrected"


def is_refused(decision):
    return decision is not None and decision["status"] == "refused"


def _fitting(calls):
    """The first calls, as many as one approval takes: at least one."""
    size, count = 0, 0
    for call in calls[:CALLS_MAX]:
        size += len(output.dumps(read_arguments(call)).encode("utf-8", "surrogatepass"))
        if count and size > BYTES_MAX:
            break
        count += 1
    return calls[:count]
