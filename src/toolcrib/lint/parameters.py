"""The rule about parameters: their descriptions are searched, and models call by them."""

from collections.abc import Iterator, Mapping

from toolcrib.lint.shelf import Shelf, Told
from toolcrib.model import Json, ToolInfo

MOST_NAMED = 5


def undocumented_parameter(shelf: Shelf) -> Iterator[Told]:
    """Some of its parameters have no description."""
    for name, entry in shelf.entries.items():
        if isinstance(entry.capability, ToolInfo):
            bare = [key for key, each in _properties(entry.capability) if not _described(each)]
            if bare:
                more = f" and {len(bare) - MOST_NAMED} more" if len(bare) > MOST_NAMED else ""
                told = ", ".join(bare[:MOST_NAMED])
                yield Told(name, f"says nothing of its parameters {told}{more}; describe them")


def _properties(tool: ToolInfo) -> Iterator[tuple[str, Json]]:
    properties = tool.parameters.get("properties")
    if isinstance(properties, Mapping):
        yield from properties.items()


def _described(schema: Json) -> bool:
    if not isinstance(schema, Mapping):
        return True
    said = schema.get("description")
    return "$ref" in schema or (isinstance(said, str) and bool(said.strip()))
