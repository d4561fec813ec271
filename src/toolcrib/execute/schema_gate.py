"""From a stranger's JSON Schema to a check that is safe to run.

The schema comes from whoever wrote the tool, and it is a small program. So it is bounded before it
is read, its references lead to places in it and nowhere else, its patterns run on a linear-time
engine, and the cost of a check is metered. A schema for which that cannot be done is refused, and
its tool with it: nothing is sent unchecked. A schema that two readers could read differently is
refused too: the meter has to see what the validator sees. Only patterns that the engine does not
take (look-around, back-references, vast ones) are left out: the tool itself has to check them.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import cast

import jsonschema_rs

from toolcrib.execute.meter import (
    MOST_STEPS,
    Meter,
    TooLong,
    has_few_values,
    most_steps_a_value,
)
from toolcrib.execute.schema_reader import pointed_at, required_by
from toolcrib.model import Json, JsonObject
from toolcrib.text import likeness

MOST_BYTES = 64 * 1024
MOST_DEPTH = 32
MOST_NODES = 2_000
MOST_PATTERNS = 50
MOST_KEYS, LONGEST_KEY, ALIKE = 10, 64, 60
PATTERN_KIB = (1, 2, 4, 8, 16, 32, 64)
LONGEST_MESSAGE = 300
NEVER = float("inf")

_ELSEWHERE = ("$dynamicRef", "$recursiveRef")
_ID_IS_AN_ADDRESS = "draft-04"


class SchemaRefused(ValueError):
    """A schema that no arguments are checked against. The message says why."""


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """What does not fit: where (`$` is the whole), and why."""

    path: str
    message: str


class SchemaCheck:
    """The check of arguments against one schema. Made by `compile_schema`.

    A deadline is a time of the monotonic clock: all readings of one value are checked by one.
    """

    def __init__(
        self, schema: JsonObject, validator: jsonschema_rs.Validator, patterns: Mapping[str, int]
    ) -> None:
        self.schema = schema
        self._validator = validator
        self._patterns = patterns
        steps = most_steps_a_value(schema)
        self._few_values = MOST_STEPS // steps if steps else 0

    def fits(self, value: Json, deadline: float = NEVER) -> bool:
        """Whether the value fits. Raises `SchemaRefused` when that would take too long to tell."""
        self._afford(value, deadline)
        return self._validator.is_valid(value)

    def problem(self, value: Json, deadline: float = NEVER) -> SchemaProblem | None:
        """The first reason why it does not fit; None if it does. Raises as `fits` does.

        There may be as many reasons as values: to gather them all takes seconds and gigabytes.
        """
        self._afford(value, deadline)
        try:
            self._validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            keys = "" if error.instance_path else _wrong_keys(value, self.schema)
            problem = _problem(error)
            return replace(problem, message=_shortened(keys)) if keys else problem
        return None

    def _afford(self, value: Json, deadline: float) -> None:
        if has_few_values(value, self._few_values):
            return  # all steps that there could be are affordable
        try:
            Meter(self.schema, self._patterns, deadline).afford(value)
        except TooLong:
            raise SchemaRefused(
                "to check these arguments would take too long; send fewer"
            ) from None


def compile_schema(schema: JsonObject) -> SchemaCheck:
    """A check against this schema. Raises `SchemaRefused`; never waits for anything or anyone."""
    plain = _bounded(schema)
    _hold_local(plain)
    patterns = _taken_patterns(plain)
    lean = _with_patterns(plain, patterns)
    try:
        return SchemaCheck(lean, _validator(lean), patterns)
    except ValueError as error:
        raise SchemaRefused(f"it is not valid JSON Schema: {_first_line(error)}") from None


def _bounded(schema: JsonObject) -> JsonObject:
    """A copy within the bounds, without the address that it gives itself."""
    try:
        text = json.dumps(schema, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaRefused(f"it is not JSON: {_first_line(error)}") from None
    if len(text) > MOST_BYTES:
        raise SchemaRefused(f"it has {len(text):,} bytes; {MOST_BYTES:,} is the most")
    copy: dict[str, Json] = json.loads(text)
    if sum(1 for _ in _nodes(copy)) > MOST_NODES:
        raise SchemaRefused(f"it has more than {MOST_NODES:,} parts")
    return {key: value for key, value in copy.items() if key not in ("$id", "id")}


def _nodes(value: Json, depth: int = 0) -> Iterator[Mapping[str, Json]]:
    """Every object in it. Raises `SchemaRefused` where it is too deep."""
    if depth > MOST_DEPTH:
        raise SchemaRefused(f"it is nested more than {MOST_DEPTH} deep")
    if isinstance(value, Mapping):
        yield value
    for inner in _inside(value):
        yield from _nodes(inner, depth + 1)


def _inside(value: Json) -> Sequence[Json]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def _hold_local(schema: JsonObject) -> None:
    """Refuse whatever leads, or could lead, to anywhere but the place that the meter looks at."""
    draft = str(schema.get("$schema", ""))
    for node in _nodes(schema):
        _hold_reference(schema, node.get("$ref", "#"))
        named = [key for key in _ELSEWHERE if isinstance(node.get(key), str)]
        addresses = ["$id", *(["id"] if _ID_IS_AN_ADDRESS in draft else [])]
        addresses += ["$schema"] if node is not schema else []
        named += [key for key in addresses if isinstance(node.get(key), str)]
        if named:
            raise SchemaRefused(f"it uses {named[0]}, which is not followed")


def _hold_reference(schema: JsonObject, reference: Json) -> None:
    if not isinstance(reference, str):
        return  # the name of a property
    if reference != "#" and not reference.startswith("#/"):
        raise SchemaRefused(f"it refers to {reference!r:.80}; only #/... is followed")
    if not isinstance(pointed_at(schema, reference), Mapping | bool):
        raise SchemaRefused(f"it refers to {reference!r:.80}, where no schema is")


def _taken_patterns(schema: JsonObject) -> Mapping[str, int]:
    """Those of its patterns that the engine takes, each with its size in KiB."""
    found = {pattern for node in _nodes(schema) for pattern in _patterns(node)}
    if len(found) > MOST_PATTERNS:
        raise SchemaRefused(f"it has {len(found)} patterns; {MOST_PATTERNS} is the most")
    sizes = {pattern: _size(pattern) for pattern in found}
    return {pattern: size for pattern, size in sizes.items() if size}


def _patterns(node: Mapping[str, Json]) -> Iterator[str]:
    if isinstance(pattern := node.get("pattern"), str):
        yield pattern
    if isinstance(keyed := node.get("patternProperties"), Mapping):
        yield from keyed


def _size(pattern: str) -> int:
    """How many KiB its states take at most; 0 if it is not taken."""
    for kib in PATTERN_KIB:
        try:
            _validator({"pattern": pattern}, kib)
        except ValueError:
            continue
        return kib
    return 0


def _with_patterns(schema: JsonObject, taken: Mapping[str, int]) -> JsonObject:
    """The schema without the patterns that were not taken."""
    return cast("JsonObject", _rebuilt(schema, taken.__contains__))


def _rebuilt(value: Json, taken: Callable[[str], bool]) -> Json:
    if isinstance(value, Mapping):
        return {key: _rebuilt(each, taken) for key, each in _without_patterns(value, taken)}
    return [_rebuilt(each, taken) for each in value] if isinstance(value, list) else value


def _without_patterns(
    node: Mapping[str, Json], taken: Callable[[str], bool]
) -> Iterator[tuple[str, Json]]:
    for key, value in node.items():
        if key == "patternProperties" and isinstance(value, Mapping):
            yield key, {pattern: each for pattern, each in value.items() if taken(pattern)}
        elif key != "pattern" or not isinstance(value, str) or taken(value):
            yield key, value


def _validator(schema: JsonObject, kib: int = PATTERN_KIB[-1]) -> jsonschema_rs.Validator:
    options = jsonschema_rs.RegexOptions(size_limit=kib * 1024, dfa_size_limit=256 * 1024)
    return jsonschema_rs.validator_for(
        dict(schema), pattern_options=options, validate_formats=False, offline=True
    )


def _problem(error: jsonschema_rs.ValidationError) -> SchemaProblem:
    """The problem in words: where several types are allowed, that of the nearest, or all types."""
    branches = [each[0] for each in getattr(error.kind, "context", ()) if each]
    typed = [list[str](getattr(each.kind, "types", ())) for each in branches]
    for branch, types in zip(branches, typed, strict=True):
        if not types or branch.instance_path != error.instance_path:
            return _problem(branch)
    expected = f"expected {' or '.join(chain(*typed))}, not {json.dumps(error.instance)}"
    return SchemaProblem(
        _path(error.instance_path), _shortened(expected if typed else error.message)
    )


def _wrong_keys(value: Json, schema: JsonObject) -> str:
    """Which keys are missing and which unknown, each with the nearest; "" where all is well."""
    known = list(cast("JsonObject", schema.get("properties") or {}))
    given = list(value) if isinstance(value, Mapping) else known
    missing = sorted(required_by(schema).difference(given))
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    unknown = [key[:LONGEST_KEY] for key in given if closed and key not in known][:MOST_KEYS]
    near = [(key, max(known, key=partial(likeness, key), default="")) for key in unknown]
    alike = {key: each for key, each in near if likeness(key, each) >= ALIKE}
    asked = [f"{key}, did you mean {alike[key]}?" if key in alike else key for key in unknown]
    lists = (("Missing", missing[:MOST_KEYS]), ("Unknown", asked))
    return ". ".join(f"{what}: {'; '.join(keys)}" for what, keys in lists if keys)


def _path(places: Sequence[str | int]) -> str:
    return "".join(["$", *(f"[{at}]" if isinstance(at, int) else f".{at}" for at in places)])


def _first_line(error: BaseException) -> str:
    return _shortened(str(error).partition("\n")[0])


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}..."
