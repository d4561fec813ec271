"""Tasks in several parts, as people write them, with the bundled model and with words alone."""

from collections.abc import Callable, Iterator

import pytest

from toolcrib import Crib
from toolcrib.config import Settings
from toolcrib.embed.choose import EmbedderName
from toolcrib.sections import EmbedSettings


def read_file(path: str) -> str:
    """Read a text file from disk."""
    return path


def write_file(path: str) -> str:
    """Write text to a file on disk."""
    return path


def translate_text(text: str) -> str:
    """Translate a text into another language."""
    return text


def format_json(text: str) -> str:
    """Format JSON so that it is easy to read."""
    return text


def send_message(text: str) -> str:
    """Send a message to a person."""
    return text


def current_time(zone: str) -> str:
    """Tell the time in a time zone."""
    return zone


def slack_add_reaction(message: str) -> str:
    """Add an emoji to something written."""
    return message


def slack_list_channels() -> str:
    """List the channels of the workspace."""
    return ""


def slack_post_message(text: str) -> str:
    """Post a message to a channel."""
    return text


TOOLS: tuple[Callable[..., str], ...] = (
    *(read_file, write_file, translate_text, format_json, send_message, current_time),
    *(slack_add_reaction, slack_list_channels, slack_post_message),
)


@pytest.fixture(scope="module", params=["bundled", "none"])
def crib(request: pytest.FixtureRequest) -> Iterator[Crib]:
    embedder: EmbedderName = request.param
    embed = EmbedSettings(embedder=embedder, cache=False)
    with Crib(Settings(store=":memory:", embed=embed)) as crib:
        for tool in TOOLS:
            crib.add(tool)
        assert crib.embedded(None)
        yield crib


@pytest.mark.parametrize(
    ("task", "needed"),
    [
        ("读取文件并且翻译成英文", {"read_file", "translate_text"}),
        ("format the json and message it to Anna", {"format_json", "send_message"}),
        ("读取文件然后发送消息给张三", {"read_file", "send_message"}),
        ("translate the text, then save it to a file", {"translate_text", "write_file"}),
    ],
)
def test_no_part_is_lost(crib: Crib, task: str, needed: set[str]):
    assert needed <= {hit.name for hit in crib.search(task)}


@pytest.mark.parametrize("rest", ["send", "post a note", "发送"])
def test_a_named_set_is_ranked_by_the_rest(crib: Crib, rest: str):
    found = crib.search(f"+slack {rest}")
    assert found[0].name == "slack_post_message"
    assert all(hit.score < 1 for hit in found)
