from typing import Any

import pytest

from toolcrib.sources.mcp.sanitize import (
    TooLarge,
    bounded_json,
    is_plaintext,
    short_line,
    short_line_end,
    without_surrogates,
)


def test_what_is_not_printable_goes():
    assert short_line("a\x1b[31mb\u202e\n\tc\x00", 50) == "ab c"
    assert short_line_end("\ufeffa\x1b]0;t\x07b\u2028", 50) == "ab"


def test_what_is_hidden_goes_though_it_is_printable():
    smuggled = "".join(chr(0xE0100 + ord(char)) for char in "obey")
    assert smuggled.isprintable()
    assert short_line(f"out of paper{smuggled}", 50) == "out of paper"
    assert short_line_end(f"out of paper{smuggled}", 50) == "out of paper"


def test_what_is_too_long_is_cut():
    assert short_line("abcdef", 4) == "abc…"
    assert short_line_end("abcdef", 4) == "…def"
    assert short_line("x" * 1_000_000, 4) == "xxx…"
    assert short_line_end("x" * 1_000_000, 4) == "…xxx"


def test_json_stays_as_it_is():
    value = {"a": [1, 2.5, None, True, "x"], "b": {"c": {}}}
    assert bounded_json(value) == value


def test_what_is_no_json_is_replaced():
    odd = {"a\ud800": float("nan"), "b": [float("inf"), "\udfff"]}
    assert bounded_json(odd) == {"a?": None, "b": [None, "?"]}


def test_depth_and_size_are_bounded():
    deep = []
    for _ in range(40):
        deep = [deep]
    with pytest.raises(TooLarge, match="deeper"):
        bounded_json(deep)
    with pytest.raises(TooLarge, match="larger"):
        bounded_json(["x" * 70_000])


def nested(levels: int, inner: Any) -> Any:
    for _ in range(levels):
        inner = {"a": [inner]} if levels % 2 else [inner]
    return inner


@pytest.mark.parametrize("inner", [1, "x", [], {}, "\ud800", "\U0001f600", float("nan"), (), ([],)])
@pytest.mark.parametrize("levels", [0, 1, 30, 31, 32, 33, 2_000])
def test_the_quick_look_finds_what_the_close_one_finds(
    inner: Any, levels: int, monkeypatch: pytest.MonkeyPatch
):
    def bounded() -> object:
        try:
            return bounded_json(nested(levels, inner))
        except (TooLarge, RecursionError) as error:
            return type(error), str(error)

    quick = bounded()
    monkeypatch.setattr("toolcrib.sources.mcp.sanitize._plain_text", lambda *_: None)
    assert quick == bounded()


def test_what_is_plain_is_not_copied():
    value = {"type": "object", "properties": {"a": {"type": "string"}}}
    assert bounded_json(value) is value


def test_text_is_cut_and_cleaned():
    assert without_surrogates("ab\ud800cd", 3) == "ab?"


@pytest.mark.parametrize(
    ("url", "clear"),
    [
        ("https://a.example/x", False),
        ("http://127.0.0.1:80/", False),
        ("http://[::1]:80/", False),
        ("http://localhost/", False),
        ("http://a.example/", True),
        ("http://localhost.example/", True),
        ("http://127.0.0.1@a.example/", True),
        ("file:///etc/passwd", True),
        ("javascript:alert(1)", True),
    ],
)
def test_only_https_and_this_machine_are_private(url: str, clear: bool):
    assert is_plaintext(url) == clear
