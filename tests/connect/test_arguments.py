import pytest

from toolcrib.connect.arguments import Asked, asked_to_connect


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("connect", Asked()),
        ("connect --profile small", Asked(profile="small")),
        ("connect --profile=small", Asked(profile="small")),
        ("--config a.toml connect", Asked("a.toml")),
        ("connect --config=a.toml --mcp-config b --mcp-config c", Asked("a.toml", ("b", "c"))),
        ("--mcp-config b connect --mcp-config c", Asked(mcp_config=("b", "c"))),
    ],
)
def test_what_is_right_is_read(words: str, asked: Asked):
    assert asked_to_connect(words.split()) == asked


@pytest.mark.parametrize(
    "words",
    [
        "",
        "search connect",
        "connect --help",
        "connect --profil small",
        "connect --profile",
        "connect --profile=",
        "connect again",
        "--profile small connect",
        "--version connect",
        "call connect --config x",
    ],
)
def test_everything_else_is_for_the_full_command_line(words: str):
    assert asked_to_connect(words.split()) is None
