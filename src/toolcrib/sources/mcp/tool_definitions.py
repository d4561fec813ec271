"""From the raw JSON of `tools/list` to `ToolInfo`. A malformed tool hides no other."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate, islice, takewhile

from toolcrib.model import Defer, Json, JsonObject, ToolInfo
from toolcrib.sources.definition import Definition, clean_tool, permission_from
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.listing import KnownServer, tools_by_name
from toolcrib.sources.mcp.sanitize import TooLarge, bounded_json, without_surrogates
from toolcrib.sources.mcp.trust import ServerJudgement, ToolJudgement
from toolcrib.text import estimate_tokens, tool_definition

LONGEST_DESCRIPTION = 16 * 1024
LONGEST_TITLE = 256
LONGEST_HINT = 512
LONGEST_ABOUT = 200
ANY_OBJECT: JsonObject = {"type": "object"}
MOST_LOADED = 5
MOST_LOADED_TOKENS = 1_500
"""So many tools of a server, in so many tokens, are never deferred because it asks for that."""


@dataclass(frozen=True, slots=True)
class ToolDefinitions:
    """The tools by their own names, in the server's order, and what was wrong with the others."""

    tools: Mapping[str, ToolInfo]
    problems: tuple[str, ...]


def define_tools(
    config: ServerConfig, known: KnownServer, judgement: ServerJudgement
) -> ToolDefinitions:
    """Every tool of a listing that has a name, but for those that were rejected.

    A tool is what was approved of it, whatever it says now; of one that nobody has approved there
    is no more than the name.
    """
    tools: dict[str, ToolInfo] = {}
    problems = [
        f"MCP server {config.id!r}: {each}" for each in tools_by_name(known.listing).problems
    ]
    for name, judged in judgement.tools.items():
        if judged.status == "rejected":
            continue
        if judged.shown is None:
            tools[name] = _withheld(config, name, judged)
        else:
            reader = _DefinitionReader(config, name, judged.shown)
            tools[name] = clean_tool(reader.tool(), *_pin_and_flags(judged, judged.shown))
            problems += reader.problems
    return ToolDefinitions({**tools, **_loaded(config, tools)}, tuple(problems))


def _loaded(config: ServerConfig, tools: Mapping[str, ToolInfo]) -> Mapping[str, ToolInfo]:
    """The tools that are never deferred because the server asks for that, as far as it counts.

    They cost every request: of each server the first few count, unless the operator has said
    something about them.
    """
    if config.defer is not None:
        return {}
    asking = [name for name, tool in tools.items() if tool.asks_to_load and tool.defer != "never"]
    costs = accumulate(estimate_tokens(tool_definition(tools[name])) for name in asking)
    taken = takewhile(lambda each: each[1] <= MOST_LOADED_TOKENS, zip(asking, costs, strict=True))
    return {name: replace(tools[name], defer="never") for name, _ in islice(taken, MOST_LOADED)}


def _pin_and_flags(judged: ToolJudgement, shown: Definition) -> tuple[str, tuple[str, ...]]:
    """Those of what is shown; known already, if it is what is listed now."""
    if shown is judged.now:
        return judged.pin, judged.flags
    return shown.pin, shown.flags


def _withheld(config: ServerConfig, name: str, judged: ToolJudgement) -> ToolInfo:
    return ToolInfo(
        name=name,
        description="",
        source="mcp",
        source_id=config.prefix or config.id,
        named_by="operator",
        permission_kind=permission_from({}, believed=False, override=config.permission_of(name)),
        enabled=config.enables(name),
        parameters=ANY_OBJECT,
        flags=judged.flags,
        pin=judged.pin,
    )


class _DefinitionReader:
    """One definition and what is wrong with it."""

    def __init__(self, config: ServerConfig, name: str, definition: Definition) -> None:
        self._config = config
        self._name = name
        self._definition = definition
        self._raw = definition.tool
        self._schema_problem = ""
        self.problems: list[str] = []

    def tool(self) -> ToolInfo:
        annotations = self._object("annotations") or {}
        parameters = self._parameters()
        config = self._config
        return ToolInfo(
            name=self._name,
            description=_text(self._raw.get("description"), LONGEST_DESCRIPTION),
            source="mcp",
            source_id=config.prefix or config.id,
            named_by="operator",
            approval="ask" if config.permission_of(self._name) == "dangerous" else None,
            permission_kind=permission_from(
                annotations,
                believed=config.believe_annotations,
                override=config.permission_of(self._name),
            ),
            enabled=config.enables(self._name),
            title=_text(self._raw.get("title") or annotations.get("title"), LONGEST_TITLE),
            search_hint=_text(self._meta("anthropic/searchHint"), LONGEST_HINT) or self._about(),
            parameters=parameters,
            schema_problem=self._schema_problem,
            output_schema=self._object("outputSchema"),
            annotations=annotations,
            defer=self._defer(),
            meta=self._object("_meta") or {},
        )

    def _about(self) -> str:
        """A hint for a tool that has none: what its server is called and says it is for."""
        said = self._definition
        first = said.instructions.strip().partition("\n")[0]
        words = dict.fromkeys(
            (self._config.id, said.title, without_surrogates(first, LONGEST_ABOUT))
        )
        return without_surrogates(" ".join(filter(None, words)), LONGEST_HINT)

    def _defer(self) -> Defer:
        """The operator's word for this tool, then for the server. The server's own comes later."""
        if self._config.always_loads(self._name):
            return "never"
        return self._config.defer or "automatic"

    def _parameters(self) -> JsonObject:
        """The schema; of one that cannot be kept no more than that it is an object."""
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
            kept = bounded_json(value)
        except TooLarge as error:
            return self._left_out(key, str(error))
        return kept if isinstance(kept, Mapping) else self._left_out(key, "is not an object")

    def _left_out(self, key: str, why: str) -> None:
        """Say so. Without the schema of its arguments, a tool cannot be called."""
        if key == "inputSchema":
            self._schema_problem = f"its {key} {why}"
            self._problem(f"its {key} {why}, so that it cannot be called")
        else:
            self._problem(f"its {key} {why} and is left out")

    def _meta(self, key: str) -> Json:
        meta = self._raw.get("_meta")
        return meta.get(key) if isinstance(meta, Mapping) else None

    def _problem(self, message: str) -> None:
        self.problems.append(f"MCP server {self._config.id!r}: tool {self._name!r}: {message}")


def _text(value: Json, most: int) -> str:
    return without_surrogates(value, most) if isinstance(value, str) else ""
