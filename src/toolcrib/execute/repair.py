"""The usual slips of models in arguments, put right where the result then fits the schema.

    "{...}"               arguments written as text
    {"arguments": {...}}  wrapped once too often
    {"a.b": 1}            flattened
    {"tags": "x"}         one value for a list
    {"limit": null}       a null for what may be left out
    {}                    a required value left out that has a default

Nothing is guessed. A repair moves a value to where the schema has a place for it, or takes the
schema's own default, and `arguments` uses it only if all of it fits then.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from toolcrib.execute.schema_reader import SchemaReader, properties_of, required_by, type_of
from toolcrib.model import Json, JsonObject
from toolcrib.strict_json import NotJson, read_json

ARGUMENT_WRAPPERS = frozenset({"arguments", "args", "input", "parameters", "params"})
MOST_WRAPPERS = 3
MOST_NOTES = 20
MOST_PARTS = 8

Path: TypeAlias = tuple[str | int, ...]

_SPELT_IN_PYTHON: Mapping[str, Json] = {"True": True, "False": False}


@dataclass(frozen=True, slots=True)
class ArgumentReading:
    """Arguments as they may have been meant, and what was put right for it, one note each."""

    value: Json
    notes: tuple[str, ...] = ()


def readings(arguments: Json, schema: JsonObject) -> Iterator[ArgumentReading]:
    """How the arguments may have been meant: as they stand first, with defaults filled in last."""
    for reading in _unwrapped(ArgumentReading(arguments)):
        yield reading
        yield _repaired(reading, schema)
    for reading in _unwrapped(ArgumentReading(arguments)):
        if not _is_wrapper(reading.value, schema):
            yield _repaired(reading, schema, fill=True)


def _repaired(
    reading: ArgumentReading, schema: JsonObject, *, fill: bool = False
) -> ArgumentReading:
    repairer = _Repairer(SchemaReader(schema), {}, fill=fill)
    value = repairer.repaired(reading.value, schema)
    return ArgumentReading(value, (*reading.notes, *repairer.notes))


def _is_wrapper(value: Json, schema: JsonObject) -> bool:
    """Whether it only wraps the arguments: what it holds has a reading of its own."""
    names = properties_of(SchemaReader(schema).resolved(schema))
    return (
        isinstance(value, Mapping)
        and len(value) == 1
        and not ARGUMENT_WRAPPERS.isdisjoint(value.keys() - names.keys())
    )


def _unwrapped(reading: ArgumentReading, deepest: int = MOST_WRAPPERS) -> Iterator[ArgumentReading]:
    """As it stands, then with text read and wrappers taken off, one after the other."""
    yield reading
    match reading.value:
        case _ if not deepest:
            return
        case str(text) if (value := _read(text)) is not None:
            inner = ArgumentReading(value, (*reading.notes, "$: text read as JSON"))
        case {**only} if len(only) == 1 and (key := next(iter(only))) in ARGUMENT_WRAPPERS:
            inner = ArgumentReading(only[key], (*reading.notes, f"$: taken out of {key!r}"))
        case _:
            return
    yield from _unwrapped(inner, deepest - 1)


class _Repairer:
    """Goes through arguments and schema side by side, taking notes."""

    def __init__(self, reader: SchemaReader, defaults: dict[int, Json], *, fill: bool) -> None:
        self._reader = reader
        self._defaults = defaults
        self._fill = fill
        self._notes: list[str] = []
        self._more = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was put right: the first of it, and how much more there is."""
        more = [f"{self._more} more like these"] if self._more else []
        return (*self._notes, *more)

    def repaired(self, value: Json, schema: Json, path: Path = ()) -> Json:
        """The value with everything in it put right, as far as the types tell."""
        value = self._retyped(value, self._reader.types(schema), path)
        resolved = self._reader.resolved(schema)
        match value:
            case {**given}:
                return self._filled(self._unflattened(given, resolved, path), resolved, path)
            case list():
                items = resolved.get("items")
                return [self.repaired(each, items, (*path, at)) for at, each in enumerate(value)]
            case _:
                return value

    def _retyped(self, value: Json, types: frozenset[str], path: Path) -> Json:
        """The value as one of the types, if it is of none of them and can be read as one."""
        if not types or type_of(value) & types:
            return value
        read = _read(value) if isinstance(value, str) else None
        if read is not None and type_of(read) & types:
            self._note(path, f"text read as {min(type_of(read) & types)}")
            return read
        if "array" in types and value is not None:
            self._note(path, "one value made a list")
            return [value]
        return value

    def _filled(self, given: JsonObject, schema: JsonObject, path: Path) -> JsonObject:
        """The object with its values put right, without nulls that stand for nothing.

        Where defaults are filled in, what is required and left out is its default.
        """
        properties, needed = properties_of(schema), required_by(schema)
        repaired: dict[str, Json] = {}
        for key, value in given.items():
            types = self._reader.types(properties.get(key))
            means_nothing = value is None and types and "null" not in types
            if means_nothing and (key not in needed or self._fills(properties.get(key))):
                self._note((*path, key), "null left out")
            else:
                repaired[key] = self.repaired(value, properties.get(key), (*path, key))
        for key in properties:
            if key in needed and key not in repaired and self._fills(properties[key]):
                repaired[key] = self._default(properties[key])
                self._note((*path, key), "left out, so its default was filled in")
        return repaired

    def _fills(self, schema: Json) -> bool:
        """Whether what is left out here is what the schema has as its default."""
        return self._fill and bool(self._reader.defaults(schema))

    def _default(self, schema: Json) -> Json:
        """The default in a place, with those of what it leaves out itself; made once.

        A schema may lead back into itself: there the default is as it is written.
        """
        if id(schema) not in self._defaults:
            [default] = self._reader.defaults(schema)
            self._defaults[id(schema)] = default
            inner = _Repairer(self._reader, self._defaults, fill=True)
            self._defaults[id(schema)] = inner.repaired(default, schema)
        return self._defaults[id(schema)]

    def _unflattened(self, given: JsonObject, schema: JsonObject, path: Path) -> JsonObject:
        """{"a.b": 1} as {"a": {"b": 1}}, where the schema has a place for that and not for this."""
        properties = properties_of(schema)
        nested, places = dict(given), dict[str, dict[str, Json]]()
        for key, value in given.items():
            outer, _, inner = key.partition(".")
            flat = inner and key not in properties and self._has(properties.get(outer), inner)
            place = nested.get(outer, {})
            if flat and isinstance(place, Mapping) and inner not in place:
                self._note((*path, key), f"put into {outer!r}")
                if outer not in places:
                    nested[outer] = places[outer] = dict(place)
                places[outer][inner] = value
                del nested[key]
        return nested

    def _note(self, path: Path, what: str) -> None:
        if len(self._notes) == MOST_NOTES:
            self._more += 1
        else:
            self._notes.append(f"{_path_text(path)}: {what}")

    def _has(self, schema: Json, path: str) -> bool:
        """Whether the schema has this property, or for `b.c` the property c of its property b."""
        parts = path.split(".", MOST_PARTS)
        for part in parts:
            properties = properties_of(self._reader.resolved(schema))
            if part not in properties:
                return False
            schema = properties[part]
        return True


def _path_text(path: Path) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part:.80}" for part in path)
    return "".join(["$", *parts])


def _read(text: str) -> Json:
    """What a text says if it is JSON, or a boolean as Python spells it; None if it is neither."""
    try:
        return _SPELT_IN_PYTHON[text] if text in _SPELT_IN_PYTHON else read_json(text)
    except NotJson:
        return None
