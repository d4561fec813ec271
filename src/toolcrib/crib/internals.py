"""What the gateway, the dashboard and the commands reach of a crib, past its front door.

Nobody else is promised what is here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from toolcrib.crib.crib import Crib
from toolcrib.crib.stages import Stages
from toolcrib.wiring import deferral_of

if TYPE_CHECKING:
    import asyncio

    from toolcrib.crib.inventory import Inventory
    from toolcrib.crib.parts import CribParts
    from toolcrib.crib.searcher import Searcher
    from toolcrib.execute import Caller
    from toolcrib.observe import EventLog, Tracer
    from toolcrib.program import RecipeDesk, ToolSignature
    from toolcrib.session import Deferral, DeferralPlan
    from toolcrib.settings import Settings
    from toolcrib.store import Stores
    from toolcrib.uses import UseHistory


def crib_beside(
    other: Crib,
    settings: Settings,
    loop: asyncio.AbstractEventLoop,
    on_documents: Callable[[], None],
) -> Crib:
    """A crib of these settings on the parts of another one. See `open_tenant`."""
    crib, stages = Crib.__new__(Crib), Stages(settings, parts_of(other))
    crib._opened = stages  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in
    stages.open(loop, on_documents)
    return crib


def parts_of(crib: Crib) -> CribParts:
    """What a crib may share with others of its process."""
    return _stages(crib).parts


def inventory_of(crib: Crib) -> Inventory:
    """What a crib holds."""
    return _stages(crib).inventory


def searcher_of(crib: Crib) -> Searcher:
    """What searches a crib."""
    return _stages(crib).searcher


def signatures_in(crib: Crib, names: Iterable[str], caller: Caller) -> Mapping[str, ToolSignature]:
    """Tools as typed functions; not those that the caller may not call."""
    return _stages(crib).programs.signatures(caller, names)


def deferral_plan_in(
    crib: Crib, caller: Caller, deferral: Deferral | None = None, used: int = 0
) -> DeferralPlan:
    """What waits for a search of this caller, by the settings if nothing else is said."""
    deferral = deferral or deferral_of(crib.settings, None, None)
    return _stages(crib).sessions.plan(caller, deferral, used)


def tools_of_program(crib: Crib, program: str, handle: str, caller: Caller) -> Collection[str]:
    """The tools that a program may call, or one that waits; see `CribPrograms.tools_of`."""
    return _stages(crib).programs.tools_of(program, handle, caller)


def recipes_of(crib: Crib) -> RecipeDesk:
    """The operator's desk for recipes."""
    return _stages(crib).recipes.desk


def use_history_of(crib: Crib) -> UseHistory:
    """What a crib keeps about use."""
    return _stages(crib).advice.history


def events_of(crib: Crib) -> EventLog:
    """The log of a crib's events."""
    return _stages(crib).events


def stores_in(crib: Crib) -> Stores:
    """What lasts of a crib."""
    return _stages(crib).stores


def tracer_in(crib: Crib) -> Tracer | None:
    """Who takes the spans of a crib."""
    return _stages(crib).tracer


def _stages(crib: Crib) -> Stages:
    return crib._opened  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - our own way in
