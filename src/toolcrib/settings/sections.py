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

from toolcrib.model import PermissionKind, PrefetchMode

ServerApproval = Literal["allow", "destructive", "ask"]
GatewayMode = Literal["auto", "search", "reveal", "direct", "passthrough"]


class Section(BaseModel):
    """Some settings that belong together: frozen, and none that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchSettings(Section):
    """How a question becomes a short ranked list."""

    limit: PositiveInt = Field(
        default=5, description="How many hits an answer has at most, if the query sets no limit."
    )
    most: PositiveInt = Field(default=8, description="The largest limit that a query can set.")
    schemas: int = Field(
        default=3, ge=0, description="How many of the best hits carry their full schema."
    )
    fusion: Literal["zscore", "rrf"] = Field(
        default="zscore",
        description="How the arms are fused. `zscore`: by how far each arm puts a tool above the"
        " mean of all candidates. `rrf`: by ranks, in two levels of reciprocal rank fusion.",
    )
    second_look: Literal["off", "fast"] = Field(
        default="fast",
        description="Whether the first matches are put in order by how well they answer every word"
        " of the query. `fast`: by the bundled model, about a millisecond. `off`: as the arms say.",
    )
    weight_vector: NonNegativeFloat = Field(
        default=1.2,
        description="zscore: how much meaning (the vector arm) counts; words (bm25) count 1.0.",
    )
    abstain: bool = Field(
        default=True,
        description="Whether an answer has no hits if most likely no tool fits.",
    )
    glossaries: tuple[Path, ...] = Field(
        default=(),
        description="Your own glossary files. They go before the one that comes with Toolcrib.",
    )
    cut: Literal["autocut", "top_band", "none"] = Field(
        default="autocut",
        description="Where an answer ends. `autocut`: at a drop in scores. `top_band`: below half"
        " of the best score. `none`: at the limit.",
    )
    cut_ratio: float = Field(
        default=2.0,
        gt=1,
        description="autocut: the answer ends where a score is more than this many times the next "
        "one.",
    )
    internal: tuple[str, ...] = Field(
        default=(), description="Names or patterns of internal tools. No search returns them."
    )
    learn: bool = Field(
        default=False,
        description="Whether search learns from use: a query that led to a call raises that tool"
        " for similar queries.",
    )
    learn_boost: float = Field(
        default=0.1,
        ge=0,
        le=0.25,
        description="The largest share by which learning raises a score.",
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
        description="Who makes vectors. `bundled`: the model that comes with Toolcrib, in the "
        "background. `openai`: any endpoint that speaks its protocol. Others: optional "
        "extras. `none`: search by words only.",
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
        default=None, description="The key itself, if no variable holds it."
    )
    wait_s: NonNegativeFloat = Field(
        default=1.0,
        description="How long the first search after a change waits for the bundled model. After "
        "that, search uses words until the model is ready.",
    )
    cache: bool = Field(
        default=True,
        description="Whether the vectors of tools are kept for the next start, by the hash of"
        " their text. They are in the catalog file or, without one, in `vectors.db` in"
        " your cache folder.",
    )
    dimensions: PositiveInt | None = Field(
        default=None, description="Shorter vectors. `bundled` can use 256 or 128 of its 384."
    )
    batch: PositiveInt = Field(
        default=96, description="How many texts are sent to the endpoint at a time."
    )
    timeout_s: PositiveFloat = Field(
        default=30.0,
        description="How long one batch of texts may take, with retries.",
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
        description="Which tools of your MCP servers need approval if no rule matches. `allow`:"
        " none. `destructive`: those marked as destructive. `ask`: all except reads.",
    )
    rules: tuple[ApprovalRule, ...] = Field(
        default=(),
        description="Tables with a `verdict` (`allow`, `ask`, `deny`), and with `pattern`, `kind`"
        " or `profile` to say what it is about. A pattern is `source/tool`, such as"
        " `github/delete_*`. The first rule that matches decides. Rules of `toolcrib"
        " allow` and `toolcrib deny` come before these.",
    )
    elicitation: Literal["all", "local", "none"] = Field(
        default="all",
        description="Which clients of the gateway are asked by elicitation, before the operator is "
        "asked. `all`: all that can be. `local`: clients of your own user. `none`: no "
        "client.",
    )


class CallSettings(Section):
    """The bounds of every call."""

    timeout_s: PositiveFloat = Field(
        default=60.0, description="How long a tool may take, if the call sets no limit."
    )
    page_tokens: PositiveInt = Field(
        default=8_000,
        description="How many tokens of a result a model gets at once. It reads a longer result"
        " page by page, and can search in it. Programs get the whole result.",
    )


class AuditSettings(Section):
    """The log of calls, beside the catalog file."""

    enabled: bool = Field(
        default=True,
        description="Whether calls are logged: who called what, and how it ended. Arguments are"
        " never logged.",
    )
    days: PositiveFloat = Field(default=30.0, description="How many days a call stays in the log.")
    rows: PositiveInt = Field(default=100_000, description="How many calls the log holds at most.")


class AppSettings(Section):
    """Programs that register their tools by themselves."""

    enabled: bool = Field(
        default=True, description="Whether the tools of registered apps are in the pool."
    )
    launch: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict[str, tuple[str, ...]],
        description="The command that starts each app, as a list. Without one, the command that"
        " the app gave when it first registered.",
    )
    trusted: tuple[str, ...] = Field(
        default=(), description="Apps that are trusted when they say that a tool only reads."
    )
    start_timeout_s: PositiveFloat = Field(
        default=20.0, description="How long a launched app may take to register its tools."
    )
    idle_timeout_s: PositiveFloat = Field(
        default=300.0, description="A launched app is ended after this time without a call."
    )


class McpSettings(Section):
    """MCP servers, beyond what stands in their own files."""

    warm_up: bool = Field(
        default=False,
        description="Whether a search starts the sleeping server of its best hit in the"
        " background.",
    )
    always_load: bool = Field(
        default=True,
        description="Whether a server may ask that some of its tools are never deferred "
        "(`anthropic/alwaysLoad`). The first 5 tools that ask are loaded, in at most "
        "1,500 tokens. `defer` and `always_load` in the server's entry go before this.",
    )
    env_from: tuple[str, ...] = Field(
        default=(),
        description="Names of variables that every local server gets, if they are set. Each also"
        " gets `PATH` and the like, certificates and proxies.",
    )


class SessionSettings(Section):
    """What one conversation sees. When tools wait for a search at all says `tool_search`."""

    threshold: int = Field(
        default=15,
        ge=0,
        description="With fewer tools than this, no tool waits for a search, except those that"
        " always do.",
    )
    never_defer: tuple[str, ...] = Field(
        default=(), description="Names or patterns of tools that are never deferred."
    )
    style: Literal["hidden", "stub"] = Field(
        default="hidden",
        description="How a deferred tool is shown. `hidden`: not at all. `stub`: by name and "
        "description only.",
    )
    auto_reveal: bool = Field(
        default=False,
        description="Whether a deferred tool may be called before it is revealed, if its arguments "
        "fit.",
    )
    reveal_tokens: PositiveInt = Field(
        default=800,
        description="How many tokens of tools one search may reveal, beside its best hit and what"
        " it selects by name.",
    )
    context_window: PositiveInt = Field(
        default=200_000,
        description="The model's context window in tokens, if the session sets none.",
    )
    prefetch: PrefetchMode = Field(
        default="auto",
        description="Whether the user's message is searched before the model is asked, and what"
        " search is sure of is shown at once. `auto`: unless the model is known to search by"
        " itself. `on`, `off`: always, never.",
    )
    prefetch_tokens: PositiveInt = Field(
        default=800,
        description="How many tokens of tools one message of the user may show unasked.",
    )
    summary_tokens: PositiveInt = Field(
        default=200, description="The largest summary of deferred tools, in tokens."
    )
    answer_tokens: PositiveInt = Field(
        default=1_500, description="The largest answer of the search tool, in tokens."
    )


class ProfileSettings(Section):
    """A part of the pool under a name, for some clients of the gateway.

    Where nothing is said, everything is in it but the tools that come with Toolcrib; an empty list
    lets nothing through.
    """

    servers: tuple[str, ...] | None = Field(
        default=None,
        description="Sources in this profile, by id or pattern; those without an id by their kind "
        "(`builtin`).",
    )
    tools: tuple[str, ...] | None = Field(
        default=None, description="Names or patterns of tools in this profile."
    )
    exclude: tuple[str, ...] = Field(
        default=(),
        description="Names or patterns of what is not in this profile. This goes before all other "
        "keys.",
    )
    kinds: tuple[PermissionKind, ...] | None = Field(
        default=None, description="Permission kinds in this profile."
    )
    builtin_tools: bool = Field(
        default=False,
        description="Whether the tools that come with Toolcrib are in this profile.",
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
        default=0,
        ge=0,
        le=65535,
        description="The port of HTTP on this machine. 0 takes a free one.",
    )
    mode: GatewayMode = Field(
        default="auto",
        description="What clients are shown: `search`, `reveal`, `direct`, `passthrough`, or `auto`"
        " by the size of the catalog and the name of the client.",
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="More values of the Host header that HTTP accepts."
    )
    origins: tuple[str, ...] = Field(
        default=(),
        description="Values of the Origin header that HTTP accepts. All others are refused.",
    )
    body_bytes: PositiveInt = Field(
        default=4 * 1024 * 1024, description="The largest body of an HTTP request, in bytes."
    )
    idle_exit_s: PositiveFloat = Field(
        default=1800.0,
        description="A gateway that `toolcrib connect` started ends after this time without a"
        " client.",
    )
    profiles: dict[str, ProfileSettings] = Field(
        default_factory=dict[str, ProfileSettings],
        description="Named parts of the pool: `[gateway.profiles.NAME]`, served at `/mcp/NAME`.",
    )


class DashboardSettings(Section):
    """The pages of `toolcrib dashboard`."""

    approve: Literal["recent_login", "never"] = Field(
        default="recent_login",
        description="Whether calls and definitions can be approved in the browser. `recent_login`:"
        " for 15 minutes after a link was used. `never`: only in the terminal.",
    )
    hosts: tuple[str, ...] = Field(
        default=(),
        description="Names, with their port if it is not 443, under which a TLS proxy of yours"
        " serves the dashboard. All others but its own are refused.",
    )
