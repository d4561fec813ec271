"""What it costs to check a value against a schema, counted before it is checked.

References and alternatives multiply: twenty definitions that each name the next one twice are a
million steps. What the validator does slowly within one step counts as many: numbers and lists that
are compared with each of an enumeration, patterns of many states on long texts. The count is never
far below what the check does, and stops when it is too much. So a check takes well below a second,
in which nothing else runs: the validator holds the interpreter's lock.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

from toolcrib.execute.schema_reader import pointed_at
from toolcrib.model import Json, JsonObject

MOST_STEPS = 20_000
MOST_STEPS_A_VALUE = 20
MOST_STEPS_IN_ALL = 200_000

_ALTERNATIVES = ("allOf", "anyOf", "oneOf")
_IN_PLACE = ("not", "if", "then", "else")
_BY_KEY = ("properties", "dependentSchemas", "dependencies")
_OF_ANY_VALUE = ("additionalProperties", "unevaluatedProperties")
_OF_ANY_ITEM = ("items", "additionalItems", "unevaluatedItems", "contains")
_OF_SOME_ITEMS = ("prefixItems", "items")
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_LOOKED_UP = ("required", "dependentRequired", "dependentSchemas", "dependencies")

_APPLIED_AGAIN = frozenset({"$ref", *_UNEVALUATED, "pattern", "patternProperties", "propertyNames"})
"""With these, a part of a schema may meet a value more than once, or take long to."""

_LOOK_UPS_A_STEP = 32
_STATES_A_STEP = 8
_TIME_EVERY = 512


class TooLong(Exception):
    """To check this value against this schema would take too long."""


class MeterStep(NamedTuple):
    """A schema, and a value to check against it.

    `tracked`: also for what it leaves unevaluated, for which the validator goes through it again.
    """

    schema: Json
    value: Json
    tracked: bool = False


def most_steps_a_value(schema: Json) -> int | None:
    """How many steps a check takes for each value at most; None if only counting can tell.

    Without references, each part of a schema meets each value at most once. A list of values to
    compare with counts for a little more than its parts.
    """
    parts = list(_values(schema))
    named = (part.keys() for part in parts if isinstance(part, Mapping))
    return 2 * len(parts) if all(_APPLIED_AGAIN.isdisjoint(keys) for keys in named) else None


def has_few_values(value: Json, most: int) -> bool:
    """Whether there are no more than this in it, itself included; no more of it is looked at."""
    waiting, seen = [value], 0
    while waiting and seen + len(waiting) <= most:
        each = waiting.pop()
        seen += 1
        if isinstance(each, dict):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
    return not waiting


class Meter:
    """Counts the steps of checks against one schema, whose references lead into itself.

    `patterns` has the states of each of its patterns, in thousands, at least 1. All that one meter
    counts is to be done by the deadline, of the monotonic clock.
    """

    def __init__(
        self,
        root: JsonObject,
        patterns: Mapping[str, int] | None = None,
        deadline: float = float("inf"),
    ) -> None:
        self._root = root
        self._patterns = patterns or {}
        self._deadline = deadline
        self._comparing: dict[int, int] = {}

    def afford(self, value: Json) -> None:
        """Return if the check takes few steps, or few a value. Else, or without end: `TooLong`."""
        left = min(MOST_STEPS + _allowance(value), MOST_STEPS_IN_ALL)
        waiting = [MeterStep(self._root, value)]
        seen = 0
        while waiting:
            step = waiting.pop()
            seen += 1
            left -= self._weight(step)
            waiting.extend(islice(self._next(step), max(0, left) + 1))
            if left < len(waiting) or (seen % _TIME_EVERY == 0 and self._is_late()):
                raise TooLong

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline

    def _weight(self, step: MeterStep) -> int:
        """What is done with the value itself in this step."""
        schema, value, _ = step
        if not isinstance(schema, Mapping):
            return 1
        weight = 1 + sum(len(_sized(schema.get(key))) for key in _LOOKED_UP) // _LOOK_UPS_A_STEP
        if "enum" in schema or "const" in schema:
            weight += self._compared(schema, value)
        if isinstance(value, str) and isinstance(pattern := schema.get("pattern"), str):
            weight += self._matched([pattern], len(value))
        patterns = schema.get("patternProperties")
        if isinstance(value, Mapping) and isinstance(patterns, Mapping):
            weight += self._matched(patterns, sum(map(len, value)))
        return weight

    def _compared(self, schema: JsonObject, value: Json) -> int:
        """What it costs to find a value among others. Texts are looked up; other values are not."""
        if id(schema) not in self._comparing:
            self._comparing[id(schema)] = _comparing(schema)
        cost = self._comparing[id(schema)]
        is_short = value is None or isinstance(value, str | bool)
        return cost // _LOOK_UPS_A_STEP if is_short else cost

    def _matched(self, patterns: Iterable[str], characters: int) -> int:
        states = sum(self._patterns.get(pattern, 1) for pattern in patterns)
        return states * characters // _STATES_A_STEP

    def _next(self, step: MeterStep) -> Iterator[MeterStep]:
        schema, value, tracked = step
        if not isinstance(schema, Mapping):
            return
        again = _again(schema, tracked=tracked)
        for each in self._in_place(schema):
            yield from (MeterStep(each, value, how) for how in again)
        if isinstance(value, Mapping):
            yield from _into_object(schema, value, again)
        elif isinstance(value, list):
            yield from _into_list(schema, value)

    def _in_place(self, schema: JsonObject) -> Iterator[Json]:
        """The schemas that the same value has to fit, or may."""
        if isinstance(reference := schema.get("$ref"), str):
            yield pointed_at(self._root, reference)
        for key in _ALTERNATIVES:
            yield from _listed(schema.get(key))
        for key in _IN_PLACE:
            if key in schema:
                yield schema[key]


def _values(value: Json) -> Iterator[Json]:
    """Every value in it, itself included."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        yield each
        if isinstance(each, Mapping):
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def _allowance(value: Json) -> int:
    """How many steps a value may take for its size."""
    return sum(MOST_STEPS_A_VALUE + _characters(each) for each in _values(value))


