"""From the raw JSON of `tools/list` to `ToolInfo`. A malformed tool hides no other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice, takewhile
from typing import NamedTuple, get_args

from toolcrib.model import Defer, Json, JsonObject, PermissionKind, ToolInfo
from toolcrib.sources.definition import Definition, clean_tool, permission_from
from toolcrib.sources.mcp.config.server import ServerConfig
from toolcrib.sources.mcp.identity import ServerIdentity
from toolcrib.sources.mcp.listing import KnownServer
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


class DefinedTool(NamedTuple):
    """A tool, what is wrong with it, and the judgement that it was made by."""

    tool: ToolInfo
    problems: Sequence[str]
    judged: ToolJudgement


@dataclass(frozen=True, slots=True)
class ToolDefinitions:
    """The tools by their own names, in the server's order, and what is wrong with the rest.

    `defined` is what each was made of, for the configuration `config` and the whole `judgement`.
    """

    tools: Mapping[str, ToolInfo]
    problems: tuple[str, ...]
    config: ServerConfig | None = None
    judgement: ServerJudgement | None = None
    defined: Mapping[str, DefinedTool] = field(default_factory=dict[str, DefinedTool])

    @property
    def asking(self) -> frozenset[str]:
        """Those that their server asks hosts to load: which of them are depends on the others."""
        return frozenset(name for name, tool in self.tools.items() if tool.asks_to_load)


NONE_DEFINED = ToolDefinitions({}, ())


def define_tools(
    config: ServerConfig,
    known: KnownServer,
    judgement: ServerJudgement,
    identity: ServerIdentity,
    before: ToolDefinitions = NONE_DEFINED,
) -> ToolDefinitions:
    """Every tool of a listing that has a name, except the rejected ones.

    A tool has the definition that was approved, whatever its server says now. A tool that nobody
    has approved has no more than its name. Tools that are judged as `before` are not made again.
    """
    earlier = (before if before.config is config else NONE_DEFINED).defined
    defined = {
        name: _defined(config, name, judged, identity, earlier.get(name))
        for name, judged in judgement.tools.items()
        if judged.status != "rejected"
    }
    tools = {name: each.tool for name, each in defined.items()}
    unnamed = known.listing.named.problems
    problems = [f"MCP server {config.id!r}: {each}" for each in unnamed]
    problems += (problem for each in defined.values() for problem in each.problems)
    every = {**tools, **_always_loaded(config, tools)}
    return ToolDefinitions(every, tuple(problems), config, judgement, defined)


def _defined(
    config: ServerConfig,
    name: str,
    judged: ToolJudgement,
    identity: ServerIdentity,
    before: DefinedTool | None,
) -> DefinedTool:
    if before and (before.judged is judged or before.judged == judged):
        return before
    if judged.approved is None:
        tool = replace(_name_only(config, name, judged), pin=identity.call_pin(judged.pin))
        remedy = f"look at it, and let it in: `toolcrib review {config.id} --approve {name!r}`"
        hidden = f"{', '.join(judged.listed.hidden)}; {remedy}" if judged.flags else ""
        told = f"MCP server {config.id!r}: tool {name!r} waits for review: hidden in it is {hidden}"
        return DefinedTool(tool, (told,) if hidden else (), judged)
    reader = _DefinitionReader(config, name, judged.approved)
    pin, flags = _pin_and_flags(judged, judged.approved)
    tool = clean_tool(reader.tool(), identity.call_pin(pin), flags)
    return DefinedTool(tool, reader.problems, judged)


def _always_loaded(config: ServerConfig, tools: Mapping[str, ToolInfo]) -> Mapping[str, ToolInfo]:
    """The tools that are never deferred because the server asks for that.

    They cost every request. So only the first few of a server count, and none if the operator has
    set `defer`.
    """
    if config.defer is not None:
        return {}
    asking = [name for name, tool in tools.items() if tool.asks_to_load and tool.defer != "never"]
    costs = accumulate(estimate_tokens(tool_definition(tools[name])) for name in asking)
    taken = takewhile(lambda each: each[1] <= MOST_LOADED_TOKENS, zip(asking, costs, strict=True))
    return {name: replace(tools[name], defer="never") for name, _ in islice(taken, MOST_LOADED)}


def _pin_and_flags(judged: ToolJudgement, approved: Definition) -> tuple[str, tuple[str, ...]]:
    """Those of the approved definition. They need not be made again if it is the listed one."""
    if approved is judged.listed:
        return judged.pin, judged.flags
    return approved.pin, approved.flags


def _name_only(config: ServerConfig, name: str, judged: ToolJudgement) -> ToolInfo:
    return ToolInfo(
        name=name,
        description="",
        source="mcp",
        source_id=config.prefix or config.id,
        named_by="operator",
        permission_kind=_kind(config, name, {}, believed=False),
        enabled=config.enables(name),
        parameters=ANY_OBJECT,
        flags=judged.flags,
    )


def _kind(
    config: ServerConfig, name: str, annotations: JsonObject, *, believed: bool
) -> PermissionKind:
    """What the operator says, else the server. A file that others write can only raise the kind."""
    said, ours = (
        permission_from(annotations, believed=believed, name=name),
        config.permission_of(name),
    )
    if ours is None or config.is_own:
        return ours or said
    order: tuple[PermissionKind, ...] = get_args(PermissionKind)
    return max((said, ours), key=order.index)


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
            permission_kind=_kind(
                config, self._name, annotations, believed=config.believe_annotations
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
        """A search hint for a tool that has none: the server's name, and what it is for."""
        title, instructions = self._definition.title, self._definition.instructions
        purpose = without_surrogates(instructions.strip().partition("\n")[0], LONGEST_ABOUT)
        words = dict.fromkeys((self._config.id, title, purpose))
        return without_surrogates(" ".join(filter(None, words)), LONGEST_HINT)

    def _defer(self) -> Defer:
        """What the operator set for this tool, else for the server. See `_always_loaded`."""
        if self._config.always_loads(self._name):
            return "never"
        return self._config.defer or "automatic"

    def _parameters(self) -> JsonObject:
        """The schema; any object, if it cannot be kept."""
        schema = self._object("inputSchema")
        if schema is None:
            return ANY_OBJECT
        return schema if schema.get("type") == "object" else {**schema, "type": "object"}

    def _object(self, key: str) -> JsonObject | None:
        """An object within the bounds; None, and a problem, for anything else that is there."""
        value = self._raw.get(key)
        if value is None:
            return None
        try:
            bounded = bounded_json(value)
        except TooLarge as error:
            return self._leave_out(key, str(error))
        return bounded if isinstance(bounded, Mapping) else self._leave_out(key, "is not an object")

    def _leave_out(self, key: str, why: str) -> None:
        """Note the problem. Without the schema of its arguments a tool cannot be called."""
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
