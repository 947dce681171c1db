"""Serialises the return value as JSON."""
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import json
import math
import os
import re
import sys
import uuid

# A reader that parses numbers as doubles would read a larger integer as infinity, and write it as null.
INTEGER_MAX = int(sys.float_info.max)
_MAYBE_BEYOND = re.compile("[0-9]{309}")
# The limit of the host, and of the body of an HTTP request that starts a run.
DEPTH_MAX = 64
# Linear: JSON closes every string that it opens.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_ROUND = bytes.maketrans(b"[]{}", b"()()")
_OTHERS = bytes(set(range(256)) - set(b"[]{}"))


def dumps(value):
    """Returns the JSON text of run()'s return value. TypeError, naming the position, for a value that is not
    serialisable."""
    try:
        text = json.dumps(value, allow_nan=False, default=_convert)
        if not _MAYBE_BEYOND.search(text) and not _too_deep(text):
            return text
    except (TypeError, ValueError, RecursionError):
        # The fast path does not give the position; and keys that are dates or UUIDs need the slow path.
        pass
    return json.dumps(_plain(value, "the return value", set(), DEPTH_MAX), allow_nan=False)


def _too_deep(text):
    """Returns whether brackets nest deeper than DEPTH_MAX. Each round removes the innermost pairs, so the number of
    rounds is the depth. Brackets inside strings are considered only if the fast path fails: at worst the host refuses
    instead."""
    if text.count("[") + text.count("{") <= DEPTH_MAX:
        return False
    return not _vanishes(text) and not _vanishes(_STRING.sub("", text))


def _vanishes(text):
    brackets = text.encode().translate(_ROUND, _OTHERS)
    for _ in range(DEPTH_MAX):
        if not brackets:
            break
        brackets = brackets.replace(b"()", b"")
    return not brackets


def _convert(value):
    """Converts a value that json does not support by one step."""
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return int(value) if value.is_finite() and value == value.to_integral_value() and value.as_tuple().exponent >= 0 \
            else float(value)
    if isinstance(value, (uuid.UUID, os.PathLike)):
        return str(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (set, frozenset)):
        try:
            return sorted(value)
        except TypeError:
            return list(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, (bytes, bytearray, memoryview)):
        raise TypeError("bytes have no JSON form: decode them, or save them with context.artifact()")
    if isinstance(value, type):
        raise TypeError(f"a class ({value.__name__}) has no JSON form")
    if hasattr(value, "model_dump"):                            # pydantic 2
        return value.model_dump(mode="json")
    if hasattr(value, "__pydantic_model__") or (hasattr(value, "__fields__") and hasattr(value, "dict")):
        return value.dict()                                     # pydantic 1
    if isinstance(value, collections.abc.Mapping):
        return dict(value)
    if hasattr(value, "tolist"):                                # numpy scalars and arrays
        return value.tolist()
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # a pandas table: one object per row
        return value.to_dict(orient="records")
    if isinstance(value, (collections.abc.Sequence, collections.abc.KeysView, collections.abc.ValuesView, collections.deque)):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _plain(value, where, above, levels):
    """Converts a value recursively. `levels`: lists and objects that may still be nested. `above`: values being
    converted, which may take several steps."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int) and not isinstance(value, enum.Enum):
        if abs(value) > INTEGER_MAX:
            raise TypeError(f"{where} is an integer beyond 10**308, which JSON cannot represent: return a string instead")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{where} is {value}, which JSON cannot represent: return None or a string instead")
        return value
    if id(value) in above:
        raise TypeError(f"{where} contains itself")
    is_container = isinstance(value, (dict, list, tuple))
    if is_container and levels == 0 or len(above) > 4 * DEPTH_MAX:
        raise TypeError(f"{where} is nested deeper than {DEPTH_MAX} levels")
    above.add(id(value))
    try:
        if is_container:
            inner = lambda name: f"{where}[{name!r}]" if len(where) < 300 else where
            if isinstance(value, dict):
                return {_key(k, where): _plain(v, inner(k), above, levels - 1) for k, v in value.items()}
            return [_plain(v, inner(i), above, levels - 1) for i, v in enumerate(value)]
        try:
            step = _convert(value)
        except TypeError as error:
            raise TypeError(f"{where}: {error}") from None
        return _plain(step, where, above, levels)
    finally:
        above.discard(id(value))


def _key(key, where):
    if isinstance(key, (str, int, bool)) or key is None:
        return key
    if isinstance(key, float) and math.isfinite(key):
        return key
    if isinstance(key, (datetime.datetime, datetime.date, datetime.time, uuid.UUID, decimal.Decimal, enum.Enum, os.PathLike)):
        converted = _convert(key)
        return str(key) if isinstance(key, decimal.Decimal) else converted
    raise TypeError(f"{where} has a key of type {type(key).__name__}: keys must be strings")