def _characters(value: Json) -> int:
    """Those of a text, or of the keys of an object."""
    match value:
        case str():
            return len(value)
        case {**inner}:
            return sum(map(len, inner))
        case _:
            return 0


def _again(schema: JsonObject, *, tracked: bool) -> tuple[bool, ...]:
    """How often the validator goes through what applies in place, and each time how."""
    if tracked:
        return (False, True)
    return (False, False, True) if any(key in schema for key in _UNEVALUATED) else (False,)


def _comparing(schema: JsonObject) -> int:
    """How many values there are in what a schema compares a value with; texts alone are none."""
    members = [*_listed(schema.get("enum")), schema.get("const", "")]
    return 0 if all(isinstance(each, str) for each in members) else sum(1 for _ in _values(members))


def _into_object(
    schema: JsonObject, value: Mapping[str, Json], again: tuple[bool, ...]
) -> Iterator[MeterStep]:
    for key in _BY_KEY:
        named = schema.get(key)
        if isinstance(named, Mapping):
            for name in value.keys() & named.keys():
                if key == "properties":
                    yield MeterStep(named[name], value[name])
                else:
                    yield from (MeterStep(named[name], value, how) for how in again)
    patterns = schema.get("patternProperties")
    for_any = [schema[key] for key in _OF_ANY_VALUE if key in schema]
    for_any += patterns.values() if isinstance(patterns, Mapping) else ()
    yield from (MeterStep(each, inner) for each in for_any for inner in value.values())
    if "propertyNames" in schema:
        yield from (MeterStep(schema["propertyNames"], name) for name in value)


def _into_list(schema: JsonObject, value: Sequence[Json]) -> Iterator[MeterStep]:
    for key in _OF_SOME_ITEMS:
        yield from map(MeterStep, _listed(schema.get(key)), value)
    twice = ("contains",) if "unevaluatedItems" in schema else ()
    for key in chain(_OF_ANY_ITEM, twice):
        if isinstance(schema.get(key), Mapping):
            yield from (MeterStep(schema[key], inner) for inner in value)


def _listed(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


def _sized(value: Json) -> Sequence[Json] | Mapping[str, Json]:
    return value if isinstance(value, list | Mapping) else ()
