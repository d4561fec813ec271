"""Who calls."""

from dataclasses import dataclass, field

from toolcrib.search.filters import Scope


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody known, and what they may call. Nobody is not a caller: an empty id is refused.

    `id` comes from what the host has verified (a token, a session, its own code), never from what
    a model says.
    """

    id: str
    scope: Scope = field(default_factory=Scope)

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("a caller has an id; pass the one that the host has verified")
