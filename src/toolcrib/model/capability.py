"""What can be searched: a tool, a skill or an agent.

Frozen values, no I/O. `Capability` has what all three share; `kind` says which one it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

Kind = Literal["tool", "skill", "agent"]
SourceKind = Literal["builtin", "mcp", "sdk", "files"]
PermissionKind = Literal["read", "write", "execute", "network", "dangerous"]
Defer = Literal["never", "automatic", "always"]
NamedBy = Literal["program", "operator", ""]
State = Literal[
    "ready", "asleep", "needs_login", "changed", "unreviewed", "disabled", "other_platform"
]
CALLABLE_STATES: frozenset[State] = frozenset({"ready", "asleep"})
"""The states in which a tool can be called: one that is asleep wakes by itself."""

ALL_PLATFORMS = ("all",)
ALWAYS_LOAD = "anthropic/alwaysLoad"
"""The key in a tool's `_meta` by which a server asks hosts never to defer it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What tools, skills and agents share: all that search needs to know.

    `name` is the source's own name until the pool gives it the one that models see. `title`,
    `display` and `desc` are for people and for search; `display` and `desc` are keyed by language
    tag ("en", "zh-CN"). A model sees it only if `enabled` and `platform_available` both hold.
    `flags` are the kinds of hidden text that were found and removed. `often_with` names what its
    author says it is used with. `packaged`: it comes with Toolcrib. `named_by` says who added it by
    name: the program (a function) or the operator (an MCP server); "" for what came along, such as
    tools of Toolcrib, of plugins and of apps. `module` is the Python module of a function: a label,
    and no part of the definition. `pin` is a hash of the definition.
    """

    kind: ClassVar[Kind]

    name: str
    description: str
    source: SourceKind = "builtin"
    source_id: str | None = None
    permission_kind: PermissionKind = "write"
    category: str = ""
    tags: tuple[str, ...] = ()
    searchable: bool = True
    platforms: tuple[str, ...] = ALL_PLATFORMS
    enabled: bool = True
    platform_available: bool = True
    title: str = ""
    display: Mapping[str, str] = field(default_factory=dict[str, str])
    desc: Mapping[str, str] = field(default_factory=dict[str, str])
    search_hint: str = ""
    flags: tuple[str, ...] = ()
    often_with: tuple[str, ...] = ()
    packaged: bool = False
    named_by: NamedBy = ""
    module: str = ""
    pin: str = ""

    @property
    def owner(self) -> str:
        """Whose it is: the id of its source, the module of a function, or else the kind."""
        return self.source_id or self.module or self.source

    @property
    def owner_label(self) -> str:
        """The same with the kind before an id: `mcp:github`."""
        return f"{self.source}:{self.source_id}" if self.source_id else self.owner


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInfo(Capability):
    """A tool: something that can be called with arguments.

    `parameters` is a JSON Schema object. `required` tools are always shown to the model; `defer`
    says whether the schema of the others may wait until a search reveals it. `meta` is `_meta` of
    an MCP tool, for hosts. `schema_problem` says why its schema cannot be used; such a tool is
    found, and never called. `approval` "ask": a person is asked before each call, unless a rule
    says otherwise.
    """

    kind: ClassVar[Kind] = "tool"

    parameters: JsonObject = field(default_factory=dict[str, Json])
    schema_problem: str = ""
    output_schema: JsonObject | None = None
    annotations: JsonObject = field(default_factory=dict[str, Json])
    defer: Defer = "automatic"
    required: bool = False
    approval: Literal["ask"] | None = None
    meta: JsonObject = field(default_factory=dict[str, Json])

    @property
    def asks_to_load(self) -> bool:
        """Whether its MCP server asks hosts never to defer it; `defer` says if that is done."""
        return self.source == "mcp" and self.meta.get(ALWAYS_LOAD) is True


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillInfo(Capability):
    """A skill: written knowledge, in a folder with a SKILL.md. `body` is that knowledge."""

    kind: ClassVar[Kind] = "skill"

    body: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInfo(Capability):
    """An agent that work can be handed to: what it says it can do, and where it is."""

    kind: ClassVar[Kind] = "agent"

    skills: tuple[str, ...] = ()
    url: str = ""
    path: str = ""
