"""From the raw JSON of a server's tools to tools of ours. One that is malformed hides no other."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from toolcrib.model import Defer, Json, JsonObject, ToolInfo
from toolcrib.sources.mcp.bounded import TooLarge, bounded, clean
from toolcrib.sources.mcp.known import KnownServer
from toolcrib.sources.mcp.server import ServerConfig
from toolcrib.sources.permissions import permission_from

LONGEST_NAME = 128
LONGEST_DESCRIPTION = 16 * 1024
LONGEST_TITLE = 256
LONGEST_HINT = 512
LONGEST_ABOUT = 200
ANY_OBJECT: JsonObject = {"type": "object"}


@dataclass(frozen=True, slots=True)
class Defined:
    """The tools by their own names, in the server's order, and what was wrong with the others."""

    tools: Mapping[str, ToolInfo]
    problems: tuple[str, ...]


def define(config: ServerConfig, known: KnownServer) -> Defined:
    """Every tool of a listing that has a name, each name once."""
    tools: dict[str, ToolInfo] = {}
    problems: list[str] = []
    about = _about(config, known)
    for raw in known.listing.tools:
        name = raw.get("name")
        if not _is_name(name):
            problems.append(f"MCP server {config.id!r}: a tool without a usable name is left out")
        elif name in tools:
            problems.append(f"MCP server {config.id!r}: {name!r} is listed twice; the first counts")
        else:
            reader = _Reader(config, name, raw, about)
            tools[name] = reader.tool()
            problems += reader.problems
    if not known.listing.complete:
        problems.append(f"MCP server {config.id!r}: its list was cut after {len(tools)} tools")
    return Defined(tools, tuple(problems))


class _Reader:
    """One raw tool and what is wrong with it."""

    def __init__(self, config: ServerConfig, name: str, raw: JsonObject, about: str) -> None:
        self._config = config
        self._name = name
        self._raw = raw
        self._about = about
        self.problems: list[str] = []

    def tool(self) -> ToolInfo:
        annotations = self._object("annotations") or {}
        config = self._config
        return ToolInfo(
            name=self._name,
            description=_text(self._raw.get("description"), LONGEST_DESCRIPTION),
            source="mcp",
            source_id=config.prefix or config.id,
            permission_kind=permission_from(
                annotations,
                trusted=config.trust == "open",
                override=config.permission_of(self._name),
            ),
            enabled=not config.disabled,
            title=_text(self._raw.get("title") or annotations.get("title"), LONGEST_TITLE),
            search_hint=_text(self._meta("anthropic/searchHint"), LONGEST_HINT) or self._about,
            parameters=self._parameters(),
            output_schema=self._object("outputSchema"),
            annotations=annotations,
            defer=self._defer(),
        )

    def _defer(self) -> Defer:
        """The operator's word for this tool, then for the server; then the server's own."""
        if self._config.always_loads(self._name):
            return "never"
        always = self._meta("anthropic/alwaysLoad") is True
        return self._config.defer or ("never" if always else "automatic")

    def _parameters(self) -> JsonObject:
        schema = self._object("inputSchema")
        if schema is None:
            return ANY_OBJECT
        return schema if schema.get("type") == "object" else {**schema, "type": "object"}

    def _object(self, key: str) -> JsonObject | None:
        """An object within the caps; None, and a problem, for anything else that is there."""
        value = self._raw.get(key)
        if value is None:
            return None
        try:
            kept = bounded(value)
        except TooLarge as error:
            self._problem(f"its {key} {error} and is left out")
            return None
        if not isinstance(kept, Mapping):
            self._problem(f"its {key} is no object and is left out")
            return None
        return kept

    def _meta(self, key: str) -> Json:
        meta = self._raw.get("_meta")
        return meta.get(key) if isinstance(meta, Mapping) else None

    def _problem(self, message: str) -> None:
        self.problems.append(f"MCP server {self._config.id!r}: tool {self._name!r}: {message}")


def _about(config: ServerConfig, known: KnownServer) -> str:
    """A hint for tools that have none: what their server is called and what it says it is for."""
    first = known.facts.instructions.strip().partition("\n")[0]
    words = dict.fromkeys((config.id, known.facts.title, clean(first, LONGEST_ABOUT)))
    return clean(" ".join(filter(None, words)), LONGEST_HINT)


def _text(value: Json, most: int) -> str:
    return clean(value, most) if isinstance(value, str) else ""


def _is_name(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()
