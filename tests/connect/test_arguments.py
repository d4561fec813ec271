import pytest

from toolcrib.connect import ConnectOptions, parse_connect


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("connect", ConnectOptions()),
        ("connect --profile small", ConnectOptions(profile="small")),
        ("connect --profile=small", ConnectOptions(profile="small")),
        ("--config a.toml connect", ConnectOptions("a.toml")),
        (
            "connect --config=a.toml --mcp-config b --mcp-config c",
            ConnectOptions("a.toml", ("b", "c")),
        ),
        ("--mcp-config b connect --mcp-config c", ConnectOptions(mcp_config=("b", "c"))),
    ],
)
def test_what_is_right_is_read(words: str, asked: ConnectOptions):
    assert parse_connect(words.split()) == asked


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
    assert parse_connect(words.split()) is None
