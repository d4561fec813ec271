"""The nouns that every stage hands to the next: frozen values, no I/O.

A `Capability` is what can be searched. It is a tool (`ToolInfo`), a skill (`SkillInfo`)
or an agent (`AgentInfo`); `kind` says which. The rest is what a search takes and gives
(`Query`, `Variant`, `Match`, `Hit`, `Answer`), what a call takes and gives (`Call`, `Outcome`),
and when a session defers tools (`SearchMode`).
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple, TypeAlias, overload

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

Kind = Literal["tool", "skill", "agent"]
SourceKind = Literal["builtin", "mcp", "sdk", "files"]
PermissionKind = Literal["read", "write", "execute", "network", "dangerous"]
Defer = Literal["never", "automatic", "always"]
Confidence = Literal["high", "medium", "low", "none"]
NamedBy = Literal["program", "operator", ""]
RootsOf = Literal["working_folder", "client", "none"]
State = Literal[
    "ready", "asleep", "needs_login", "changed", "unreviewed", "disabled", "other_platform"
]

ALL_PLATFORMS = ("all",)
ALWAYS_LOAD = "anthropic/alwaysLoad"
"""The key in a tool's `_meta` by which a server asks hosts never to defer it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What tools, skills and agents share: all that search needs to know.

    `name` is the source's own name until the pool gives it the one models see.
    `title`, `display` and `desc` are for people and for search; `display` and `desc`
    are keyed by language tag ("en", "zh-CN"). `enabled` and `platform_available` both
    have to hold before a model may hear of it. `flags` are the tricks by which something was
    hidden in its texts; what is here has been cleaned of it. `often_with` names what its author
    says it is used with. `packaged`: it comes with Toolcrib. `named_by` says who put it in the pool
    by its name: the program a function of its own, the operator an MCP server; nobody did with what
    came along, such as tools of Toolcrib, of plugins and of apps. `module` is the Python module of
    a function that a program or the operator has added: a label, and no part of the definition.
    """

    kind: ClassVar[Kind]

    name: str
    description: str
    source: SourceKind = "builtin"
    source_id: str | None = None
    permission_kind: PermissionKind = "write"
    category: str = ""
    tags: tuple[str, ...] = ()
    searchable: bool = True
    platforms: tuple[str, ...] = ALL_PLATFORMS
    enabled: bool = True
    platform_available: bool = True
    title: str = ""
    display: Mapping[str, str] = field(default_factory=dict[str, str])
    desc: Mapping[str, str] = field(default_factory=dict[str, str])
    search_hint: str = ""
    flags: tuple[str, ...] = ()
    often_with: tuple[str, ...] = ()
    packaged: bool = False
    named_by: NamedBy = ""
    module: str = ""
    pin: str = ""

    @property
    def owner(self) -> str:
        """Whose it is: the id of its source, the module of a function, or else the kind."""
        return self.source_id or self.module or self.source

    @property
    def owner_label(self) -> str:
        """The same with the kind before an id: `mcp:github`."""
        return f"{self.source}:{self.source_id}" if self.source_id else self.owner


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolInfo(Capability):
    """A tool: something that can be called with arguments.

    `parameters` is a JSON Schema object. `required` tools are always shown to the model;
    `defer` says whether the schema of the others may wait until a search reveals it. `meta` is
    what an MCP server says beside the definition, for hosts. `schema_problem`: why the schema that
    was given could not be kept, if it could not; such a tool is found, and never called. `approval`
    "ask": whoever named it wants a person asked before each call, unless a rule says otherwise.
    """

    kind: ClassVar[Kind] = "tool"

    parameters: JsonObject = field(default_factory=dict[str, Json])
    schema_problem: str = ""
    output_schema: JsonObject | None = None
    annotations: JsonObject = field(default_factory=dict[str, Json])
    defer: Defer = "automatic"
    required: bool = False
    approval: Literal["ask"] | None = None
    meta: JsonObject = field(default_factory=dict[str, Json])

    @property
    def asks_to_load(self) -> bool:
        """Whether its MCP server asks hosts never to defer it. What comes of it says `defer`."""
        return self.source == "mcp" and self.meta.get(ALWAYS_LOAD) is True


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillInfo(Capability):
    """A skill: written knowledge, in a folder with a SKILL.md. `body` is that knowledge."""

    kind: ClassVar[Kind] = "skill"

    body: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInfo(Capability):
    """An agent that work can be handed to: what it says it can do, and where it is."""

    kind: ClassVar[Kind] = "agent"

    skills: tuple[str, ...] = ()
    url: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A capability in the pool: the name models see, the source's own name, and what it is like.

    `remedy` says what to do when the state is not ready, and is empty when it is. `overlaps` are
    the beginnings of other sources' names that this name begins with too (`mcp_google_drive_`).
    """

    name: str
    bare: str
    capability: Capability
    state: State = "ready"
    remedy: str = ""
    overlaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question as asked. `kinds` empty means every kind; `limit` None means the setting."""

    text: str
    limit: int | None = None
    kinds: frozenset[Kind] = frozenset()


@dataclass(frozen=True, slots=True)
class Variant:
    """One wording of a query, as the indexes look it up.

    `words` are what the like arm compares with labels, `terms` what the bm25 arm looks up,
    `vector` what the vector arm does; a vector of None means that no embedder spoke.
    """

    text: str
    weight: float = 1.0
    words: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    vector: Sequence[float] | None = None
    origin: str = "as written"


class Match(NamedTuple):
    """One place in a ranking. Scores compare within one ranking only."""

    id: str
    score: float


Ranking: TypeAlias = Sequence[Match]


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result. `schema` is there for the best few tools and None for the rest.

    `often_with` are a few others that are used with it, by declared links and by recorded use.
    """

    name: str
    kind: Kind
    source: SourceKind
    source_id: str | None
    state: State
    remedy: str
    score: float
    description: str
    permission_kind: PermissionKind
    schema: JsonObject | None = None
    often_with: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A configured MCP server whose tools cannot be had now, or not all of them.

    `code` is for programs. `reason` and `remedy` are for models and people, in words of ours, and
    never the server's. The remedy is what its user can do; where it is nothing but to wait, empty.
    """

    server: str
    code: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        todo = f"the user can {self.remedy}" if self.remedy else "search again in a moment"
        return f"{self.server} is configured but {self.reason}; {todo}."


@dataclass(frozen=True, slots=True)
class Answer(Sequence[Hit]):
    """What a search returns: its hits, best first, and the way on where there are none.

    Of a task in several parts the best of each comes first. Without hits the confidence is "none".
    `missing` maps each name that `select:` or `+required` asked for in vain to its nearest names.
    `nearest` and `namespaces` (source → number of capabilities) are filled when nothing fits and
    when browsing; so are `names` (source → names) where there are few. `note` says in a sentence or
    two what happened, empty when the hits speak for themselves. `confidence` says how sure it is
    that one of the hits fits, and `chance` the same as a number from 0 to 1; whoever is named or
    selected fits. `unavailable` are a few servers that the query may be about, and whose tools
    cannot be had.
    """

    query: str
    hits: tuple[Hit, ...] = ()
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    nearest: tuple[str, ...] = ()
    namespaces: Mapping[str, int] = field(default_factory=dict[str, int])
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    note: str = ""
    confidence: Confidence = "high"
    chance: float = 1.0
    unavailable: tuple[Unavailable, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)


class ConversationTokens(NamedTuple):
    """How long a conversation is: as it was last told, and when its tools were last listed.

    `listed` is None where they never were.
    """

    told: int = 0
    listed: int | None = None


_MODE = re.compile(r"(auto|conversation)(?::([0-9]{1,3}))?")
_SWITCHES: Mapping[str, Literal["on", "off"]] = {
    "on": "on",
    "true": "on",
    "off": "off",
    "false": "off",
}


@dataclass(frozen=True, slots=True)
class SearchMode:
    """When the tools of a session wait for a search.

    on                 always
    auto:N             when their definitions take N % of the context window, or more
    conversation:N     once the conversation has used N % of the context window
    off                never

    Without a number N is 10. `true` and `false` say on and off.
    """

    kind: Literal["on", "auto", "conversation", "off"] = "on"
    percent: int = 10

    @classmethod
    def read(cls, text: str) -> "SearchMode":
        """The mode that a text says. Raises `ValueError` with the words there are."""
        said = text.strip().lower()
        if said in _SWITCHES:
            return cls(_SWITCHES[said])
        match = _MODE.fullmatch(said)
        percent = int(match[2] or 10) if match else 101
        if not match or percent > 100:  # noqa: PLR2004 - per cent
            words = "on, auto, auto:N, conversation:N or off, with N from 0 to 100"
            raise ValueError(f"{text!r} is not a mode of tool search; say {words}")
        return cls("auto" if match[1] == "auto" else "conversation", percent)


Phase = Literal["resolve", "state", "rights", "approval", "arguments", "start", "call", "result"]
Effect = Literal["not_sent", "failed", "unknown"]
Progress: TypeAlias = Callable[[float, float | None, str], None]
Question = Literal["elicitation/create", "sampling/createMessage", "roots/list"]


class Asked(NamedTuple):
    """One thing that a tool wants to know: a request of the MCP protocol and its parameters."""

    question: Question
    params: JsonObject


Ask: TypeAlias = Callable[[Mapping[str, Asked]], Awaitable[Mapping[str, JsonObject]]]
"""What a tool asks of whoever called it, all at once and by keys of its own, and the replies by the
same keys. What nobody replies to is missing among them."""
Log: TypeAlias = Callable[[JsonObject], None]
Pause: TypeAlias = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool to run and what to run it with.

    `name` is the name the model saw; a source is given its own name for the tool. `text` is the
    arguments as JSON text, where a provider hands them over so, and then stands for `arguments`.
    `pin` is that of the definition which was shown, if the caller knows it: a tool that is another
    by now is not called.
    """

    name: str
    arguments: JsonObject = field(default_factory=dict[str, Json])
    text: str = ""
    pin: str = ""

    @classmethod
    def of(cls, name: str, arguments: JsonObject | str, pin: str = "") -> "Call":
        """A call with arguments as they come: an object, or JSON text."""
        if isinstance(arguments, str):
            return cls(name, text=arguments, pin=pin)
        return cls(name, arguments, pin=pin)


