"""A capability in the pool, under the name that models see.

What search, rights and lists need of it are properties of the entry itself: an entry whose
definition lies in a file answers them without reading that. `capability` is the whole definition.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from toolcrib.model.capability import (
    Capability,
    Defer,
    JsonObject,
    Kind,
    NamedBy,
    PermissionKind,
    SourceKind,
    State,
    ToolInfo,
)


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A capability in the pool: the name that models see, the source's own name, and its state.

    `remedy` says what to do about a state that is not ready. `overlaps` are prefixes of other
    sources' names that this name begins with too (`mcp_google_drive_`). Entries of other classes
    read `capability` when it is asked for: whoever looks at many of them asks for the rest alone.
    """

    name: str
    bare: str
    capability: Capability
    state: State = "ready"
    remedy: str = ""
    overlaps: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Equal in all fields; two definitions with a content hash are compared by it."""
        if not isinstance(other, Entry):
            return NotImplemented
        return self is other or (self._place == other._place and self._is_same(other))

    def __hash__(self) -> int:
        return hash(self.name)

    def in_state(self, state: State) -> "Entry":
        """The same as if its state were another one, without a remedy."""
        return replace(self, state=state, remedy="")

    @property
    def content(self) -> str:
        """A hash of the whole definition as its source lists it; empty where none was made."""
        return ""

    @property
    def kind(self) -> Kind:
        return self.given.kind

    @property
    def source(self) -> SourceKind:
        return self.given.source

    @property
    def source_id(self) -> str | None:
        return self.given.source_id

    @property
    def module(self) -> str:
        return self.given.module

    @property
    def permission_kind(self) -> PermissionKind:
        return self.given.permission_kind

    @property
    def searchable(self) -> bool:
        return self.given.searchable

    @property
    def packaged(self) -> bool:
        return self.given.packaged

    @property
    def named_by(self) -> NamedBy:
        return self.given.named_by

    @property
    def category(self) -> str:
        return self.given.category

    @property
    def tags(self) -> tuple[str, ...]:
        return self.given.tags

    @property
    def title(self) -> str:
        return self.given.title

    @property
    def description(self) -> str:
        return self.given.description

    @property
    def often_with(self) -> tuple[str, ...]:
        return self.given.often_with

    @property
    def desc(self) -> Mapping[str, str]:
        return self.given.desc

    @property
    def parameters(self) -> JsonObject | None:
        """The schema of its arguments; None for what is no tool."""
        tool = self.given
        return tool.parameters if isinstance(tool, ToolInfo) else None

    @property
    def pin(self) -> str:
        return self.capability.pin

    @property
    def defer(self) -> Defer:
        """As its definition says; "automatic" for what is no tool."""
        tool = self.given
        return tool.defer if isinstance(tool, ToolInfo) else "automatic"

    @property
    def required(self) -> bool:
        """Whether it is a tool that is always shown to the model."""
        tool = self.given
        return isinstance(tool, ToolInfo) and tool.required

    @property
    def asks_to_load(self) -> bool:
        """Whether it is a tool whose MCP server asks hosts never to defer it."""
        tool = self.given
        return isinstance(tool, ToolInfo) and tool.asks_to_load

    @property
    def owner(self) -> str:
        """Whose it is: the id of its source, the module of a function, or else the kind."""
        return self.source_id or self.module or self.source

    @property
    def owner_label(self) -> str:
        """The same with the kind before an id: `mcp:github`."""
        return f"{self.source}:{self.source_id}" if self.source_id else self.owner

    @property
    def given(self) -> Capability:
        """The definition, but maybe under the source's own name and without its pin.

        A pin takes a while to make: whoever needs neither asks for this.
        """
        return self.capability

    @property
    def _place(self) -> tuple[object, ...]:
        return self.name, self.bare, self.state, self.remedy, self.overlaps

    def _is_same(self, other: "Entry") -> bool:
        if self.content and other.content:
            return (self.content, self.pin) == (other.content, other.pin)
        return self.capability == other.capability
