"""The ways in which a package can contribute tools."""

import random
from collections.abc import Callable, Iterable, Sequence

from toolcrib.errors import UnknownTool
from toolcrib.model import Call, CallContext, Capability, Outcome, SkillInfo, SourceKind, State
from toolcrib.sources import tool


def roll_dice(sides: int = 6) -> int:
    """Roll a die.

    Args:
        sides: How many sides it has.
    """
    return random.randint(1, sides)


@tool(permission_kind="read")
def flip_coin() -> str:
    """Flip a coin. It takes no parameters, so `@tool` says that it is a tool."""
    return random.choice(["heads", "tails"])


def miles(kilometres: float) -> float:
    """Convert kilometres to miles."""
    return kilometres / 1.609344


def kilometres(miles: float) -> float:
    """Convert miles to kilometres."""
    return miles * 1.609344


def unit_tools() -> Iterable[Callable[..., object]]:
    """Called without arguments, it returns the tools."""
    return [miles, kilometres]


class RecipeSource:
    """A source of one's own: Toolcrib makes one and asks it for its capabilities."""

    kind: SourceKind = "files"
    id: str | None = None

    def capabilities(self) -> Sequence[Capability]:
        return [SkillInfo(name="pancakes", description="How to make pancakes", source="files")]

    def state(self, name: str) -> State:
        if name != "pancakes":
            raise UnknownTool(f"no recipe {name!r} here; list them")
        return "ready"

    async def call(self, call: Call, context: CallContext) -> Outcome:  # noqa: ARG002 - nothing runs
        raise UnknownTool(f"{call.name!r} is a recipe; read it")


LISTED = [miles, RecipeSource()]