def _tell_nobody(_done: float, _all: float | None, _message: str) -> None:
    pass


async def _nobody_replies(_asked: Mapping[str, Asked]) -> Mapping[str, JsonObject]:
    return {}


def log_nowhere(_message: JsonObject) -> None:
    """The log of a call that nobody listens to."""


@dataclass(frozen=True, slots=True)
class Running:
    """What a call has while it runs: a deadline on the monotonic clock, and who made it.

    `progress` hears how far it is, `log` what the tool says meanwhile (level, data, logger), and
    `ask` replies to what the tool wants to know before it goes on. `caller` is the id of whoever
    made the call: two with one id may hear what is meant for either. `roots` says where our own
    file tools work for them, unless the settings name folders. `pause` is there where somebody
    hears of the progress and has set no limit: while it is entered, from whichever thread, the
    clock stands still.
    """

    deadline: float
    progress: Progress = _tell_nobody
    ask: Ask = _nobody_replies
    log: Log = log_nowhere
    caller: str = ""
    roots: RootsOf = "none"
    pause: Pause | None = None

    @classmethod
    def of(
        cls,
        deadline: float,
        progress: Progress | None,
        ask: Ask | None,
        log: Log | None,
        caller: str = "",
    ) -> "Running":
        """The same, where None means that nobody cares."""
        listening = progress or _tell_nobody, ask or _nobody_replies, log or log_nowhere
        return cls(deadline, *listening, caller)


