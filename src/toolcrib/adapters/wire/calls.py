"""The calls of one reply, made through a session, with the approval that was given for them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from toolcrib.execute import ApprovalRequest, Approver
from toolcrib.model import CallError, JsonObject, Outcome, ToolInfo
from toolcrib.session import SEARCH_TOOL_NAMES, Session


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as a model made it. `id` is the provider's, by which the result is known.

    `refused`: why it cannot be made, where that is plain before anybody is asked.
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
    """The outcome of one call. `paged` is for models that are shown our search tool."""
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
    """The outcome of each, in order. They run at once, but are admitted in the model's order.

    So a call after a search finds revealed what that search found, and a call before it does not.
    """
    made: list[asyncio.Task[Outcome]] = []
    try:
        for each in calls:
            made.append(asyncio.create_task(make_call(session, each, approver, paged=paged)))
            # A task runs up to its first wait, and then a call has been admitted or refused.
            await (asyncio.wait([made[-1]]) if each.is_search else asyncio.sleep(0))
        return list(await asyncio.gather(*made))
    finally:
        for task in made:
            task.cancel()  # nothing, for those that are done


def found_tools(session: Session, outcome: Outcome) -> list[ToolInfo]:
    """The deferred tools that the outcome of a search made callable, best first."""
    match outcome.structured:
        case {"tools": [*names]}:
            revealed = {tool.name: tool for tool in session.revealed_tools()}
            return [revealed[name] for name in names if isinstance(name, str) and name in revealed]
        case _:
            return []


# Leave that a framework has asked a person for.


def approver_for(shown: ApprovalRequest | None) -> Approver | None:
    """Leave for the call that was shown, and for no other; where none was, there is none."""

    async def is_the_same(request: ApprovalRequest) -> bool:
        return request == shown

    return is_the_same if shown else None
