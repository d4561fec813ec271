"""What is kept of names and queries: bounded, on one line, nothing hidden, nothing personal."""

import pytest

from toolcrib.model import Event
from toolcrib.observe import conversation_mark, mask_personal
from toolcrib.observe.recording import LONGEST_NAME, query_text, recorded

HOSTILE = "tool\u202egnp.exe\u200b\x1b[2J\nfake: line\U000e0041"


def call(name: str, pin: str = "p", **more: object) -> Event:
    return Event(1.0, "call", name=name, facts={"pin": pin})._replace(**more)  # pyright: ignore[reportArgumentType]


def test_a_plain_event_stays_the_very_same():
    event = call("mcp_github_create_issue", server="github", caller="local@default")
    assert recorded(event) is event


@pytest.mark.plan(83)
@pytest.mark.parametrize(
    "field", ["caller", "client", "conversation", "name", "server", "code", "trace"]
)
def test_no_name_hides_anything_or_makes_a_line_of_its_own(field: str):
    kept = getattr(recorded(call("x")._replace(**{field: HOSTILE * 99})), field)
    assert len(kept) == LONGEST_NAME
    assert kept.isprintable()
    assert kept.startswith("tool⟨U+202E⟩gnp.exe⟨U+200B⟩")
    assert "⟨U+001B⟩[2J fake: line⟨U+E0041⟩" in kept


@pytest.mark.plan(83)
def test_a_secret_that_a_model_takes_for_the_name_of_a_tool_is_masked():
    assert recorded(call("ghp_abcdefghij0123456789abcd", pin="")).name == "***"
    assert recorded(call("send to bob@example.org", pin="")).name == "send to ***"
    assert recorded(call("mcp_github_create_issue_2", pin="")).name == "mcp_github_create_issue_2"
    known = "mcp_x_0123456789abcdef0123456789abcdef"
    assert recorded(call(known)).name == known


@pytest.mark.plan(83)
@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("mail an invoice to Bob.Jones+x@mail.example.co.uk now", "mail an invoice to *** now"),
        (
            "open https://x.org/a/b?token=1&user=ann#frag please",
            "open https://x.org/a/b?*** please",
        ),
        ("clone https://ann:hunter2@x.org/r", "clone https://***@x.org/r"),
        ("use sk-proj-Ab12Cd34Ef56 for it", "use *** for it"),
        ("key eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "key ***"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        ("hash 9f86d081884c7d659a2feaa0c55ad015", "hash ***"),
        ("card 4111-1111-1111-1111 and 555 123 4567", "card *** and ***"),
        ("call +49 (30) 1234567", "call ***"),
        ("my password is hunter2 and token: abc", "my password is *** and token: ***"),
        ("login with password hunter2", "login with password ***"),
    ],
)
def test_what_may_be_personal_is_masked(text: str, kept: str):
    assert mask_personal(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "send a mail to my team",
        "top 10 files of 2024 by size",
        "convert 1200 px to cm, 3 times",
        "reset a password",
        "create an api key",
        "给我发一封邮件",
        "Rindfleischetikettierungsgesetz",
        "mcp_google_drive_files_list v2",
    ],
)
def test_what_people_ask_stays(text: str):
    assert mask_personal(text) == text


def test_a_text_that_is_made_to_be_slow_is_not():
    for evil in ("a@" * 9_999, "1 " * 9_999, "a1" * 9_999, "password " * 9_999, "x://" * 9_999):
        assert len(mask_personal(evil)) <= 2_000
    assert query_text("a\u202eb\nc") == "a⟨U+202E⟩b c"


def test_nobody_can_join_a_conversation_by_its_mark():
    assert conversation_mark("thread-1") == conversation_mark("thread-1") != "thread-1"
    assert len(conversation_mark("\ud800" * 9_999)) == 12
