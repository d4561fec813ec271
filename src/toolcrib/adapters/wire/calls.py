"""The calls of one reply, made through a session, with the approval that was given for them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.execute import ApprovalRequest, Approver
from toolcrib.model import CallError, JsonObject, Outcome, ToolInfo
from toolcrib.session import SEARCH_TOOL_NAMES, Session


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as a model made it. The result carries the same `id`, which is the provider's.

    `refused` says why the call cannot be made, where that is clear from the call itself.
    """

    id: str
    name: str
    arguments: JsonObject | str
    refused: CallError | None = None

    @property
    def is_search(self) -> bool:
        """Whether it is a search for tools."""
        return self.name in SEARCH_TOOL_NAMES


async def make_call(
    session: Session, call: ToolCall, approver: Approver | None, *, paged: bool = True
) -> Outcome:
    """The outcome of one call. `paged` is for models that see our search tool."""
    if call.refused:
        return Outcome(error=call.refused)
    return await session.call(call.name, call.arguments, approver=approver, paged=paged)


async def make_calls(
    session: Session,
    calls: Sequence[ToolCall],
    approver: Approver | None,
    *,
    paged: bool = True,
) -> list[Outcome]:
    """The outcome of each call, in order. They run at once, but are admitted in the model's order.

    So a call that stands after a search may use what it found, and a call before it may not.
    """
    tasks: list[asyncio.Task[Outcome]] = []
    try:
        for each in calls:
            tasks.append(asyncio.create_task(make_call(session, each, approver, paged=paged)))
            # A task runs up to its first wait, and then a call has been admitted or refused.
            await (asyncio.wait([tasks[-1]]) if each.is_search else asyncio.sleep(0))
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()  # does nothing to one that is done


def found_tools(session: Session, outcome: Outcome) -> list[ToolInfo]:
    """The deferred tools that the outcome of a search made callable, best first."""
    match outcome.structured:
        case {"tools": [*names]}:
            revealed = {tool.name: tool for tool in session.revealed_tools()}
            return [revealed[name] for name in names if isinstance(name, str) and name in revealed]
        case _:
            return []


def approver_for(approved: ApprovalRequest | None) -> Approver | None:
    """Approves the call that a person has approved, and no other; None where there is none."""

    async def is_the_same(request: ApprovalRequest) -> bool:
        return request == approved

    return is_the_same if approved else None
