"""What use teaches, seen through a crib."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcrib import Caller, Crib, Scope, Settings, tool
from toolcrib.crib import use_history_of
from toolcrib.execute import per_request_tools
from toolcrib.settings import SearchSettings

QUERY = "tell my boss the news"


@tool(permission_kind="read")
def send_mail(text: str = "") -> str:
    """Tell somebody some news by electronic mail."""
    return text


@tool(permission_kind="read")
def send_telegram(text: str = "") -> str:
    """Tell somebody some news by telegram, from the post office downtown, on paper."""
    return text


@tool(permission_kind="read", often_with=["send_mail"])
def write_letter(text: str = "") -> str:
    """Write a letter on paper."""
    return text


@tool(permission_kind="read")
def fail() -> None:
    """Fail every time."""
    raise ValueError("as ever")


def crib_of(*functions: Callable[..., object], **search: object) -> Crib:
    crib = Crib(Settings(store=":memory:", search=SearchSettings.model_validate(search)))
    for function in functions:
        crib.add(function)
    return crib


def call(crib: Crib, *names: str, caller: str = "c") -> None:
    for name in names:
        asyncio.run(crib.call(name, caller=Caller(caller)))


def lead(crib: Crib, query: str, name: str, *callers: str) -> None:
    for caller in callers:
        crib.search(query, caller=Caller(caller))
        call(crib, name, caller=caller)


def names(crib: Crib, query: str, **options: object) -> list[str]:
    return [hit.name for hit in crib.search(query, **options)]  # type: ignore[arg-type]


def test_a_hit_says_what_it_is_often_used_with():
    crib = crib_of(send_mail, send_telegram, write_letter)
    call(crib, *["send_telegram", "send_mail"] * 4)
    (hit,) = crib.search("select:send_mail")
    assert hit.often_with == ("send_telegram", "write_letter")
    assert crib.operator.hints("send_mail").links == ("write_letter",)


def test_a_hint_names_nothing_that_the_caller_may_not_see():
    crib = crib_of(send_mail, send_telegram, write_letter)
    call(crib, *["send_telegram", "send_mail"] * 4)
    scope = Scope(allowed=frozenset({"send_mail", "write_*"}))
    (hit,) = crib.search("select:send_mail", scope=scope)
    assert hit.often_with == ("write_letter",)


def test_there_are_three_at_most():
    crib = crib_of(send_mail)
    for number in range(5):
        crib.add(lambda: None, name=f"t{number}", often_with=["send_mail"])
    (hit,) = crib.search("select:send_mail")
    assert hit.often_with == ("t0", "t1", "t2")


def test_a_call_that_failed_or_was_refused_does_not_count():
    crib = crib_of(send_mail, fail)
    call(crib, *["send_mail", "fail", "nowhere"] * 3)
    assert use_history_of(crib).record().pairs == {}


def test_a_tool_of_the_request_does_not_count():
    def send_letter() -> int:
        return 1

    crib = crib_of(send_mail, send_telegram)
    with per_request_tools(tool(permission_kind="read")(send_letter)):
        call(crib, *["send_letter", "send_mail"] * 3)
    assert use_history_of(crib).record().pairs == {}


def test_a_bare_name_counts_for_the_tool_it_means():
    crib = crib_of(send_mail, write_letter)
    call(crib, "send_mail", "write_letter")
    assert list(use_history_of(crib).record().pairs) == [("send_mail", "write_letter")]


def test_nothing_is_learned_unless_it_is_set():
    crib = crib_of(send_mail, send_telegram)
    lead(crib, QUERY, "send_telegram", *"abcd")
    assert use_history_of(crib).record().lessons == {}
    assert crib.explain(QUERY, "send_telegram").learned == 0


def test_what_a_query_led_to_is_raised_for_queries_like_it():
    crib = crib_of(send_mail, send_telegram, learn=True)
    assert names(crib, QUERY) == ["send_mail", "send_telegram"]
    lead(crib, QUERY, "send_telegram", *"abcd")
    assert names(crib, "news for the boss: tell him") == ["send_telegram", "send_mail"]
    told = crib.explain(QUERY, "send_telegram")
    assert told.learned == pytest.approx(0.1)
    assert told.rank == 1
    assert crib.explain(QUERY, "send_mail").learned == 0


def test_what_was_learned_is_forgotten_at_once():
    crib = crib_of(send_mail, send_telegram, learn=True)
    lead(crib, QUERY, "send_telegram", *"abcd")
    crib.operator.forget_use()
    assert names(crib, QUERY) == ["send_mail", "send_telegram"]


def test_a_lesson_never_passes_a_name():
    crib = crib_of(send_mail, send_telegram, learn=True, learn_boost=0.25)
    lead(crib, QUERY, "send_telegram", *"abcdefgh")
    lead(crib, "send mail", "send_telegram", *"abcdefgh")
    for query in ("send_mail", "send mail", "tell my boss the news with `send_mail`"):
        assert names(crib, query)[0] == "send_mail"
        assert crib.explain(query, "send_telegram").learned == 0


def test_a_lesson_brings_in_nothing_that_no_arm_has_found():
    crib = crib_of(send_mail, send_telegram, write_letter, learn=True)
    lead(crib, "write boss", "write_letter", *"abcd")
    assert crib._stages.advice.learned("boss", Scope()) == {"write_letter": pytest.approx(0.1)}
    assert names(crib, "boss") == []


def test_what_one_profile_teaches_no_other_hears():
    crib = crib_of(send_mail, send_telegram, learn=True)
    few = Scope(allowed=frozenset({"send_*"}))
    for id in "abcd":
        caller = Caller(id, few)
        crib.search(QUERY, caller=caller)
        asyncio.run(crib.call("send_telegram", caller=caller))
    assert names(crib, QUERY) == ["send_mail", "send_telegram"]
    assert names(crib, QUERY, scope=few) == ["send_telegram", "send_mail"]


def test_a_search_sees_what_its_caller_may_see():
    crib = crib_of(send_mail, send_telegram)
    caller = Caller("x", Scope(excluded=frozenset({"send_mail"})))
    assert names(crib, QUERY, caller=caller) == ["send_telegram"]


def test_use_lasts_in_the_catalog_file_and_a_lone_call_makes_none(tmp_path: Path):
    path = tmp_path / "catalog.db"
    for pairs in ([], [("send_mail", "send_telegram")]):
        with Crib(Settings(store=str(path))) as crib:
            crib.add(send_mail)
            crib.add(send_telegram)
            call(crib, "send_mail", *(after for _, after in pairs))
        assert path.exists() == bool(pairs)
    with Crib(Settings(store=str(path))) as crib:
        assert list(use_history_of(crib).record().pairs) == [("send_mail", "send_telegram")]
