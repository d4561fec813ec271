"""Approval by elicitation: asks the person at the client before a call that needs approval.

By default only a client of the operator's own user is asked: the holder of a key could answer for
themselves. Where the client is not asked, or nobody answers, the call gets a ticket, and the
operator decides about that (`toolcrib approvals allow`). So does a call that is too long to be
shown whole: nobody approves what they were not shown.
"""

import json

from toolcrib.execute import ApprovalRequest, Approver
from toolcrib.gateway.call_channel import CallChannel, can_reply
from toolcrib.gateway.principal import Principal
from toolcrib.model import InputRequest, JsonObject
from toolcrib.settings import ApprovalSettings
from toolcrib.text import show_hidden

LONGEST_SHOWN = 2_000
KEY = "toolcrib/approval"
_FORM: JsonObject = {"type": "object", "properties": {}}
_BARE = InputRequest("elicitation/create", {"message": "", "requestedSchema": _FORM})


def client_approver(
    settings: ApprovalSettings, principal: Principal, channel: CallChannel
) -> Approver | None:
    """Who asks at this client; None where it cannot or may not be asked."""
    may_ask = settings.elicitation == "all" or (
        settings.elicitation == "local" and principal.is_local
    )
    return ClientApprover(channel) if may_ask and can_reply(channel.context, _BARE) else None


class ClientApprover:
    """Asks the person at the client of a request."""

    def __init__(self, channel: CallChannel) -> None:
        self._channel = channel

    async def __call__(self, request: ApprovalRequest, /) -> bool | None:
        """Whether they accept. None where they dismiss the question, or nobody answers it.

        None also where the arguments are too long to be shown whole: then nobody is asked here.
        """
        message = question(request)
        if message is None:
            return None
        params: JsonObject = {"message": message, "requestedSchema": _FORM}
        replies = await self._channel.ask({KEY: InputRequest("elicitation/create", params)})
        match replies.get(KEY):
            case {"action": "accept"}:
                return True
            case {"action": "decline"}:
                return False
            case _:
                return None


def question(request: ApprovalRequest) -> str | None:
    """What is asked, with what is hidden in the arguments spelt out; None if that is too long."""
    arguments = show_hidden(json.dumps(request.arguments, ensure_ascii=False, indent=2))
    if len(arguments) > LONGEST_SHOWN:
        return None
    call = f"{request.name} [{request.permission_kind}]"
    return f"Toolcrib: may {call} be called with this?\n{arguments}"
