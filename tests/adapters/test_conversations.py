"""What holds on every wire: the real SDK, and the provider faked where its requests arrive."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from tests.adapters.talks import CONSTANT, WIRES, on_every_wire
from tests.adapters.weather import (
    FORECAST,
    NOW,
    RADAR,
    Weather,
    growing_crib,
    grows,
    raw,
    weather_crib,
)
from tests.workshop import ListedSource
from toolcrib import Crib, Settings
from toolcrib.adapters.wire.reply import sdk_json
from toolcrib.model import Outcome, SkillInfo
from toolcrib.settings import CallSettings, EmbedSettings, SessionSettings
from toolcrib.testing import CallTool, Say, SearchTools

OSLO = CallTool(FORECAST, {"city": "Oslo"})
FIND = SearchTools("weather forecast")
PROXY = "call_tool"
NO_EMBEDDER = EmbedSettings(embedder="none")


@pytest.fixture(scope="module")
def shared() -> tuple[Crib, Weather]:
    return weather_crib()


@pytest.fixture
def made(shared: tuple[Crib, Weather]) -> tuple[Crib, Weather]:
    shared[1].reached.clear()
    return shared


@pytest.fixture
def crib(made: tuple[Crib, Weather]) -> Crib:
    return made[0]


def shown(name: str) -> list[str]:
    """What a model sees at first."""
    return [NOW, "tool_search", *([PROXY] if "proxy" in name else [])]


def callable_in(request: Any) -> bool:
    return FORECAST in request.sees or PROXY in request.sees


@on_every_wire
def test_a_search_reveals_and_the_tool_is_called(made: tuple[Crib, Weather], name: str):
    crib, source = made
    with WIRES[name](crib, [FIND, OSLO, Say("Sunny."), Say("Yes.")]) as talk:
        assert talk.ask("How is the weather in Oslo?") == "Sunny."
        assert talk.ask("Sure?") == "Yes."
        first, *_, last = talk.model.requests
    assert list(first.sees) == shown(name)
    assert b"turn_gear" not in first.body
    assert callable_in(last)
    assert b"sunny in Oslo" in last.body
    assert [call.arguments for call in source.reached] == [{"city": "Oslo"}]


@on_every_wire
def test_what_was_sent_keeps_its_bytes_over_ten_turns(crib: Crib, name: str):
    script = [Say("Hi."), FIND, OSLO, Say("Sunny."), Say("Still."), SearchTools("rain radar map")]
    script += [CallTool(RADAR, {"city": "Oslo"}), OSLO, Say("No."), Say("Bye.")]
    with WIRES[name](crib, script) as talk:
        for question in ("Hello", "Weather?", "Sure?", "Rain?", "Thanks"):
            talk.ask(question)
        requests, key = talk.model.requests, talk.key
    assert len(requests) == 10
    for earlier, later in pairwise(requests):
        assert grows(raw(earlier.body, key), raw(later.body, key))
    tools = [raw(each.body, "tools") for each in requests]
    if name in CONSTANT:
        assert set(tools) == {tools[0]}
    elif name != "gemini":  # its list lies in an object
        assert all(grows(*pair) for pair in pairwise(tools))
    before = [talk.listed(each)[: len(shown(name))] for each in requests]
    assert all(each == before[0] for each in before)


@on_every_wire
def test_two_conversations_do_not_see_each_others_reveals(crib: Crib, name: str):
    talks, quiet = WIRES[name], [Say("Hi."), Say("Ho.")]
    with talks(crib, [FIND, Say("Found.")], "a") as one, talks(crib, quiet, "b") as other:
        other.ask("Hello")
        one.ask("Weather?")
        other.ask("And now?")
        assert callable_in(one.model.requests[-1])
        assert list(other.model.requests[-1].sees) == shown(name)
        assert one.session.revealed_tools()
        assert not other.session.revealed_tools()


@on_every_wire
def test_without_an_id_the_conversation_is_all_there_is_to_know(crib: Crib, name: str):
    with WIRES[name](crib, [FIND, Say("Found.")]) as talk:
        talk.ask("Weather?")
    with WIRES[name](crib, [OSLO, Say("Sunny.")], None) as again:
        again.history = talk.history
        assert again.ask("In Oslo?") == "Sunny."


@on_every_wire
def test_after_compaction_only_what_is_still_said_is_revealed(crib: Crib, name: str):
    script = [FIND, OSLO, Say("Sunny."), Say("Hm."), FIND, OSLO, Say("Sunny.")]
    with WIRES[name](crib, script) as talk:
        talk.ask("Weather?")
        talk.history = [talk.user("It was sunny.")]
        talk.wire.compacted(talk.history)
        talk.ask("Go on")
        assert list(talk.model.requests[-1].sees) == shown(name)
        assert talk.ask("Once more") == "Sunny."


@on_every_wire
def test_a_summary_that_nobody_told_of_does_not_lose_the_tools(crib: Crib, name: str):
    with WIRES[name](crib, [FIND, Say("Found."), FIND, OSLO, Say("Sunny.")]) as talk:
        talk.ask("Weather?")
        talk.history = [talk.user("A tool was found.")]
        assert talk.ask("In Oslo?") == "Sunny."


def since_the_call(history: list[Any]) -> list[Any]:
    """What a summary of all that was said before the first call leaves."""
    said = [str(sdk_json(item)) for item in history]
    return history[next(place for place, each in enumerate(said) if "Oslo" in each) :]


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("id", ["one", None])
@on_every_wire
def test_a_drop_and_a_repeated_search_keep_the_front(
    crib: Crib, name: str, told: bool, id: str | None
):
    script = [FIND, OSLO, Say("Sunny."), Say("Hm."), OSLO, Say("Yes."), FIND, OSLO, Say("Sunny.")]
    with WIRES[name](crib, script, id) as talk:
        talk.ask("Weather?")
        talk.history = [talk.user("A tool was found."), *since_the_call(talk.history)]
        if told:
            talk.wire.compacted(talk.history)
        for question in ("Go on", "Still?", "Search again"):
            talk.ask(question)
            assert callable_in(talk.model.requests[-1])
        requests, key = talk.model.requests, talk.key
    front = raw(requests[0].body, "tools").removesuffix("]")
    fronts = [talk.listed(each)[: len(shown(name))] for each in requests]
    assert all(each == fronts[0] for each in fronts)
    for earlier, later in pairwise(requests[3:]):
        assert grows(raw(earlier.body, key), raw(later.body, key))
        if not name.startswith("gemini"):  # its list lies in an object
            assert raw(later.body, "tools").startswith(front)
            assert grows(raw(earlier.body, "tools"), raw(later.body, "tools"))


@on_every_wire
def test_a_tool_whose_call_is_still_there_is_not_forgotten(crib: Crib, name: str):
    with WIRES[name](crib, [FIND, OSLO, Say("Sunny.")]) as talk:
        talk.ask("Weather?")
        talk.wire.compacted([talk.user("A tool was found."), *since_the_call(talk.history)])
        assert [tool.name for tool in talk.session.revealed_tools()] == [FORECAST]


@on_every_wire
def test_parallel_calls_are_answered_each(made: tuple[Crib, Weather], name: str):
    crib, source = made
    calls = [OSLO, CallTool(FORECAST, {"town": "Rome"}), CallTool(FORECAST, {"city": "Bonn"})]
    with WIRES[name](crib, [[FIND, SearchTools("rain radar")], calls, Say("Done.")]) as talk:
        assert talk.ask("Weather?") == "Done."
        body = talk.model.requests[-1].body.decode()
    assert body.index("sunny in Oslo") < body.index("bad_arguments") < body.index("sunny in Bonn")
    assert sorted(str(call.arguments["city"]) for call in source.reached) == ["Bonn", "Oslo"]


@on_every_wire
def test_where_nothing_is_found_the_model_reads_the_way_on(crib: Crib, name: str):
    with WIRES[name](crib, [SearchTools("select:get_forcast"), Say("Hm.")]) as talk:
        talk.ask("Weather?")
        assert f"nearest: {FORECAST}" in talk.model.requests[-1].body.decode()
        assert list(talk.model.requests[-1].sees) == shown(name)


@on_every_wire
def test_what_a_search_did_not_load_is_said_beside_what_it_did(crib: Crib, name: str):
    with WIRES[name](
        crib, [SearchTools(f"select:{FORECAST},nope_tool"), OSLO, Say("Sunny.")]
    ) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert "no 'nope_tool'; nearest: " in talk.model.requests[1].body.decode()


@on_every_wire
def test_hits_over_the_budget_are_named(name: str):
    crib, _ = weather_crib(Settings(store=":memory:", session=SessionSettings(reveal_tokens=1)))
    with WIRES[name](crib, [FIND, OSLO, Say("Sunny.")]) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert f"`select:{RADAR}` loads it" in talk.model.requests[1].body.decode()


@on_every_wire
def test_the_model_reads_that_a_hit_may_not_fit(crib: Crib, name: str):
    far = SearchTools("who on earth would ever rent a bicycle near the city harbour at night")
    with WIRES[name](crib, [far, Say("Hm.")]) as talk:
        talk.ask("A bicycle, please")
        before, after = talk.model.requests
        read = after.body.decode()
        assert "Weak matches; probably none fits." in read
        assert "You can call these now" not in read
        assert after.sees == before.sees
        assert talk.session.revealed_tools() == ()


@on_every_wire
def test_what_a_request_showed_can_be_called_in_reply_to_it(name: str):
    with WIRES[name](growing_crib()[0], [OSLO, Say("Sunny."), OSLO, Say("Still.")]) as talk:
        assert talk.ask("Weather?") == "Sunny."
        first, second, *_ = talk.model.requests
        assert {FORECAST, RADAR} <= set(first.sees)
        assert "tool_search" not in first.sees
        assert "sunny in Oslo" in second.body.decode()
        assert "tool_search" in second.sees
        assert RADAR not in second.sees
        assert callable_in(second)
        assert talk.ask("And now?") == "Still."


@on_every_wire
def test_a_skill_is_found_and_read(name: str):
    crib, _ = weather_crib()
    body = "Numbers start with the year."
    skill = SkillInfo(name="invoices", description="How to number invoices", body=body)
    crib.add_source(ListedSource(skill))
    read = CallTool("tool_search", {"read": "skill_invoices"})
    with WIRES[name](crib, [SearchTools("how to number invoices"), read, Say("2026-7.")]) as talk:
        assert talk.ask("Which number?") == "2026-7."
        _, found, told = talk.model.requests
    assert "`read: skill_invoices`" in found.body.decode()
    assert body in told.body.decode()


@on_every_wire
def test_where_nothing_is_deferred_there_is_no_search(name: str):
    crib = Crib()
    crib.add_source(Weather())
    with WIRES[name](crib, [OSLO, Say("Sunny.")]) as talk:
        assert talk.ask("Weather?") == "Sunny."
        assert set(talk.model.requests[0].sees) == {NOW, FORECAST, RADAR}
        assert talk.wire.system_note() == ""


@on_every_wire
def test_without_tools_none_are_sent(name: str):
    with WIRES[name](Crib(), [Say("Hi.")]) as talk:
        assert talk.ask("Hello") == "Hi."
        assert talk.model.requests[0].json.get("tools", []) == []


@on_every_wire
def test_the_note_tells_how_to_call(crib: Crib, name: str):
    with WIRES[name](crib, []) as talk:
        assert ("call_tool" in talk.wire.system_note()) == ("proxy" in name)
        assert "tool_search" in talk.wire.system_note()


@on_every_wire
def test_the_note_sends_what_waits_by_itself(crib: Crib, name: str):
    with WIRES[name](crib, []) as talk:
        note = talk.wire.system_note()
    waiting = crib.session().deferred_summary()
    assert "get_forecast" in waiting
    assert note.endswith(waiting)


@on_every_wire
def test_the_person_is_asked_where_the_rules_say_so(name: str):
    asked: list[str] = []

    async def ask(request: Any) -> bool:
        asked.append(request.name)
        return False

    def erase(city: str) -> str:
        """Erase a city from the map."""
        return city

    crib, _ = weather_crib()
    crib.add(erase, permission_kind="dangerous")
    script = [SearchTools("erase a city"), CallTool("erase", {"city": "Oslo"}), Say("No.")]
    with WIRES[name](crib, script, approver=ask) as talk:
        assert talk.ask("Erase Oslo") == "No."
        assert b"approval_denied" in talk.model.requests[-1].body
    assert asked == ["erase"]


@pytest.mark.parametrize(
    ("name", "image"),
    [
        ("anthropic", {"type": "base64", "media_type": "image/png", "data": "AAAA"}),
        ("responses", "data:image/png;base64,AAAA"),
    ],
)
def test_images_are_images(name: str, image: Any):
    crib, source = weather_crib()
    picture: Any = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    source.answer = lambda _call: Outcome([{"type": "text", "text": "the map"}, picture])
    with WIRES[name](crib, [FIND, OSLO, Say("I see.")]) as talk:
        talk.ask("Weather?")
        last = talk.model.requests[-1].json[talk.key][-1]
    text, shown = last["output"] if name == "responses" else last["content"][0]["content"]
    assert text["text"] == "the map"
    assert image in (shown.get("image_url"), shown.get("source"))


def test_results_can_be_had_outside_of_a_loop(crib: Crib):
    with WIRES["chat"](crib, []) as talk:
        reply = {"choices": [{"message": {}, "finish_reason": "stop"}]}
        assert asyncio.run(talk.wire.results(reply)) == []


@pytest.mark.parametrize("mode", ["on", "off"])
@pytest.mark.parametrize("id", ["one", None])
@on_every_wire
def test_a_long_result_is_read_on_with_the_search_tool(
    name: str, id: str | None, mode: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("toolcrib.execute.results.new_handle", lambda: "h1")
    settings = Settings(
        store=":memory:", tool_search=mode, call=CallSettings(page_tokens=100), embed=NO_EMBEDDER
    )
    crib, source = weather_crib(settings)
    source.answer = lambda _call: Outcome("".join(f"day {n}: rain\n" for n in range(60)))
    read = CallTool("tool_search", {"read": "result:h1/2"})
    first = [FIND] if mode == "on" else []
    with WIRES[name](crib, [*first, OSLO, read, Say("Rain.")], id) as talk:
        assert talk.ask("Weather?") == "Rain."
        *_, paged, last = talk.model.requests
    assert "Page 1 of" in paged.body.decode()
    assert "day 0: rain" in paged.body.decode()
    assert "tool_search" in paged.sees
    assert "Page 2 of" in last.body.decode()
