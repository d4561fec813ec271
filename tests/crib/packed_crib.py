"""A crib whose pool is large enough to be packed."""

from collections.abc import Generator
from contextlib import contextmanager

from tests.pool.from_scratch import StampedTools
from toolcrib.crib import Crib
from toolcrib.settings import EmbedSettings, Settings

WORDS = Settings(store=":memory:", embed=EmbedSettings(embedder="none"))
VERBS = ("read", "list", "create", "delete", "send", "find")
NOUNS = ("file", "message", "issue", "page", "event", "invoice", "channel", "folder", "user")
QUESTIONS = ("delete an invoice", "read_file", "list the channels of github", "sned mesage")


def servers(extra: int = 0) -> list[StampedTools]:
    """Five servers of 54 tools, and one with so many tools that only it has."""
    made = [StampedTools(id) for id in ("slack", "jira", "github", "notes", "books")]
    for source in made:
        for verb in VERBS:
            for noun in NOUNS:
                source.put(f"{verb}_{noun}", f"{verb.title()} one {noun} of {source.id}")
    last = StampedTools("extra")
    for number in range(extra):
        last.put(f"extra_{number}", f"Knit sock number {number}")
    return [*made, last]


@contextmanager
def opened(extra: int = 0) -> Generator[Crib]:
    """A crib over these servers, as each start makes it."""
    with Crib(WORDS) as crib:
        crib.add_source(*servers(extra))
        yield crib


def answers(crib: Crib) -> list[tuple[str, float]]:
    """What it finds, with all scores."""
    return [(hit.name, round(hit.score, 9)) for text in QUESTIONS for hit in crib.search(text)]
