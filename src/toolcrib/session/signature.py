"""A tool on one line, as a programmer would write it."""

from collections.abc import Mapping, Sequence
from typing import cast

from toolcrib.model import JsonObject

MOST_PARAMETERS = 12
MOST_CHOICES = 6
LONGEST_CHOICES = 80


def signature(name: str, schema: JsonObject) -> str:
    """`name(path: string, depth?: integer)`; what may be left out has a question mark."""
    properties = _object(schema.get("properties"))
    needed = schema.get("required")
    required = cast("list[object]", needed) if isinstance(needed, list) else []
    shown = [
        f"{key}{'' if key in required else '?'}: {_type(_object(value))}"
        for key, value in sorted(properties.items(), key=lambda pair: pair[0] not in required)
    ]
    more = ["…"] if len(shown) > MOST_PARAMETERS else []
    return f"{name}({', '.join(shown[:MOST_PARAMETERS] + more)})"


def _type(schema: JsonObject) -> str:
    match schema:
        case {"enum": [*choices]}:
            return _choices(choices)
        case {"type": "array", "items": {**items}}:
            return f"{_type(items)}[]"
        case {"type": str(name)}:
            return name
        case {"type": [*names]}:
            return "|".join(str(name) for name in names)
        case {"anyOf": [*schemas]} | {"oneOf": [*schemas]}:
            return "|".join(dict.fromkeys(_type(_object(each)) for each in schemas))
        case _:
            return "any"


def _choices(choices: Sequence[object]) -> str:
    shown = "|".join(repr(each) for each in choices[:MOST_CHOICES])
    if len(shown) > LONGEST_CHOICES:
        return "choice"
    return shown + ("|…" if len(choices) > MOST_CHOICES else "")


def _object(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}
