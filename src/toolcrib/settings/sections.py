"""The sections of the settings: what can be set, with its default and what it does.

Nothing is read here: see `loading`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    field_validator,
)

from toolcrib.model import PermissionKind

ServerApproval = Literal["allow", "destructive", "ask"]
GatewayMode = Literal["auto", "search", "reveal", "direct", "passthrough"]


_FITTED = """
    search.depth search.k search.exact_name_bonus search.intent_boost search.band_share
    search.weight_as_written search.weight_plain search.weight_intent search.weight_translated
    weights
""".split()
_BY_MEANING = "`search.weight_vector` says how much meaning counts against words; set that instead"
REMOVED: Mapping[str, str] = {
    **dict.fromkeys(_FITTED, "search has a fitted constant in its place; take it out"),
    "search.weight_like": _BY_MEANING,
    "search.weight_bm25": _BY_MEANING,
    "search.learn_half_life_days": "what was learned always fades by half in 30 days; take it out",
}
"""Keys that were settings, and what to do about them."""


class Section(BaseModel):
    """Some settings that belong together: frozen, and none that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchSettings(Section):
    """How a question becomes a short ranked list."""

    limit: PositiveInt = Field(
        default=5, description="How many hits an answer has at most, unless the query says."
    )
    most: PositiveInt = Field(
        default=8, description="How many hits an answer may have at all, whatever the query says."
    )
    schemas: int = Field(
        default=3, ge=0, description="How many of the best hits carry their full schema."
    )
    fusion: Literal["zscore", "rrf"] = Field(
        default="zscore",
        description="How the arms are fused. `zscore`: by how far each arm puts a tool above the"
        " mean of all candidates. `rrf`: by ranks, in two levels of reciprocal rank fusion.",
    )
    weight_vector: NonNegativeFloat = Field(
        default=1.2,
        description="zscore: how much meaning (the vector arm) counts; words (bm25) count 1.0.",
    )
    abstain: bool = Field(
        default=True,
        description="Whether an answer names no tool where most likely none fits.",
    )
    glossaries: tuple[Path, ...] = Field(
        default=(),
        description="Glossary files of your own; they win over the one that comes along.",
    )
    cut: Literal["autocut", "top_band", "none"] = Field(
        default="autocut",
        description="Where an answer ends: at a drop in scores, below half the best, at the limit.",
    )
    cut_ratio: float = Field(
        default=2.0,
        gt=1,
        description="autocut: cut where a score is more than this many times the next.",
    )
    internal: tuple[str, ...] = Field(
        default=(), description="Names or patterns of internal tools that no search returns."
    )
    learn: bool = Field(
        default=False,
        description="Whether a query that led to a call raises that tool for queries like it.",
    )
    learn_boost: float = Field(
        default=0.1, ge=0, le=0.25, description="The largest share by which it raises a score."
    )

    @field_validator("fusion", mode="before")
    @classmethod
    def _has_no_former_name(cls, value: object) -> object:
        if value == "lifts":
            raise ValueError("`lifts` is called `zscore` now; write that")
        return value


class EmbedSettings(Section):
    """Who turns text into vectors. With `none`, search works on two arms."""

    embedder: Literal[
        "none", "bundled", "openai", "sentence-transformers", "model2vec", "fastembed"
    ] = Field(
        default="bundled",
        description="`bundled`: the model that comes with Toolcrib, in the background. `openai`:"
        " any endpoint that speaks its protocol. Others: optional extras.",
    )
    model: str = Field(
        default="", description="The model's name, or its folder; `bundled` needs none."
    )
    url: str = Field(
        default="https://api.openai.com/v1", description="Base address of the endpoint."
    )
    api_key_env: str = Field(
        default="OPENAI_API_KEY", description="Name of the environment variable that holds the key."
    )
    api_key: SecretStr | None = Field(
        default=None, description="The key itself, if it is in no variable."
    )
    wait_s: NonNegativeFloat = Field(
        default=1.0,
        description="How long the first search after a change waits for the bundled model; then"
        " words alone serve until it is ready.",
    )
    cache: bool = Field(
        default=True,
        description="Whether the vectors of tools are kept for the next start, by the hash of their"
        " text: in the catalog file or, without one, in `vectors.db` in the user's cache folder.",
    )
    dimensions: PositiveInt | None = Field(
        default=None, description="Shorter vectors; `bundled` can do with 256 or 128 of its 384."
    )
    batch: PositiveInt = Field(default=96, description="Texts sent to the endpoint at a time.")
    timeout_s: PositiveFloat = Field(
        default=30.0,
        description="Longest that embedding one batch of texts may take, retries included.",
    )
    retries: int = Field(default=3, ge=0, description="How often a failed request is tried again.")


class ApprovalRule(Section):
    """One rule: what it is about, by name or kind or both, and its verdict."""

    verdict: Literal["allow", "ask", "deny"]
    pattern: str = "*"
    kind: PermissionKind | None = None
    profile: str | None = None


class ApprovalSettings(Section):
    """Which calls need a person's leave."""

    servers: ServerApproval = Field(
        default="allow",
        description="Which tools of your MCP servers need approval where no rule matches:"
        " `allow` none, `destructive` those marked as destructive, `ask` all but reads.",
    )
    rules: tuple[ApprovalRule, ...] = Field(
        default=(),
        description="Tables with `verdict` (`allow`, `ask`, `deny`), and `pattern`, `kind` or"
        " `profile` to say what it is about. A pattern is `source/tool`, such as"
        " `github/delete_*`. The first that matches decides; those of `toolcrib allow` and"
        " `toolcrib deny` come before these.",
    )
    elicitation: Literal["all", "local", "none"] = Field(
        default="all",
        description="Which clients of the gateway are asked themselves, by elicitation, before the"
        " operator is: `all` that can be, those of your own user (`local`), or `none`.",
    )


