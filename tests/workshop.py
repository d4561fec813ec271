"""A small catalog like those that agents have, a source to list it, and a search over it."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from tests.waiting import HANG_S
from toolcrib.errors import SourceError
from toolcrib.index import Arm, Catalog, MemoryEngine, SqliteEngine, View
from toolcrib.index.protocol import Index
from toolcrib.model import (
    EXCLUDE_NOTHING,
    AgentInfo,
    Call,
    CallContext,
    Capability,
    Deadline,
    Entry,
    Match,
    NameFilter,
    Outcome,
    Ranking,
    SkillInfo,
    SourceKind,
    State,
    ToolInfo,
    Variant,
)
from toolcrib.pool import Pool
from toolcrib.search import Search, SearchRules
from toolcrib.search.rules import Fusion
from toolcrib.settings import Settings
from toolcrib.store import SqliteStore
from toolcrib.text import Speller
from toolcrib.wiring import rules_of

EngineName = Literal["memory", "sqlite"]
ENGINES: tuple[EngineName, ...] = ("memory", "sqlite")


class ListedSource:
    """A source that lists what it is told to, and fails when it is told to."""

    kind: SourceKind = "builtin"
    id: str | None = None

    def __init__(self, *listed: Capability, problems: tuple[str, ...] = ()) -> None:
        self.listed: Sequence[Capability] = listed
        self.problems = problems
        self.states: dict[str, State] = {}
        self.failure = ""

    def capabilities(self) -> Sequence[Capability]:
        if self.failure:
            raise SourceError(self.failure)
        return self.listed

    def state(self, name: str) -> State:
        return self.states.get(name, "ready")

    async def call(self, call: Call, context: CallContext) -> Outcome:  # noqa: ARG002 - it is done at once
        return Outcome(call.name)


def soon(seconds: float = HANG_S) -> CallContext:
    """What a call has that may take this long: by default as long as only a hang does."""
    return CallContext(Deadline(seconds))


def mcp(server: str, name: str, description: str = "") -> ToolInfo:
    return ToolInfo(name=name, description=description, source="mcp", source_id=server)


READ_FILE = ToolInfo(
    name="read_file",
    description="Read a text file from the disk",
    permission_kind="read",
    tags=("file", "read"),
    display={"en": "Read File", "zh-CN": "读取文件"},
    desc={"en": "Read a text file from the disk", "zh-CN": "读取磁盘上的文本文件"},
    parameters={"type": "object", "properties": {"path": {"type": "string"}}},
)
WRITE_FILE = ToolInfo(
    name="write_file",
    description="Write text to a file",
    tags=("file", "write", "save"),
    display={"en": "Write File", "zh-CN": "写入文件"},
    desc={"en": "Write text to a file", "zh-CN": "把文本写入文件"},
    parameters={"type": "object", "properties": {"path": {"type": "string"}}},
)
SEEN: tuple[Capability, ...] = (
    READ_FILE,
    WRITE_FILE,
    ToolInfo(name="write_file_backup", description="Copy a file before it is written"),
    ToolInfo(name="list_directory", description="List the files in a folder"),
    ToolInfo(name="search_web", description="Search the web for pages"),
    ToolInfo(name="fetch_url", description="Download a page from the web by its address"),
    ToolInfo(name="current_time", description="Tell the time in a time zone"),
    mcp("notify", "notification-send-user", "Send a message to a single user"),
    mcp("notify", "notification-send-channel", "Post a message to all members of a channel"),
    mcp("slack", "send_message", "Send a message in Slack"),
    mcp("slack", "list_channels", "List the channels of a Slack workspace"),
    mcp("github", "create_issue", "Open a new issue in a repository"),
    mcp("github", "list_issues", "List the issues of a repository"),
    mcp("jira", "create_issue", "Create an issue in a Jira project"),
    ToolInfo(name="resize", description="Resize a photo", source="sdk", source_id="photos"),
    SkillInfo(name="pdf-forms", description="How to fill in PDF forms", source="files"),
    AgentInfo(name="travel-planner", description="Plans journeys by train", source="files"),
)
HIDDEN: tuple[Capability, ...] = (
    ToolInfo(name="erase_file", description="Erase a file for good", searchable=False),
    ToolInfo(name="shred_file", description="Shred a file on disk", enabled=False),
    ToolInfo(name="tag_file", description="Tag a file in Finder", platform_available=False),
)
HIDDEN_NAMES = frozenset(capability.name for capability in HIDDEN)


@dataclass(frozen=True)
class OneNear:
    """A view with a vector arm that knows how near one tool is, and nothing of the others."""

    view: View
    id: str
    near: Callable[[Variant], float]

    @property
    def generation(self) -> int:
        return self.view.generation

    @property
    def mark(self) -> str:
        return self.view.mark

    @property
    def vector_size(self) -> int:
        return self.view.vector_size

    @property
    def arms(self) -> dict[Arm, Index]:
        return {**self.view.arms, "vector": self}

    def named(self, spelling: str) -> Sequence[str]:
        return self.view.named(spelling)

    def ids(self) -> Sequence[str]:
        return self.view.ids()

    def speller(self) -> Speller:
        return self.view.speller()

    def lookup(
        self,
        variant: Variant,
        *,
        limit: int | None = None,
        exclude: NameFilter = EXCLUDE_NOTHING,
    ) -> Ranking:
        return [] if self.id in exclude else [Match(self.id, self.near(variant))][:limit]


def pooled(*capabilities: Capability) -> Mapping[str, Entry]:
    """The capabilities under the names that a pool gives them."""
    pool = Pool()
    pool.add(ListedSource(*capabilities))
    return pool.entries


def many(count: int) -> Iterable[ToolInfo]:
    """Tools in plenty, from forty servers, about everything but what the catalog above is about."""
    for number in range(count):
        yield mcp(f"server{number % 40}", f"turn_gear_{number}", f"Turn gear number {number}")


@contextmanager
def searching(
    engine: EngineName,
    entries: Mapping[str, Entry],
    *,
    rules: SearchRules | None = None,
    hidden: NameFilter = EXCLUDE_NOTHING,
) -> Generator[Search]:
    """A search over these entries by one of the engines, without an embedder."""
    with SqliteStore.open(":memory:") as store:
        chosen = MemoryEngine() if engine == "memory" else SqliteEngine(store)
        catalog = Catalog(chosen, None)
        catalog.rebuild(entries.values(), "")
        with catalog.view() as view:
            yield Search(view, entries, rules or search_rules(), hidden)


def search_rules(**search: object) -> SearchRules:
    """The rules by these settings of `search`, and by the defaults of all others."""
    return rules_of(Settings.model_validate({"search": search}))


def uncut(
    rules: SearchRules | None = None, *, limit: int = 5, fusion: Fusion = "zscore"
) -> SearchRules:
    """The rules without a cut, and without abstaining."""
    return replace(rules or search_rules(), cut="none", abstain=False, limit=limit, fusion=fusion)