@dataclass(frozen=True, slots=True)
class CallError:
    """Why a call did not end well, for programs and for models.

    `effect` says what became of it: it was not sent, it failed, or nobody knows. `schema` comes
    with arguments that do not fit, `ticket` with a call that waits for an approval.
    """

    code: str
    phase: Phase
    message: str
    server: str | None = None
    retryable: bool = False
    effect: Effect = "not_sent"
    schema: JsonObject | None = None
    ticket: str = ""


class Page(NamedTuple):
    """One page of a long result: its number from 1, of how many, and about what, in words.

    `found` is what was searched for, where the pages are those of the lines that have it.
    """

    number: int
    of: int
    about: str
    found: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: without an error it went well.

    `content` is what the tool returned: a JSON value, or with `blocks` the content blocks of MCP.
    `structured` is its structured content, if it has any, and `meta` what a server says beside
    both. Where it is a page of a long result, `page` says which, `content` is its text (with
    `blocks` also what is no text), and `handle` names the result, to read on or to search in it.
    `repaired` says what was put right in the arguments, one note each.
    """

    content: Json = None
    structured: Json = None
    error: CallError | None = None
    handle: str = ""
    repaired: tuple[str, ...] = ()
    meta: JsonObject = field(default_factory=dict[str, Json])
    blocks: bool = False
    page: Page | None = None

    @property
    def ok(self) -> bool:
        """Whether it went well."""
        return self.error is None