class CallSettings(Section):
    """The bounds of every call."""

    timeout_s: PositiveFloat = Field(
        default=60.0, description="Longest that a tool may take, unless the call says."
    )
    page_tokens: PositiveInt = Field(
        default=8_000,
        description="The most tokens of a result that a model is given at once; it reads a longer"
        " one page by page, and can search in it. Programs get results whole.",
    )


class AuditSettings(Section):
    """The log of calls, beside the catalog file."""

    enabled: bool = Field(
        default=True,
        description="Whether calls are logged: who, what, how it ended; never an argument.",
    )
    days: PositiveFloat = Field(default=30.0, description="How long a call stays in it.")
    rows: PositiveInt = Field(default=100_000, description="How many calls it holds at most.")


class AppSettings(Section):
    """Programs that register their tools by themselves."""

    enabled: bool = Field(
        default=True, description="Whether tools of apps that have registered are in the pool."
    )
    launch: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict[str, tuple[str, ...]],
        description="The command of each app, as a list. Else what it said when first seen.",
    )
    trusted: tuple[str, ...] = Field(
        default=(), description="Apps that are believed when they say that a tool only reads."
    )
    start_timeout_s: PositiveFloat = Field(
        default=20.0, description="Longest that a launched app may take to register its tools."
    )
    idle_timeout_s: PositiveFloat = Field(
        default=300.0, description="An app that was launched is ended after so long without a call."
    )


class McpSettings(Section):
    """MCP servers, beyond what stands in their own files."""

    warm_up: bool = Field(
        default=False,
        description="Whether a search starts the sleeping server of its best hit meanwhile.",
    )
    always_load: bool = Field(
        default=True,
        description="Whether a server may ask that tools of it are never deferred"
        " (`anthropic/alwaysLoad`): the first 5 that do, in 1,500 tokens. What the server's entry"
        " says with `defer` and `always_load` goes before it.",
    )
    env_from: tuple[str, ...] = Field(
        default=(),
        description="Names of variables that every server which is a command is given, where they"
        " are set; beside `PATH` and the like, certificates and proxies.",
    )


class SessionSettings(Section):
    """What one conversation sees. When tools wait for a search at all says `tool_search`."""

    threshold: int = Field(
        default=15,
        ge=0,
        description="With fewer tools than this none waits, except those that always do.",
    )
    never_defer: tuple[str, ...] = Field(
        default=(), description="Names or patterns of tools that are always shown whole."
    )
    style: Literal["hidden", "stub"] = Field(
        default="hidden",
        description="A deferred tool: not listed, or listed by name and description alone.",
    )
    auto_reveal: bool = Field(
        default=False,
        description="Whether a deferred tool may be called unrevealed, if its arguments fit.",
    )
    reveal_tokens: PositiveInt = Field(
        default=800,
        description="What a query may add to the tools of a session, in tokens, beside its best"
        " hit and what it selects by name.",
    )
    context_window: PositiveInt = Field(
        default=200_000, description="Tokens of the model's window, unless the session says."
    )
    summary_tokens: PositiveInt = Field(
        default=200, description="Largest summary of what is deferred, in tokens."
    )
    answer_tokens: PositiveInt = Field(
        default=1_500, description="Largest answer of the search tool, in tokens."
    )


class ProfileSettings(Section):
    """A part of the pool under a name, for some clients of the gateway.

    Where nothing is said, everything is in it but the tools that come with Toolcrib; an empty list
    lets nothing through.
    """

    servers: tuple[str, ...] | None = Field(
        default=None,
        description="Sources, by id or pattern; those without an id by their kind (`builtin`).",
    )
    tools: tuple[str, ...] | None = Field(
        default=None, description="Names or patterns of what is in it."
    )
    exclude: tuple[str, ...] = Field(
        default=(), description="Names or patterns of what is not, whatever else is said."
    )
    kinds: tuple[PermissionKind, ...] | None = Field(
        default=None, description="Permission kinds that are in it."
    )
    builtin_tools: bool = Field(
        default=False,
        description="Whether the tools that come with Toolcrib are in it.",
    )
    pins: tuple[str, ...] = Field(
        default=(), description="Names or patterns of tools that are always listed."
    )
    mode: GatewayMode = Field(default="auto", description="As `gateway.mode`, for this profile.")
    approval: ServerApproval | None = Field(
        default=None, description="As `approval.servers`, for this profile."
    )


class GatewaySettings(Section):
    """The MCP server in front of all others: `toolcrib serve`."""

    port: int = Field(
        default=0, ge=0, le=65535, description="Loopback port of HTTP; 0 takes a free one."
    )
    mode: GatewayMode = Field(
        default="auto",
        description="What clients are shown: `search`, `reveal`, `direct`, `passthrough`, or `auto`"
        " by the size of the catalog and the name of the client.",
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="Further values of the Host header that HTTP is served under."
    )
    origins: tuple[str, ...] = Field(
        default=(), description="Values of the Origin header that HTTP is served to; none else."
    )
    body_bytes: PositiveInt = Field(
        default=4 * 1024 * 1024, description="Largest body of an HTTP request."
    )
    idle_exit_s: PositiveFloat = Field(
        default=1800.0,
        description="A gateway that `toolcrib connect` has started ends after so long without"
        " a client.",
    )
    profiles: dict[str, ProfileSettings] = Field(
        default_factory=dict[str, ProfileSettings],
        description="Named parts of the pool: `[gateway.profiles.NAME]`, served at `/mcp/NAME`.",
    )
