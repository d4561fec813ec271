"""Asks the person at a client, by elicitation, before a call that needs leave.

It is the first way to answer. Where nobody can be asked so, or nobody answers, the call gets a
ticket, and the operator decides about that (`toolcrib approvals allow`).
"""

import json

from toolcrib.execute import ApprovalRequest, Approver
from toolcrib.gateway.call_channel import CallChannel, can_reply
from toolcrib.gateway.principal import Principal
from toolcrib.model import InputRequest, JsonObject
from toolcrib.settings import ApprovalSettings
from toolcrib.text import show_hidden

LONGEST_ARGUMENTS = 2_000
KEY = "toolcrib/approval"
_FORM: JsonObject = {"type": "object", "properties": {}}
_BARE = InputRequest("elicitation/create", {"message": "", "requestedSchema": _FORM})


def client_approver(
    settings: ApprovalSettings, principal: Principal, heard: CallChannel
) -> Approver | None:
    """Who asks at this client; None where it cannot be asked, or is not to be."""
    wanted = settings.elicitation == "all" or (
        settings.elicitation == "local" and principal.is_local
    )
    return ClientApprover(heard) if wanted and can_reply(heard.context, _BARE) else None


class ClientApprover:
    """Leave by the person who sits at the client of a request."""

    def __init__(self, heard: CallChannel) -> None:
        self._heard = heard

    async def __call__(self, request: ApprovalRequest, /) -> bool | None:
        """Whether they accept. None where they dismiss the question, or nobody answers it."""
        params: JsonObject = {"message": question(request), "requestedSchema": _FORM}
        replies = await self._heard.ask({KEY: InputRequest("elicitation/create", params)})
        match replies.get(KEY):
            case {"action": "accept"}:
                return True
            case {"action": "decline"}:
                return False
            case _:
                return None


def question(request: ApprovalRequest) -> str:
    """What is asked, with what is hidden in the arguments spelt out."""
    given = show_hidden(json.dumps(request.arguments, ensure_ascii=False, indent=2))
    more = len(given) - LONGEST_ARGUMENTS
    cut = f"{given[:LONGEST_ARGUMENTS]}\n… and {more} characters more" if more > 0 else given
    return f"Toolcrib: may {request.name} [{request.permission_kind}] be called with this?\n{cut}"
