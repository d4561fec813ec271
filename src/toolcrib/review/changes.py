"""What is different between two definitions, or configurations, for a person to read."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from toolcrib.model import Json, JsonObject
from toolcrib.sources import Definition
from toolcrib.strict_json import canonical_json
from toolcrib.text import show_hidden

_Path: TypeAlias = tuple[str | int, ...]

OTHER_CONFIGURATION = "the server's command, address or variables have changed"


@dataclass(frozen=True, slots=True)
class Change:
    """One field. None stands for a field that is not there; hidden characters are spelt out."""

    field: str
    old: str | None
    new: str | None


def changes(old: Definition | None, new: Definition) -> tuple[Change, ...]:
    """All fields that differ, in the order of the new definition; all there are without an old."""
    return _differences(_root(old) if old else None, _root(new))


def configuration_changes(old: str | None, new: str, *, another: bool) -> tuple[Change, ...]:
    """What is different between two configurations, as JSON without secrets; see `masked_entry`.

    `another`: it is another server now. If no difference can be shown, the one change says that.
    """
    found = () if old is None else _differences(_configuration(old), _configuration(new))
    return found or ((Change("configuration", None, OTHER_CONFIGURATION),) if another else ())


def entry_changes(old: str | None, new: str) -> tuple[Change, ...]:
    """The same of an entry that waits for a yes: all of it, if none was approved before."""
    before = None if old is None else _configuration(old)
    other = (Change("configuration", None, OTHER_CONFIGURATION),)
    return _differences(before, _configuration(new)) or other


def _configuration(entry: str) -> JsonObject:
    return {"configuration": json.loads(entry)}


def _differences(old: JsonObject | None, new: JsonObject) -> tuple[Change, ...]:
    before, after = (dict(_leaves(each)) if each else {} for each in (old, new))
    return tuple(
        _change(path, before.get(path), after.get(path))
        for path in dict.fromkeys((*after, *before))
        if before.get(path) != after.get(path)
    )


def _root(definition: Definition) -> JsonObject:
    texts = {"title": definition.title, "instructions": definition.instructions}
    server = {field: text for field, text in texts.items() if text}
    return {"tool": definition.tool, "server": server} if server else {"tool": definition.tool}


def _leaves(value: Json, path: _Path = ()) -> Iterator[tuple[_Path, str]]:
    """What is in a value, as JSON, by where it is; a list of plain values is one leaf."""
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from _leaves(each, (*path, key))
    elif isinstance(value, list) and any(isinstance(each, Mapping | list) for each in value):
        for number, each in enumerate(value):
            yield from _leaves(each, (*path, number))
    else:
        yield path, canonical_json(value)


def _change(path: _Path, old: str | None, new: str | None) -> Change:
    """The change in plain words; as JSON, where those would be the same for both."""
    plain = [None if leaf is None else _plain(leaf) for leaf in (old, new)]
    return Change(_field(path), *(plain if plain[0] != plain[1] else (old, new)))


def _plain(leaf: str) -> str:
    value: Json = json.loads(leaf)
    return show_hidden(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _field(path: _Path) -> str:
    """A path as one writes it; a name that could be taken for a path is quoted."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{_part(part)}" for part in path)
    return "".join(parts).removeprefix(".")


def _part(name: str) -> str:
    plain = show_hidden(name) == name and name and not set(name) & set('.[]"\\')
    return name if plain else json.dumps(name)
