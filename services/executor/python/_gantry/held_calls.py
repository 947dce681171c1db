"""Tool calls of an agent that need approval; an approver decides those of one response together."""
from . import output

# Limits of one approval, less than the 64 KB that the host accepts; a longer call is requested alone.
CALLS_MAX, BYTES_MAX = 20, 48 * 1024
TITLE_CHARS_MAX = 200


class CallRefused(Exception):
    """A call that an approver refused, with the reason."""


class HeldCalls:
    def __init__(self, calls, find_parameters, approve):
        """`approve`: as in Steps. `find_parameters`: returns the schema of a tool that the agent's program executes."""
        self._calls, self._find_parameters, self._approve = calls, find_parameters, approve
        self._decisions = {}

    def decide(self, call):
        """Returns the decision about the call, {"status", "by", "at"} with "arguments" or "reason"; None: it needs
        none. The first call that needs one requests the others as well."""
        if call not in self._calls:
            return None
        if call["own_id"] not in self._decisions:
            requested = _select_fitting(self._calls[self._calls.index(call):])
            decided = self._request_approval(requested)
            by = {"by": decided.get("approved_by"), "at": decided.get("decided_at")}
            # An approval that was requested by an earlier version applies only to the first call.
            for one, decision in zip(requested, decided.get("calls") or [{"status": "approved"}]):
                self._decisions[one["own_id"]] = {**decision, **by}
        return self._decisions[call["own_id"]]

    def _request_approval(self, calls):
        shown = [{"tool": call["name"], "arguments": read_arguments(call)} for call in calls]
        held = [{"id": call["own_id"], "serves": call.get("serves"), "parameters": self._find_parameters(call)} for call in calls]
        if len(calls) == 1:
            title, data = f"The agent asks to call {calls[0]['name']}"[:TITLE_CHARS_MAX], shown[0]
        else:
            title, data = f"The agent asks to make {len(calls)} calls", {"calls": shown}
        return self._approve(title, "Calls are made with exactly the approved arguments.", data, None, None, held)


def read_arguments(call):
    """Returns the arguments if they are an object: a provider may send anything."""
    arguments = call.get("arguments")
    return arguments if isinstance(arguments, dict) else {}


def resolve_arguments(call, decision):
    """Returns the arguments to call with. CallRefused: it must not be made."""
    if decision is not None and decision["status"] == "refused":
        raise CallRefused(decision.get("reason") or "no reason was given")
    return decision["arguments"] if is_corrected(decision) else read_arguments(call)


def is_corrected(decision):
    return decision is not None and decision["status"] == "corrected"


def _select_fitting(calls):
    """Returns the first calls, as many as fit into one approval: at least one."""
    size, count = 0, 0
    for call in calls[:CALLS_MAX]:
        size += len(output.dumps(read_arguments(call)).encode("utf-8", "surrogatepass"))
        if count and size > BYTES_MAX:
            break
        count += 1
    return calls[:count]
