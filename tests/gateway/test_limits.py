from typing import Any

from toolcrib.gateway import sdk
from toolcrib.gateway.limits import MOST_STREAMS, OVERLOADED, ConnectionRequestLimiter
from toolcrib.gateway.quotas import Quota, RequestLimiter

ANN = (Quota("ann"),)


def request(id: int | str, method: str, **params: Any) -> sdk.JSONRPCRequest:
    return sdk.JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=params)


def answer(id: int | str) -> sdk.JSONRPCResponse:
    return sdk.JSONRPCResponse(jsonrpc="2.0", id=id, result={})


def of_connection(limiter: RequestLimiter) -> ConnectionRequestLimiter:
    return ConnectionRequestLimiter(limiter, ANN, lambda: True, lambda _method, _params: None)


def test_streams_do_not_count_as_work_and_have_an_end_of_their_own():
    limiter = RequestLimiter(1)
    gate = of_connection(limiter)
    for id in range(MOST_STREAMS):
        assert gate.refusal(request(id, "subscriptions/listen")) is None
    assert limiter.running == 0
    over = gate.refusal(request("more", "subscriptions/listen"))
    assert over
    assert over.data["code"] == "too_many_requests"
    gate.outgoing(answer(0))
    assert gate.refusal(request("more", "subscriptions/listen")) is None


def test_an_id_is_free_again_when_it_was_answered():
    limiter = RequestLimiter(2)
    gate = of_connection(limiter)
    for method in ("tools/list", "subscriptions/listen"):
        assert gate.refusal(request(1, method)) is None
        again = gate.refusal(request(1, "tools/list"))
        assert again
        assert again.code == sdk.INVALID_REQUEST
        gate.outgoing(answer(1))
    assert limiter.running == 0


def test_beyond_a_rate_a_connection_is_told_when_to_come_again():
    limiter = RequestLimiter()
    quotas = (Quota("key:ann", rate=2),)
    gate = ConnectionRequestLimiter(limiter, quotas, lambda: True, lambda _method, _params: None)
    assert gate.refusal(request(1, "tools/list")) is None
    assert gate.refusal(request(2, "subscriptions/listen")) is None
    for method in ("tools/list", "subscriptions/listen"):
        over = gate.refusal(request(3, method))
        assert over
        assert over.code == OVERLOADED
        assert over.data["code"] == "too_many_requests"
        assert over.data["retry_after_s"] > 20
        assert "2 requests a minute" in over.message
    assert limiter.running == 1
