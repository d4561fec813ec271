"""The file of a client as a text: what it says, and the same text with other servers in it."""

import copy
import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, cast

from toolcrib.client_config.jsonc import edit_json, parse_jsonc
from toolcrib.client_config.toml import edit_toml
from toolcrib.errors import ConfigError
from toolcrib.model import JsonObject

Syntax = Literal["json", "toml"]


def read_document(text: str, syntax: Syntax) -> JsonObject:
    """All that the text says; a text without anything is empty. Raises `ConfigError`."""
    if syntax == "toml":
        try:
            return tomllib.loads(text.removeprefix("\ufeff"))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise ConfigError(f"it is not TOML: {error}") from error
    node = parse_jsonc(text)
    if node is None:
        return {}
    if not isinstance(node.value, Mapping):
        raise ConfigError("it is not JSON with an object at the top")
    return node.value


def table_at(document: JsonObject, path: Sequence[str]) -> JsonObject | None:
    """The object at the path; None where there is none. Raises `ConfigError` for anything else."""
    value: Any = document
    for depth, key in enumerate(path, start=1):
        value = cast("JsonObject", value).get(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise ConfigError(f"{'.'.join(path[:depth])!r} is not an object")
    return cast("JsonObject", value)


def edit_document(
    text: str,
    syntax: Syntax,
    path: Sequence[str],
    drop: Collection[str] = (),
    put: Mapping[str, JsonObject] | None = None,
) -> str:
    """The text without the servers `drop` and with the servers `put`, and else as it was.

    What comes out is read again: it says what it should, or a `ConfigError` is raised.
    """
    expected = _expected(read_document(text, syntax), path, drop, put or {})
    edit = edit_json if syntax == "json" else edit_toml
    changed = edit(text, path, drop, put or {})
    if _without_empty(read_document(changed, syntax)) != _without_empty(expected):
        raise ConfigError("it is written in a way that cannot be edited here; change it by hand")
    return changed


def _expected(
    document: JsonObject,
    path: Sequence[str],
    drop: Collection[str],
    put: Mapping[str, JsonObject],
) -> JsonObject:
    top = cast("dict[str, Any]", copy.deepcopy(document))
    if table_at(document, path) is None and not put:
        return top
    place = top
    for key in path:
        place[key] = {} if place.get(key) is None else place[key]
        place = place[key]
    for name in drop:
        place.pop(name, None)
    place.update(put)
    return top


def _without_empty(value: Any) -> Any:  # noqa: ANN401 - TOML has dates, which JSON has not
    """The value without empty objects, for comparing: TOML does not write them out."""
    if isinstance(value, Mapping):
        inner = {
            key: _without_empty(each) for key, each in cast("Mapping[str, Any]", value).items()
        }
        return {key: each for key, each in inner.items() if each != {} and each is not None}
    if isinstance(value, tuple | list):
        return [_without_empty(each) for each in cast("Sequence[Any]", value)]
    return value
