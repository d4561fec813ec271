from typing import Any

from toolcrib.gateway import sdk
from toolcrib.gateway.connected_client import ConnectedClient
from toolcrib.gateway.limits import MOST_STREAMS, ConnectionRequestLimiter, RequestLimiter


def request(id: int | str, method: str, **params: Any) -> sdk.JSONRPCRequest:
    return sdk.JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=params)


def answer(id: int | str) -> sdk.JSONRPCResponse:
    return sdk.JSONRPCResponse(jsonrpc="2.0", id=id, result={})


def turnstile(admission: RequestLimiter) -> ConnectionRequestLimiter:
    return ConnectionRequestLimiter(
        admission, "ann", ConnectedClient("ann", "default", 1), lambda: True
    )


def test_streams_do_not_count_as_work_and_have_an_end_of_their_own():
    admission = RequestLimiter(1, 1)
    gate = turnstile(admission)
    for id in range(MOST_STREAMS):
        assert gate.came(request(id, "subscriptions/listen")) is None
    assert admission.running == 0
    over = gate.came(request("more", "subscriptions/listen"))
    assert over
    assert over.data["code"] == "overloaded"
    gate.went(answer(0))
    assert gate.came(request("more", "subscriptions/listen")) is None


def test_an_id_is_free_again_when_it_was_answered():
    admission = RequestLimiter(2, 2)
    gate = turnstile(admission)
    for method in ("tools/list", "subscriptions/listen"):
        assert gate.came(request(1, method)) is None
        again = gate.came(request(1, "tools/list"))
        assert again
        assert again.code == sdk.INVALID_REQUEST
        gate.went(answer(1))
    assert admission.running == 0
