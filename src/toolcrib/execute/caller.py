"""Who calls: an id that the host has verified, and what it may call."""

from dataclasses import dataclass, field

from toolcrib.access import Scope
from toolcrib.api_arguments import check
from toolcrib.model import NO_ORIGIN, EventOrigin, RootsOf


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody known, and what they may call. A caller has an id: an empty one is refused.

    `id` comes from what the host has verified (a token, a session, its own code), never from what
    a model says. `roots` says where the file tools that come with Toolcrib work for them, unless
    the settings name folders: the working folder, for a program and its own callers; the roots that
    their MCP client declares; or nowhere. `profile` is the one of the gateway by which they came:
    some rules are about one alone. `origin` is for events. Whoever may not call finds and reads
    what their scope lets through, and the door lets nothing else happen.
    """

    id: str
    scope: Scope = field(default_factory=Scope)
    roots: RootsOf = "working_folder"
    profile: str = ""
    origin: EventOrigin = NO_ORIGIN
    may_call: bool = True

    def at(self, origin: EventOrigin) -> "Caller":
        """The same, whose events come from there."""
        return Caller(self.id, self.scope, self.roots, self.profile, origin, self.may_call)

    def __post_init__(self) -> None:
        check(self.id, str, "Caller(id=)")
        check(self.scope, Scope, "Caller(scope=)", 'write Scope(allowed=["get_*"])')
        if not self.id:
            raise ValueError("a caller has an id; pass the one that the host has verified")
