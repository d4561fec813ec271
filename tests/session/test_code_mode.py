"""A session in code mode: two tools of ours, functions for a search, programs for calls."""

import asyncio
from collections.abc import Generator
from typing import Any

import pytest

from toolcrib import Crib, Settings
from toolcrib.errors import ConfigError
from toolcrib.model import Outcome
from toolcrib.session import CODE_TOOLS, Session, begins_with_page_note, page_note
from toolcrib.settings import EmbedSettings, SessionSettings

LONG = "[await tools.count(to=n) for n in range(3)] * 10_000"


def count(to: int) -> int:
    """Count up to a number."""
    return to


def clock() -> str:
    """Tell the time."""
    return "12:00"


@pytest.fixture
def crib() -> Generator[Crib]:
    settings = Settings(store=":memory:", plugins=False, embed=EmbedSettings(embedder="none"))
    with Crib(settings) as made:
        made.add(count, permission_kind="read")
        made.add(clock, permission_kind="read", defer="never")
        yield made


@pytest.fixture
def session(crib: Crib) -> Session:
    return crib.session(style="code")


def call(session: Session, name: str, **arguments: Any) -> Outcome:
    return asyncio.run(session.call(name, arguments))


def names(session: Session) -> list[str]:
    return [tool.name for tool in session.active_tools()]


def test_even_of_two_tools_one_waits_and_a_search_changes_nothing(session: Session):
    assert names(session) == ["clock", "tool_search", "tool_run"]
    found = call(session, "tool_search", query="count up to a number")
    assert "async def tools.count(*, to: int) -> Any:" in str(found.content)
    assert found.structured == {"functions": ["tools.count"]}
    assert session.active_tools()[1:] == CODE_TOOLS
    assert not session.revealed_tools()
    assert "tool_run" in session.system_note()
    assert "count" in session.deferred_summary()


def test_a_run_takes_a_fence_and_another_key_as_text_too(session: Session):
    assert call(session, "tool_run", code="```python\nawait tools.count(to=3)\n```").content == 3
    given = '{"code": "await tools.count(to=4)"}'
    assert asyncio.run(session.call("tool_run", given)).content == 4
    for wrong in ({}, {"program": "1", "handle": "x"}, {"program": 1, "x": 2}):
        refused = call(session, "tool_run", **wrong)
        assert refused.error
        assert refused.error.code == "bad_arguments"
    broken = asyncio.run(session.call("tool_run", '{"program": "1'))
    assert broken.error
    assert broken.error.code == "bad_arguments"


def test_what_waits_is_called_by_programs_alone_and_what_is_listed_as_ever(session: Session):
    session.see(["count"])  # as a conversation does that began in another style
    refused = call(session, "count", to=3)
    assert refused.error
    assert refused.error.code == "not_revealed"
    assert "async def tools.count(*, to: int) -> Any" in refused.error.message
    assert call(session, "clock").content == "12:00"
    assert session.question("tool_run", {"program": "1"}) is None
    assert not session.asks("tool_run")


def test_a_long_result_is_read_on_with_the_search_tool(session: Session):
    first = call(session, "tool_run", program=LONG)
    assert first.page
    assert begins_with_page_note(page_note(first))
    second = call(session, "tool_search", read=f"result:{first.handle}/2")
    assert second.page
    assert second.page.number == 2


def test_a_tool_of_the_name_is_no_tool_of_this_session_and_of_any_other_it_is(crib: Crib):
    crib.add(count, name="tool_run")
    assert names(crib.session(style="code")).count("tool_run") == 1
    plain = crib.session(tool_search="off")
    assert "tool_run" in names(plain)
    assert call(plain, "tool_run", to=5).content == 5


def test_one_place_decides_who_has_it():
    chosen = Settings(store=":memory:", session=SessionSettings(style="code"))
    with Crib(chosen) as crib:
        assert crib.session().style == "code"
        assert crib.session(style="stub").style == "stub"
        assert crib.session(tool_search="off").style == "hidden"
        assert crib.session(prefetch="on").prefetch_mode == "off"
        with pytest.raises(ConfigError, match="tool_search"):
            crib.session(tool_search="off", style="code")
        with pytest.raises(ConfigError, match="one of hidden, index, stub, code"):
            crib.session(style="cod")
    off = Settings(store=":memory:", tool_search="off")
    with Crib(off) as crib, pytest.raises(ConfigError, match="tool_search"):
        crib.session(style="code")


def test_without_the_extra_it_is_not_opened(crib: Crib, monkeypatch: pytest.MonkeyPatch):
    def missing() -> str:
        raise ConfigError("install toolcrib[code]")

    monkeypatch.setattr("toolcrib.program.engine_version", missing)
    with pytest.raises(ConfigError, match="install"):
        crib.session(style="code")
    assert crib.session().style == "hidden"


def test_its_price_is_that_of_its_two_tools(crib: Crib):
    hidden, code = crib.session(tool_search="on"), crib.session(style="code")
    assert code.token_estimate().deferred > 0
    assert code.token_estimate().tools == hidden.token_estimate().tools
