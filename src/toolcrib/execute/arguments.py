"""Arguments against the schema of their tool: checked, repaired where that helps, or refused.

A check is bounded three times: by the size of the arguments, by the meter and by the clock. One
that may take more than a moment is made in a thread; see `takes_a_moment`.
"""

import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from toolcrib.execute.gates import CallRefused
from toolcrib.execute.repair import ArgumentReading, readings
from toolcrib.execute.schema_gate import SchemaCheck, SchemaRefused, compile_schema
from toolcrib.model import Json, JsonObject, ToolInfo
from toolcrib.strict_json import NotJson, check_json_size

MOST_CHECKS = 1_024
CHECK_S = 5.0
FEW_VALUES = 200
FEW_CHARACTERS = 16 * 1024


@dataclass(frozen=True, slots=True)
class CheckedArguments:
    """Arguments that fit, and what was put right in them, one note each."""

    arguments: JsonObject
    repaired: tuple[str, ...]


class ArgumentCheck:
    """Checks the arguments of calls. Remembers the checks of the tools that were called last."""

    def __init__(self) -> None:
        self._checks: OrderedDict[str, SchemaCheck] = OrderedDict()
        self._changing = Lock()

    def takes_a_moment(self, tool: ToolInfo, arguments: Json) -> bool:
        """Whether the check may run on an event loop: the schema is compiled, the arguments few."""
        return tool.pin in self._checks and is_little(arguments)

    def check(self, tool: ToolInfo, arguments: Json) -> CheckedArguments:
        """The arguments to send. Raises `CallRefused` with the schema, after `CHECK_S` at most."""
        try:
            return self._checked(tool, arguments, time.monotonic() + CHECK_S)
        except SchemaRefused as error:
            message = f"{tool.name!r} cannot be called safely: its schema is refused: {error}"
            raise CallRefused("schema_refused", "arguments", message) from None

    def _checked(self, tool: ToolInfo, arguments: Json, deadline: float) -> CheckedArguments:
        check = self._of(tool)
        if fit := _best(arguments, check, deadline):
            return fit
        problem = check.problem(arguments, deadline)
        reason = f"{problem.path}: {problem.message}" if problem else "$: not an object"
        end = "" if reason.endswith("?") else "."
        message = (
            f"the arguments of {tool.name!r} do not fit: {reason}{end} Correct them by the schema"
        )
        raise CallRefused("bad_arguments", "arguments", message, schema=tool.parameters)

    def _of(self, tool: ToolInfo) -> SchemaCheck:
        """The check of a tool, by its pin: another definition has another check."""
        if tool.schema_problem:
            raise SchemaRefused(tool.schema_problem)
        with self._changing:
            if tool.pin not in self._checks:
                self._checks[tool.pin] = compile_schema(tool.parameters)
            self._checks.move_to_end(tool.pin)
            while len(self._checks) > MOST_CHECKS:
                self._checks.popitem(last=False)
            return self._checks[tool.pin]


def is_little(value: object) -> bool:
    """Whether a value is so small that it is read and checked in no time."""
    try:
        check_json_size(value, most_values=FEW_VALUES, most_characters=FEW_CHARACTERS)
    except NotJson:
        return False
    return True


def _best(arguments: Json, check: SchemaCheck, deadline: float) -> CheckedArguments | None:
    """The first reading that fits and has no unknown keys; else the first that fits.

    The very first reading is the arguments as they stand.
    """
    second_best: CheckedArguments | None = None
    for reading in readings(arguments, check.schema):
        fitting = _if_it_fits(reading, check, deadline)
        if fitting and not _has_unknown_keys(fitting.arguments, check.schema):
            return fitting
        second_best = second_best or fitting
    return second_best


def _if_it_fits(
    reading: ArgumentReading, check: SchemaCheck, deadline: float
) -> CheckedArguments | None:
    value = reading.value
    if isinstance(value, Mapping) and _is_bounded(value) and check.fits(value, deadline):
        return CheckedArguments(value, reading.notes)
    return None


def _is_bounded(value: Json) -> bool:
    """Whether a reading is within bounds: a text that was read as JSON may have many values."""
    try:
        check_json_size(value)
    except NotJson:
        return False
    return True


def _has_unknown_keys(arguments: JsonObject, schema: JsonObject) -> bool:
    """Whether there are keys that the schema does not mention, where it says nothing of others.

    Such arguments fit, for JSON Schema allows what it does not forbid. Mostly they are a slip.
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return False
    open_ended = {"additionalProperties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf"}
    return open_ended.isdisjoint(schema) and not arguments.keys() <= properties.keys()
