"""A tool as a stranger defines it, whole: what is pinned, approved and compared."""

import json
from dataclasses import dataclass

from toolcrib.model import JsonObject
from toolcrib.sources.scanned import flags_of
from toolcrib.text import canonical_json, json_digest

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Definition:
    """The raw tool, with what else reaches a model with it, and what is run to call it.

    `title` and `instructions` are those of its server; `config_hash` stands for the command or
    the address that the server is reached by.
    """

    tool: JsonObject
    title: str = ""
    instructions: str = ""
    config_hash: str = ""

    @property
    def pin(self) -> str:
        """A SHA-256 of all of it: equal only if all of it is."""
        return json_digest(self._fields())

    @property
    def flags(self) -> tuple[str, ...]:
        """The tricks by which something is hidden anywhere in its texts."""
        return flags_of(self.tool, self.title, self.instructions)

    def written(self) -> str:
        """As JSON, for `read_definition`."""
        return canonical_json(self._fields())

    def _fields(self) -> JsonObject:
        return {
            "format": FORMAT,
            "tool": self.tool,
            "title": self.title,
            "instructions": self.instructions,
            "config_hash": self.config_hash,
        }


def read_definition(text: str) -> Definition:
    """The definition that was written. Raises `ValueError` for what is none."""
    match json.loads(text):
        case {
            "format": 1,
            "tool": {**tool},
            "title": str(title),
            "instructions": str(instructions),
            "config_hash": str(config_hash),
        }:
            return Definition(tool, title, instructions, config_hash)
        case _:
            raise ValueError("not a definition that this version can read")
