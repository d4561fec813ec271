from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCResponse

from toolcrib.sources.mcp.transport.tap import Tap


def notice(method, **params):
    return SessionMessage(JSONRPCNotification(jsonrpc="2.0", method=method, params=params))


def reply(**result):
    return SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result=result))


def test_changes_are_heard_here_and_go_no_further():
    heard = []
    tap = Tap(lambda: heard.append(1))
    assert not tap._passes(notice("notifications/tools/list_changed"))
    assert heard == [1]
    assert not tap._passes(notice("notifications/message", level="info", data="x"))
    assert tap._passes(notice("notifications/other"))


def test_progress_passes_now_and_then():
    tap = Tap(lambda: None)
    passed = [
        tap._passes(notice("notifications/progress", progressToken=token, progress=step))
        for step in range(500)
        for token in (1, "b")
    ]
    assert passed[:6] == [True] * 6
    assert sum(passed) < 30
    assert not tap._passes(notice("notifications/progress", progressToken=[], progress=1))


def test_the_raw_tools_are_kept_and_the_sdk_gets_a_harmless_list():
    tap = Tap(lambda: None)
    raw = [{"name": "a", "inputSchema": {"properties": 3}, "x": 1}, {"x": 1}, 7]
    message = reply(tools=list(raw), nextCursor=5)
    assert tap._passes(message)
    assert tap.take_page("tools") == (
        {"name": "a", "inputSchema": {"properties": 3}, "x": 1},
        {"x": 1},
    )
    assert tap.take_page("tools") == ()
    assert isinstance(message.message, JSONRPCResponse)
    assert message.message.result == {
        "tools": [{"name": "a", "inputSchema": {"type": "object"}}],
    }


def test_in_the_modern_era_the_schema_stays_for_the_headers_it_names():
    tap = Tap(lambda: None)
    schema = {"type": "object", "properties": {"a": {"x-mcp-header": "A"}}}
    message = reply(resultType="complete", tools=[{"name": "a", "inputSchema": schema}])
    tap._passes(message)
    assert isinstance(message.message, JSONRPCResponse)
    assert message.message.result["tools"] == [{"name": "a", "inputSchema": schema}]
