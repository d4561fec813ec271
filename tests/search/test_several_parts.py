"""Tasks in several parts, as people write them, with the bundled model and with words alone."""

from collections.abc import Callable, Iterator

import pytest

from toolcrib import Crib
from toolcrib.embed.factory import EmbedderName
from toolcrib.settings import EmbedSettings, Settings


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
        assert crib.index.embedded(None)
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


def test_what_no_part_asks_for_does_not_stay_for_the_sake_of_the_whole():
    """Of the whole task alone the gears are not half as far behind as the cut wants."""

    def get_forecast(city: str) -> str:
        """Tell the weather forecast of a city."""
        return city

    def send_mail(to: str, text: str) -> str:
        """Send a mail to somebody."""
        return f"{to}: {text}"

    embed = EmbedSettings(embedder="bundled", cache=False)
    with Crib(Settings(store=":memory:", embed=embed)) as crib:
        crib.add(get_forecast)
        crib.add(send_mail)
        for number in range(60):
            about = f"Turn gear {number}"
            crib.add(lambda: "turned", name=f"turn_gear_{number}", description=about)
        assert crib.index.embedded(None)
        found = crib.search("get the forecast and mail it to Anna")
    assert [hit.name for hit in found] == ["get_forecast", "send_mail"]


@pytest.mark.parametrize("rest", ["send", "post a note", "发送"])
def test_a_named_set_is_ranked_by_the_rest(crib: Crib, rest: str):
    found = crib.search(f"+slack {rest}")
    assert found[0].name == "slack_post_message"
    assert all(hit.score < 1 for hit in found)
