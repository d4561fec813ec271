"""Leave that a framework has asked a person for."""

from toolcrib.execute import ApprovalRequest, Approver


def leave_for(shown: ApprovalRequest | None) -> Approver | None:
    """Leave for the call that was shown, and for no other; where none was, there is none."""

    async def is_the_same(request: ApprovalRequest) -> bool:
        return request == shown

    return is_the_same if shown else None
