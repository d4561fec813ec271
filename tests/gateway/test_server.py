"""What a principal gets over the protocol, asked by the SDK's own client in both eras."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from tests.execute.counting import offered
from tests.gateway.clients import (
    ERAS,
    NUMBERED,
    Era,
    Workshop,
    asked,
    connected,
    error_of,
    shop_tools,
    words,
)
from tests.workshop import ListedSource
from toolcrib.access import Scope
from toolcrib.crib import inventory_of
from toolcrib.errors import StoreError
from toolcrib.execute import ArgumentCheck
from toolcrib.gateway.fixed_tool_definitions import FIXED_TOOLS
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.model import Call, CallError, Outcome, SkillInfo
from toolcrib.session.search_result import LIKELY, SURE, UNSURE
from toolcrib.store import HandleFile

ORDER = "mcp_shop_look_up_order"
CANCEL = "mcp_shop_cancel_order"
READING = [True, True, True, False, True]


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> Era:
    return request.param


def test_the_fixed_tools_are_listed_in_order_and_marked(era: Era):
    async def run() -> None:
        async with connected(Workshop().server(), era) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == list(FIXED_TOOLS)
            assert all((tool.meta or {})["anthropic/alwaysLoad"] is True for tool in listed.tools)
            hints = {tool.name: tool.annotations for tool in listed.tools}
            assert [(each and each.read_only_hint) for each in hints.values()] == READING
            assert hints["tool_call"]
            assert hints["tool_call"].destructive_hint is True
            assert era == "legacy" or (listed.ttl_ms, listed.cache_scope) == (60_000, "private")

    asked(run)


def test_search_then_describe_then_call(era: Era):
    shop = Workshop()

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            found = words(await client.call_tool("tool_search", {"queries": ["look up order"]}))
            assert f"- {ORDER}(number: integer) [read]" in found
            assert f'{ORDER}: {{"type":"object"' in found
            told = words(await client.call_tool("tool_describe", {"names": [ORDER]}))
            assert told.startswith(f"# {ORDER} [tool, read, shop, ready]")
            given = {"name": ORDER, "arguments": {"number": 7}}
            assert words(await client.call_tool("tool_call_read", given)) == "done"

    asked(run)
    assert shop.source.reached == [
        Call("look_up_order", {"number": 7}, pin=shop.source.reached[0].pin)
    ]


def test_a_search_says_how_sure_it_is(era: Era):
    far = "who on earth would ever rent a bicycle in order to reach the harbour at night"

    async def run() -> None:
        async with connected(Workshop().server(), era) as client:
            sure = words(await client.call_tool("tool_search", {"queries": ["look for orders"]}))
            unsure = words(await client.call_tool("tool_search", {"queries": [far]}))
            assert sure.splitlines()[0] in {SURE, LIKELY}
            assert unsure.splitlines()[0] == UNSURE == "Weak matches; probably none fits."
            assert "call these now" not in unsure
            assert "set: " not in unsure  # nothing is revealed, so there is no set
            assert "Parameters in full" not in unsure

    asked(run)


def test_several_queries_are_one_search_and_too_many_are_said(era: Era):
    async def run() -> None:
        async with connected(Workshop().server(), era) as client:
            queries = ["look up order", "cancel order", *(f"turn gear {n}" for n in range(4))]
            found = words(await client.call_tool("tool_search", {"queries": queries}))
            assert ORDER in found
            assert CANCEL in found
            assert "Only the first 5 queries" in found
            assert "turn_gear_3" not in found

    asked(run)


def test_only_what_reads_passes_where_only_what_reads_may(era: Era):
    shop = Workshop(allow=("dangerous",))

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            given = {"name": CANCEL, "arguments": {}}
            refused = await client.call_tool("tool_call_read", given)
            assert error_of(refused)["code"] == "not_read"
            assert not shop.source.reached
            assert words(await client.call_tool("tool_call", given)) == "done"

    asked(run)
    assert len(shop.source.reached) == 1


def test_a_call_that_needs_leave_names_the_ticket_and_what_the_person_does(era: Era):
    shop = Workshop()

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            given = {"name": CANCEL, "arguments": {}}
            refused = await client.call_tool("tool_call", given)
            error = error_of(refused)
            assert (error["code"], error["effect"]) == ("approval_needed", "not_sent")
            assert error["ticket"] in words(refused)
            assert "`toolcrib approvals list`" in words(refused)
            assert not shop.source.reached
            assert shop.crib.operator.tickets.approve(error["ticket"])
            assert words(await client.call_tool("tool_call", given)) == "done"

    asked(run)


def test_arguments_that_do_not_fit_come_back_with_the_schema(era: Era):
    async def run() -> None:
        async with connected(Workshop().server(), era) as client:
            given = {"name": ORDER, "arguments": {"number": "many"}}
            refused = await client.call_tool("tool_call_read", given)
            assert error_of(refused)["schema"] == NUMBERED
            assert '"required":["number"]' in words(refused)
            empty = await client.call_tool("tool_describe", {})
            assert error_of(empty)["code"] == "bad_arguments"

    asked(run)


TOO_MUCH = [
    ("tool_search", {"kinds": ["zz"] * 20_000}),
    ("tool_search", {"queries": ["a"] * 20_000}),
    ("tool_search", {"query": "a " * 100_000}),
    ("tool_search", {"queries": ["select:" + ",".join(map(str, range(20_000)))]}),
    ("tool_search", {"limit": [[1]] * 20_000, "set": 1}),
    ("tool_describe", {"names": ["a"] * 20_000}),
    ("tool_describe", {"name": "a" * 100_000}),
    ("tool_result", {"handle": "a" * 100_000, "page": 1}),
    ("tool_call_read", {"name": ORDER, "arguments": {"number": [1] * 60_000}}),
    ("tool_call", {"name": ORDER, "arguments": {"number": [1] * 60_000}}),
    ("tool_call", {"name": ORDER, "arguments": f"[{'1,' * 60_000}1]"}),
    (ORDER, {"number": [1] * 60_000}),
]


@pytest.mark.parametrize(("name", "arguments"), TOO_MUCH, ids=range(len(TOO_MUCH)))
def test_more_than_anybody_needs_is_refused_before_it_is_checked(
    era: Era, name: str, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    checked: list[object] = []
    monkeypatch.setattr(ArgumentCheck, "check", lambda _self, *given: checked.append(given))

    async def run() -> None:
        async with connected(Workshop().server(), era) as client:
            refused = await client.call_tool(name, arguments)
            assert error_of(refused)["code"] == "bad_arguments"
            assert "; send " in error_of(refused)["message"]

    asked(run)
    assert not checked


def test_what_a_tool_returns_is_relayed_as_it_came(era: Era):
    shop = Workshop()
    blocks: list[Any] = [
        {"type": "text", "text": "two"},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a://b", "text": "c"}},
        {"type": "resource_link", "name": "d", "uri": "a://d"},
    ]
    shop.source.answer = lambda _call: Outcome(blocks, {"a": [1]}, meta={"x/y": 1}, blocks=True)

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            given = {"name": ORDER, "arguments": {"number": 1}}
            got = await client.call_tool("tool_call_read", given)
            kinds = [block.type for block in got.content]
            assert kinds == ["text", "image", "audio", "resource", "resource_link"]
            assert got.structured_content == {"a": [1]}
            assert (got.meta or {})["x/y"] == 1
            assert got.is_error is False

    asked(run)


def test_an_error_of_the_tool_is_relayed_as_one(era: Era):
    shop = Workshop()
    failed = CallError("tool_failed", "call", "no", effect="failed")
    shop.source.answer = lambda _call: Outcome(
        [{"type": "text", "text": "sorry"}], error=failed, blocks=True
    )

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            given = {"name": ORDER, "arguments": {"number": 1}}
            got = await client.call_tool("tool_call_read", given)
            assert (got.is_error, words(got)) == (True, "sorry")

    asked(run)


LONG = "".join(f"line {n}\n" for n in range(1, 10_001))


def test_a_long_result_is_read_and_searched_page_by_page_as_text_and_once(era: Era):
    shop = Workshop()
    blocks: Any = [{"type": "text", "text": LONG}]
    shop.source.answer = lambda _call: Outcome(blocks, {"content": LONG}, blocks=True)

    async def run() -> None:
        server, others = shop.server(), shop.server(Principal("bob"))
        async with connected(server, era) as client, connected(others, era) as bob:
            given = {"name": ORDER, "arguments": {"number": 1}}
            got = await client.call_tool("tool_call_read", given)
            assert words(got).startswith("[98.9 KB of text, 10,000 lines; lines 1 to 2,")
            assert got.structured_content is None
            assert len(got.model_dump_json()) < 2 * 24_000
            handle, pages = (got.meta or {})["toolcrib/handle"], (got.meta or {})["toolcrib/pages"]
            assert f'Read on: `tool_result` with handle "{handle}", page 2.' in words(got)
            text = text_of(got)
            for page in range(2, pages + 1):
                rest = await client.call_tool("tool_result", {"handle": handle, "page": page})
                text += text_of(rest)
            assert text == LONG
            found = await client.call_tool("tool_result", {"handle": handle, "find": "/^line 77$/"})
            assert "1 match of '/^line 77$/' in 98.9 KB" in words(found)
            assert "76-line 76\n77:line 77\n78-line 78" in text_of(found)
            theirs = await bob.call_tool("tool_result", {"handle": handle})
            assert error_of(theirs)["code"] == "unknown_handle"

    asked(run)


def text_of(got: Any) -> str:
    """The second block, which is the page; the first says how large the result is."""
    return got.content[1].text


def test_a_tool_that_is_listed_with_an_output_schema_keeps_its_promise(era: Era):
    schema: Any = {"type": "object", "properties": {"content": {"type": "string"}}}
    shop = Workshop(*(replace(tool, output_schema=schema) for tool in shop_tools(3)))
    answer: Any = [{"type": "text", "text": LONG}]
    shop.source.answer = lambda _call: Outcome(answer, {"content": LONG}, blocks=True)

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            assert (await client.list_tools()).tools[0].output_schema
            got = await client.call_tool(ORDER, {"number": 1})
            assert got.structured_content == {"content": LONG}
            assert text_of(got) == LONG[: len(text_of(got))] != LONG
            read_on = {"handle": (got.meta or {})["toolcrib/handle"], "page": 2}
            assert text_of(await client.call_tool("tool_result", read_on)) in LONG

    asked(run)


def test_progress_comes_in_order_and_before_the_result(era: Era):
    shop = Workshop()
    shop.source.watch = lambda running: [running.progress(n, 3, f"step {n}") for n in (1, 2, 3)]  # type: ignore[func-returns-value]
    heard: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            given = {"name": ORDER, "arguments": {"number": 1}}
            await client.call_tool("tool_call_read", given, progress_callback=note)

    asked(run)
    assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


def test_a_call_that_is_given_up_is_given_up_behind_too(era: Era):
    shop = Workshop()
    started, ended = asyncio.Event(), asyncio.Event()

    async def forever(call: Call, _running: object) -> Outcome:
        started.set()
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()
        return Outcome(call.name)

    shop.source.call = forever  # type: ignore[method-assign]

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            given = {"name": ORDER, "arguments": {"number": 1}}
            waiting = asyncio.ensure_future(client.call_tool("tool_call_read", given))
            await started.wait()
            other = await client.call_tool("tool_describe", {"names": [ORDER]})
            assert ORDER in words(other)  # the others are served meanwhile
            waiting.cancel()
            await ended.wait()

    asked(run)


def test_names_beyond_the_scope_are_unknown_however_they_are_asked_for(era: Era):
    shop = Workshop()
    scope = Scope(allowed=frozenset({"mcp_shop_turn_*"}))
    principal = Principal("ann", Profile("few", scope))

    async def run() -> None:
        async with connected(shop.server(principal), era) as client:
            for tool, given in [
                ("tool_search", {"queries": [f"select:{ORDER}"]}),
                ("tool_search", {"queries": ["look up order"], "limit": 8}),
                ("tool_search", {"queries": ["/order/"]}),
                ("tool_search", {"queries": ["+order look"]}),
                ("tool_search", {}),
                ("tool_describe", {"names": [ORDER, "look_up_order", "no_such"]}),
                ("tool_call", {"name": "look_up_order", "arguments": {}}),
                ("tool_call_read", {"name": "look_up_orde", "arguments": {}}),
            ]:
                told = words(await client.call_tool(tool, given))
                asked_for = str(given)
                leaked = [w for w in (ORDER, CANCEL) if w in told and w not in asked_for]
                assert not leaked, (tool, given, told)
            refused = [
                error_of(await client.call_tool("tool_call", {"name": name, "arguments": {}}))
                for name in (ORDER, "mcp_shop_no_such_tool")
            ]
            assert {each["code"] for each in refused} == {"unknown_tool"}
            listed = await client.list_tools()
            assert ORDER not in str(listed)

    asked(run)
    assert not shop.source.reached


def test_two_principals_share_neither_sets_nor_tickets(era: Era):
    shop = Workshop()

    async def run() -> None:
        async with (
            connected(shop.server(), era) as ann,
            connected(shop.server(Principal("bob")), era) as bob,
        ):
            found = await ann.call_tool("tool_search", {"queries": ["look up order"]})
            handle = (found.meta or {})["toolcrib/set"]
            given = {"name": ORDER, "arguments": {"number": 1}, "set": handle}
            assert words(await ann.call_tool("tool_call_read", given)) == "done"
            assert error_of(await bob.call_tool("tool_call_read", given))["code"] == "unknown_set"
            ticket = error_of(await ann.call_tool("tool_call", {"name": CANCEL}))["ticket"]
            assert shop.crib.operator.tickets.approve(ticket)
            assert error_of(await bob.call_tool("tool_call", {"name": CANCEL}))["ticket"] != ticket

    asked(run)


def test_a_set_that_cannot_be_read_now_is_not_called_unknown(
    era: Era, monkeypatch: pytest.MonkeyPatch
):
    """As after a client has come over from another replica, and the database is away."""
    shop = Workshop()

    def fail(_store: HandleFile, *_: object) -> None:
        raise StoreError("the database does not answer")

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            found = await client.call_tool("tool_search", {"queries": ["look up order"]})
            handle = (found.meta or {})["toolcrib/set"]
        given = {"name": ORDER, "arguments": {"number": 1}, "set": handle}
        async with connected(shop.server(), era) as client:
            with monkeypatch.context() as away:
                away.setattr(HandleFile, "set_pins", fail)
                refused = error_of(await client.call_tool("tool_call_read", given))
                assert refused["code"] == "store_away"
                assert "does not answer" in refused["message"]
                asks = {"queries": [f"select:{ORDER}"], "set": handle}
                assert ORDER in words(await client.call_tool("tool_search", asks))
            assert words(await client.call_tool("tool_call_read", given)) == "done"

    asked(run)


def test_a_set_keeps_to_what_was_shown(era: Era):
    shop = Workshop(allow=("write",))

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            found = await client.call_tool("tool_search", {"queries": [f"select:{ORDER}"]})
            handle = (found.meta or {})["toolcrib/set"]
            gear = {"name": "mcp_shop_turn_gear_1", "arguments": {"number": 1}, "set": handle}
            refused = await client.call_tool("tool_call", gear)
            assert error_of(refused)["code"] == "not_revealed"
            more = {"queries": ["select:mcp_shop_turn_gear_1"], "set": handle}
            again = await client.call_tool("tool_search", more)
            assert (again.meta or {})["toolcrib/set"] == handle
            assert words(await client.call_tool("tool_call", gear)) == "done"
            inside = words(await client.call_tool("tool_search", {"set": handle}))
            assert ORDER in inside
            assert "turn_gear_1(" in inside
            assert "turn_gear_2" not in inside
            shop.source.tools["turn_gear_1"] = offered("turn_gear_1", "write", {"type": "object"})
            inventory_of(shop.crib).pool.refresh(shop.source)
            changed = await client.call_tool("tool_call", gear)
            assert error_of(changed)["code"] == "definition_changed"
            lost = await client.call_tool("tool_search", {"queries": ["order"], "set": "none"})
            assert "not known any more" in words(lost)

    asked(run)


def test_slips_of_weak_models_are_put_right(era: Era):
    shop = Workshop()

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            for given in [
                {"name": ORDER, "arguments": '{"number": 5}'},
                {"name": ORDER, "number": 5},
                {"tool_name": ORDER, "parameters": {"number": 5}},
                {
                    "name": "tool_call_read",
                    "arguments": {"name": ORDER, "arguments": {"number": 5}},
                },
                {"arguments": {"tool_name": ORDER, "number": "5"}},
                {"name": "look_up_order", "arguments": {"number": 5}},
            ]:
                assert words(await client.call_tool("tool_call_read", given)) == "done", given
            one = await client.call_tool("tool_search", {"query": "look up order"})
            assert ORDER in words(one)
            assert ORDER in words(await client.call_tool("tool_describe", {"name": ORDER}))

    asked(run)
    assert [call.arguments for call in shop.source.reached] == [{"number": 5}] * 6


def test_pins_are_listed_with_their_schema_after_the_fixed_tools(era: Era):
    shop = Workshop()
    principal = Principal("ann", Profile(pins=frozenset({"mcp_shop_look*"}), mode="search"))

    async def run() -> None:
        async with connected(shop.server(principal), era) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == [*FIXED_TOOLS, ORDER]
            assert listed[-1].input_schema == NUMBERED
            assert words(await client.call_tool(ORDER, {"number": 2})) == "done"

    asked(run)


def test_the_instructions_teach_the_flow_and_name_the_namespaces():
    async def run() -> None:
        for mode in ("legacy", "auto"):
            async with connected(Workshop().server(), mode) as client:  # type: ignore[arg-type]
                assert client.instructions
                assert "`tool_search`" in client.instructions
                assert "shop (20)" in client.instructions

    asked(run)


def test_below_the_threshold_all_tools_are_listed_and_called_by_name(era: Era):
    shop = Workshop(*shop_tools(6))

    async def run() -> None:
        async with connected(shop.server(), era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == [*sorted(name for name in shop.crib.entries()), "tool_result"]
            assert words(await client.call_tool(ORDER, {"number": 2})) == "done"
            assert words(await client.call_tool("look_up_order", {"number": 2})) == "done"
            refused = await client.call_tool(CANCEL, {})
            assert error_of(refused)["code"] == "approval_needed"
            unknown = await client.call_tool("look_up_ordr", {})
            assert ORDER in error_of(unknown)["message"]

    asked(run)


def test_what_fails_on_our_side_is_said_and_the_rest_is_served(era: Era):
    shop = Workshop()
    server = shop.server()

    def broken(*_given: object) -> Any:
        raise StoreError("the catalog file cannot be read; change its permissions")

    server._view.search = broken  # type: ignore[method-assign]

    async def run() -> None:
        async with connected(server, era) as client:
            failed = await client.call_tool("tool_search", {"queries": ["order"]})
            assert error_of(failed)["code"] == "crib_failed"
            assert "change its permissions" in words(failed)
            given = {"name": ORDER, "arguments": {"number": 1}}
            assert words(await client.call_tool("tool_call_read", given)) == "done"

    asked(run)


def test_a_skill_that_is_long_is_cut_and_says_so():
    shop = Workshop()
    skill = SkillInfo(name="long", description="Long", body="x" * 20_000, path="a/b")
    shop.crib.add_source(ListedSource(skill))

    async def run() -> None:
        async with connected(shop.server()) as client:
            told = words(await client.call_tool("tool_describe", {"names": ["long"] * 12}))
            assert told.count("(4000 characters more)") == 10
            assert "2 names more than the 10 that fit" in told

    asked(run)


def test_hints_name_only_what_may_be_seen():
    linked = replace(offered("look_up_order", "read"), often_with=("turn_gear_1", "cancel_order"))
    shop = Workshop(linked, offered("turn_gear_1"), offered("cancel_order"))
    scope = Scope(excluded=frozenset({CANCEL}))

    async def run() -> None:
        for principal, seen in [
            (Principal("ann"), True),
            (Principal("bob", Profile(scope=scope)), False),
        ]:
            async with connected(shop.server(principal)) as client:
                told = words(await client.call_tool("tool_describe", {"names": [ORDER]}))
                assert "mcp_shop_turn_gear_1" in told
                assert (CANCEL in told) is seen

    asked(run)
