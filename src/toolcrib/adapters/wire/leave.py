"""Calls in two steps, for frameworks that ask a person between them."""

from toolcrib.execute.approval import Approver
from toolcrib.execute.tickets import ApprovalRequest
from toolcrib.model import JsonObject, Outcome
from toolcrib.session.session import Session


async def call_or_ask(
    session: Session, name: str, arguments: JsonObject | str
) -> Outcome | ApprovalRequest:
    """The outcome of a call, or what a person is to be asked first: then nothing was sent.

    Whatever is refused for another reason, a tool that is not revealed say, is not asked about.
    """
    asked: list[ApprovalRequest] = []

    async def note(request: ApprovalRequest) -> bool:
        asked.append(request)
        return False

    outcome = await session.call(name, arguments, approver=note)
    return asked[0] if asked else outcome


def leave_for(shown: ApprovalRequest) -> Approver:
    """Leave for the call that was shown, and for no other."""

    async def is_the_same(request: ApprovalRequest) -> bool:
        return request == shown

    return is_the_same
