"""The sections of the settings: what can be set, with its default and what it does.

Nothing is read here: see `loading`.
"""

from collections.abc import Iterable, Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast
from urllib.parse import urlsplit

from toolcrib.model import PermissionKind, PrefetchMode
from toolcrib.settings.declaration import setting
from toolcrib.settings.oauth_section import OAuthSettings
from toolcrib.settings.section import Secret, Section

ServerApproval = Literal["allow", "destructive", "ask"]
GatewayMode = Literal["auto", "search", "reveal", "direct", "passthrough", "code"]


def _has_no_former_name(fusion: object) -> None:
    if fusion == "lifts":
        raise ValueError("`lifts` is called `zscore` now; write that")


class SearchSettings(Section):
    """How a question becomes a short ranked list."""

    limit: int = setting(
        default=5,
        gt=0,
        description="How many hits an answer has at most, if the query sets no limit.",
    )
    most: int = setting(default=8, gt=0, description="The largest limit that a query can set.")
    schemas: int = setting(
        default=3, ge=0, description="How many of the best hits carry their full schema."
    )
    fusion: Literal["zscore", "rrf", "keywords"] = setting(
        default="zscore",
        check=_has_no_former_name,
        description="How the arms are fused. `zscore`: by how far each arm puts a tool above the"
        " mean of all candidates. `rrf`: by ranks, in two levels of reciprocal rank fusion."
        " `keywords`: no arms but fixed points, 3 for a word in the name, 1 for a word in the"
        " description alone, and 100 for the whole name.",
    )
    second_look: Literal["off", "fast"] = setting(
        default="fast",
        description="Whether the first matches are put in order by how well they answer every word"
        " of the query. `fast`: by the bundled model, about a millisecond. `off`: as the arms say.",
    )
    weight_vector: float = setting(
        default=1.2,
        ge=0,
        description="zscore: how much meaning (the vector arm) counts; words (bm25) count 1.0.",
    )
    abstain: bool = setting(
        default=True,
        description="Whether an answer has no hits if most likely no tool fits.",
    )
    glossaries: tuple[Path, ...] = setting(
        default=(),
        description="Your own glossary files. They go before the one that comes with Toolcrib.",
    )
    cut: Literal["autocut", "top_band", "none"] = setting(
        default="autocut",
        description="Where an answer ends. `autocut`: at a drop in scores. `top_band`: below half"
        " of the best score. `none`: at the limit.",
    )
    cut_ratio: float = setting(
        default=2.0,
        gt=1,
        description="autocut: the answer ends where a score is more than this many times the next "
        "one.",
    )
    internal: tuple[str, ...] = setting(
        default=(), description="Names or patterns of internal tools. No search returns them."
    )
    learn: bool = setting(
        default=False,
        description="Whether search learns from use: a query that led to a call raises that tool"
        " for similar queries.",
    )
    learn_boost: float = setting(
        default=0.1,
        ge=0,
        le=0.25,
        description="The largest share by which learning raises a score.",
    )


class EmbedSettings(Section):
    """Who turns text into vectors. With `none`, search works on two arms."""

    embedder: Literal[
        "none", "bundled", "openai", "sentence-transformers", "model2vec", "fastembed"
    ] = setting(
        default="bundled",
        description="Who makes vectors. `bundled`: the model that comes with Toolcrib, in the "
        "background. `openai`: any endpoint that speaks its protocol. Others: optional "
        "extras. `none`: search by words only.",
    )
    model: str = setting(
        default="", description="The model's name, or its folder; `bundled` needs none."
    )
    url: str = setting(
        default="https://api.openai.com/v1", description="Base address of the endpoint."
    )
    api_key_env: str = setting(
        default="OPENAI_API_KEY", description="Name of the environment variable that holds the key."
    )
    api_key: Secret | None = setting(
        default=None, description="The key itself, if no variable holds it."
    )
    wait_s: float = setting(
        default=1.0,
        ge=0,
        description="How long the first search after a change waits for the bundled model. After "
        "that, search uses words until the model is ready.",
    )
    cache: bool = setting(
        default=True,
        description="Whether the vectors of tools are kept for the next start, by the hash of"
        " their text. They are in the catalog file or, without one, in `vectors.db` in"
        " your cache folder.",
    )
    dimensions: int | None = setting(
        default=None, gt=0, description="Shorter vectors. `bundled` can use 256 or 128 of its 384."
    )
    batch: int = setting(
        default=96, gt=0, description="How many texts are sent to the endpoint at a time."
    )
    timeout_s: float = setting(
        default=30.0,
        gt=0,
        description="How long one batch of texts may take, with retries.",
    )
    retries: int = setting(
        default=3, ge=0, description="How often a failed request is tried again."
    )


class ApprovalRule(Section):
    """One rule: what it is about, by name or kind or both, and its verdict."""

    verdict: Literal["allow", "ask", "deny"]
    pattern: str = "*"
    kind: PermissionKind | None = None
    profile: str | None = None


class ApprovalSettings(Section):
    """Which calls need a person's leave."""

    servers: ServerApproval = setting(
        default="allow",
        description="Which tools of your MCP servers need approval if no rule matches. `allow`:"
        " none. `destructive`: those marked as destructive. `ask`: all except reads.",
    )
    rules: tuple[ApprovalRule, ...] = setting(
        default=(),
        description="Tables with a `verdict` (`allow`, `ask`, `deny`), and with `pattern`, `kind`"
        " or `profile` to say what it is about. A pattern is `source/tool`, such as"
        " `github/delete_*`. The first rule that matches decides. Rules of `toolcrib"
        " allow` and `toolcrib deny` come before these.",
    )
    elicitation: Literal["all", "local", "none"] = setting(
        default="local",
        description="Which clients of the gateway are asked by elicitation, before the operator is "
        "asked. `local`: clients of your own user, which connect without a key. `all`: those "
        "with a key or token too, so that whoever makes a call may approve it. `none`: no client.",
    )
    wait_s: float = setting(
        default=30.0,
        ge=0,
        le=240,
        description="How long the gateway holds a call that waits for the operator. If you allow "
        "it in this time, it goes on at once. After it the model is told to make the call again. "
        "Many clients give up after 60 s, and the tool needs some of them. 0: no call is held.",
    )
    program_kinds: tuple[PermissionKind, ...] = setting(
        default=(),
        description="Kinds of tools (`read`, `write`, `execute`, `network`, `dangerous`) for which"
        " one answer covers a whole program: you see which it may call, and how often. Calls of"
        " other kinds, and calls beyond that number, are asked for one by one. Without any kind,"
        " each call is.",
    )


class CallSettings(Section):
    """The bounds of every call."""

    timeout_s: float = setting(
        default=60.0,
        gt=0,
        description="How long a tool may take, if the call sets no limit. For the tools of an MCP"
        " server its `call_timeout_s` says so.",
    )
    page_tokens: int = setting(
        default=8_000,
        gt=0,
        description="How many tokens of a result a model gets at once. It reads a longer result"
        " page by page, and can search in it. Programs get the whole result.",
    )


class ProgramSettings(Section):
    """The bounds of a program that a model writes."""

    at_once: int = setting(
        default=8,
        gt=0,
        description="How many programs run side by side, of one caller at most half. Each has a"
        " process of its own; others wait for one.",
    )
    timeout_s: float = setting(
        default=300.0,
        gt=0,
        description="How long a program may take, with its calls. The time in which a person is"
        " asked does not count.",
    )
    run_s: float = setting(
        default=10.0,
        gt=0,
        description="How long the steps of a program itself may take, without its calls.",
    )
    memory_mb: int = setting(
        default=64, gt=0, description="How many megabytes the values of a program may take."
    )
    calls: int = setting(default=100, gt=0, description="How many calls a program may make.")
    calls_at_once: int = setting(
        default=10, gt=0, description="How many of its calls are under way at once."
    )
    output_kb: int = setting(
        default=1_024,
        gt=0,
        description="How many kilobytes a program may print. A model gets what it prints and"
        " returns in pages of `call.page_tokens`.",
    )
    suspended_s: float = setting(
        default=86_400.0,
        gt=0,
        le=7 * 86_400,
        description="How long a program that needs a person's approval can be resumed. Its tickets"
        " wait as long.",
    )


def _is_collector(url: object) -> None:
    parts = urlsplit(url) if isinstance(url, str) else None
    if not parts or not url:
        return
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("write the address of a collector, such as http://127.0.0.1:4318")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("no credentials in the address; name them in `observe.otlp_headers_env`")


class ObserveSettings(Section):
    """What is told of searches, calls, approvals and the like: the log of events, traces."""

    enabled: bool = setting(
        default=True,
        description="Whether events are logged: who called what, and how it ended. Arguments and"
        " results are never logged.",
    )
    days: float = setting(
        default=30.0,
        gt=0,
        description="How many days an event stays in the log. Hourly counts stay for 400 days.",
    )
    rows: int = setting(
        default=100_000, gt=0, description="How many events of each kind the log holds at most."
    )
    keep_queries: bool = setting(
        default=False,
        description="Whether the log keeps the text of queries for seven days. Mails, queries of"
        " URLs, tokens and numbers are masked. Without it, texts stay in memory.",
    )
    otlp: str = setting(
        default="",
        check=_is_collector,
        description="The address of an OpenTelemetry collector that takes OTLP over HTTP, such as"
        " `http://127.0.0.1:4318`. Traces and durations go there. Needs the extra `otel`. If it"
        " is empty, the standard variables `OTEL_*` count.",
    )
    otlp_headers_env: Mapping[str, str] = setting(
        default=MappingProxyType[str, str]({}),
        description="Headers for the collector: for each, the name of the environment variable"
        " that holds its value.",
    )
    otlp_content: bool = setting(
        default=False,
        description="Whether traces have queries, names of hits, arguments and results in them.",
    )
    metrics: bool = setting(
        default=False,
        description="Whether the gateway has a page for Prometheus, `/metrics`. It opens with a key"
        " of `toolcrib keys add NAME --scope metrics`. Needs the extra `metrics`.",
    )
    log_format: Literal["text", "json"] = setting(
        default="text",
        description="How the gateway writes its log: lines for people, or one JSON object a line.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        default="info", description="From which level on the gateway writes to its log."
    )
    access_log: bool = setting(
        default=False,
        description="Whether the log has a line for each HTTP request: who, what, how it ended. A"
        " refused request always has one.",
    )


class AppSettings(Section):
    """Programs that register their tools by themselves."""

    enabled: bool = setting(
        default=True, description="Whether the tools of registered apps are in the pool."
    )
    launch: Mapping[str, tuple[str, ...]] = setting(
        default=MappingProxyType[str, tuple[str, ...]]({}),
        description="The command that starts each app, as a list. Without one, the command that"
        " the app gave when it first registered.",
    )
    trusted: tuple[str, ...] = setting(
        default=(), description="Apps that are trusted when they say that a tool only reads."
    )
    start_timeout_s: float = setting(
        default=20.0, gt=0, description="How long a launched app may take to register its tools."
    )
    idle_timeout_s: float = setting(
        default=300.0, gt=0, description="A launched app is ended after this time without a call."
    )


class McpSettings(Section):
    """MCP servers, beyond what stands in their own files."""

    warm_up: bool = setting(
        default=False,
        description="Whether a search starts the sleeping server of its best hit in the"
        " background.",
    )
    always_load: bool = setting(
        default=True,
        description="Whether a server may ask that some of its tools are never deferred "
        "(`anthropic/alwaysLoad`). The first 5 tools that ask are loaded, in at most "
        "1,500 tokens. `defer` and `always_load` in the server's entry go before this.",
    )
    env_from: tuple[str, ...] = setting(
        default=(),
        description="Names of variables that every local server gets, if they are set. Each also"
        " gets `PATH` and the like, certificates and proxies.",
    )


class SessionSettings(Section):
    """What one conversation sees. When tools wait for a search at all says `tool_search`."""

    threshold: int = setting(
        default=15,
        ge=0,
        description="With fewer tools than this, no tool waits for a search, except those that"
        " always do.",
    )
    never_defer: tuple[str, ...] = setting(
        default=(), description="Names or patterns of tools that are never deferred."
    )
    style: Literal["hidden", "index", "stub", "code"] = setting(
        default="hidden",
        description="How a deferred tool is shown. `hidden`: not at all. `index`: in a line of the"
        " system prompt, with what it does. `stub`: in the list, by name and description only."
        " `code`: not at all, and programs of the model call it; all tools wait"
        " that may.",
    )
    auto_reveal: bool = setting(
        default=False,
        description="Whether a deferred tool may be called before it is revealed, if its arguments "
        "fit.",
    )
    reveal_tokens: int = setting(
        default=800,
        gt=0,
        description="How many tokens of tools one search may reveal, beside its best hit and what"
        " it selects by name.",
    )
    context_window: int = setting(
        default=200_000,
        gt=0,
        description="The model's context window in tokens, if the session sets none.",
    )
    prefetch: PrefetchMode = setting(
        default="auto",
        description="Whether the user's message is searched before the model is asked, and what"
        " search is sure of is shown at once. `auto`: unless the model is known to search by"
        " itself. `on`, `off`: always, never.",
    )
    prefetch_tokens: int = setting(
        default=800,
        gt=0,
        description="How many tokens of tools one message of the user may show unasked.",
    )
    summary_tokens: int = setting(
        default=200, gt=0, description="The largest summary of deferred tools, in tokens."
    )
    answer_tokens: int = setting(
        default=1_500, gt=0, description="The largest answer of the search tool, in tokens."
    )


class ProfileSettings(Section):
    """A part of the pool under a name, for some clients of the gateway.

    Where nothing is said, everything is in it but the tools that come with Toolcrib; an empty list
    lets nothing through.
    """

    servers: tuple[str, ...] | None = setting(
        default=None,
        description="Sources in this profile, by id or pattern; those without an id by their kind "
        "(`builtin`).",
    )
    tools: tuple[str, ...] | None = setting(
        default=None, description="Names or patterns of tools in this profile."
    )
    exclude: tuple[str, ...] = setting(
        default=(),
        description="Names or patterns of what is not in this profile. This goes before all other "
        "keys.",
    )
    kinds: tuple[PermissionKind, ...] | None = setting(
        default=None, description="Permission kinds in this profile."
    )
    builtin_tools: bool = setting(
        default=False,
        description="Whether the tools that come with Toolcrib are in this profile.",
    )
    pins: tuple[str, ...] = setting(
        default=(), description="Names or patterns of tools that are always listed."
    )
    mode: GatewayMode = setting(default="auto", description="As `gateway.mode`, for this profile.")
    context_window: int | None = setting(
        default=None,
        gt=0,
        description="The context window of its clients in tokens, which `tool_search` goes by."
        " Without it `session.context_window`.",
    )
    approval: ServerApproval | None = setting(
        default=None, description="As `approval.servers`, for this profile."
    )


def _is_address(text: object) -> None:
    if isinstance(text, str):
        try:
            ip_address(text)
        except ValueError:
            raise ValueError("write an address, such as 127.0.0.1, 0.0.0.0 or ::") from None


def _are_proxies(texts: object) -> None:
    for text in cast("Iterable[object]", texts) if isinstance(texts, list | tuple) else ():
        try:
            network = ip_network(str(text))
        except ValueError:
            raise ValueError(
                "write addresses or networks, such as 10.0.0.7 or 10.1.0.0/16"
            ) from None
        if not network.prefixlen:
            raise ValueError(f"{text} is everybody; name the proxies alone")


class GatewaySettings(Section):
    """The MCP server in front of all others: `toolcrib serve`."""

    bind: str = setting(
        default="127.0.0.1",
        check=_is_address,
        description="The address where HTTP is served. Beyond loopback (`0.0.0.0`, `::`, an address"
        " of this machine) it needs `hosts`, and either TLS or `behind_proxy`.",
    )
    port: int = setting(
        default=0,
        ge=0,
        le=65535,
        description="The port of HTTP. 0 takes a free one.",
    )
    tls_certificate: Path | None = setting(
        default=None,
        description="The certificate for TLS, with its chain, in PEM. Read again when it changes.",
    )
    tls_key: Path | None = setting(
        default=None, description="The key of that certificate, in PEM, without a password."
    )
    behind_proxy: bool = setting(
        default=False,
        description="Whether a proxy stands in front, which speaks TLS with clients. Needs"
        " `trusted_proxies`: only they and this machine are served then.",
    )
    trusted_proxies: tuple[str, ...] = setting(
        default=(),
        check=_are_proxies,
        description="Addresses or networks of those proxies. Their `X-Forwarded-For` says where a"
        " client is; anybody else's is ignored.",
    )
    drain_s: float = setting(
        default=20.0,
        ge=0,
        le=3600,
        description="How long running requests over HTTP may take to end after SIGTERM.",
    )
    mode: GatewayMode = setting(
        default="auto",
        description="What clients are shown: `search`, `reveal`, `direct`, `passthrough`, `code`,"
        " or `auto` by the size of the catalog and the name of the client. `code` needs the extra"
        " `code`.",
    )
    hosts: tuple[str, ...] = setting(
        default=(),
        description="More values of the Host header that HTTP accepts, beside those of loopback:"
        " the name that clients use, with the port if it is not that of the scheme.",
    )
    origins: tuple[str, ...] = setting(
        default=(),
        description="Values of the Origin header that HTTP accepts. All others are refused.",
    )
    body_bytes: int = setting(
        default=4 * 1024 * 1024, gt=0, description="The largest body of an HTTP request, in bytes."
    )
    rate: int = setting(
        default=0,
        ge=0,
        description="How many requests a minute a key may make, unless it was made with another"
        " `--rate`. 0: no limit.",
    )
    at_once: int = setting(
        default=64,
        gt=0,
        description="How many requests a key may have under way, unless it was made with another"
        " `--at-once`.",
    )
    tenant_rate: int = setting(
        default=0,
        ge=0,
        description="How many requests a minute all keys of a tenant may make. 0: no limit.",
    )
    tenant_at_once: int = setting(
        default=0,
        ge=0,
        description="How many requests all keys of a tenant may have under way. 0: no limit but"
        " the 256 of the gateway.",
    )
    tenants: tuple[str, ...] = setting(
        default=(),
        description="Names or patterns of tenants of a shared store that this gateway serves beside"
        ' its own: `["*"]` is all of them. The key or the token says which.',
    )
    tenant_memory_mb: int = setting(
        default=1024,
        gt=0,
        description="How much memory the tools of those tenants may take, in MB. Of too many, the"
        " tenant that nobody has used for longest is closed until it is needed again.",
    )
    idle_exit_s: float = setting(
        default=1800.0,
        gt=0,
        description="A gateway that `toolcrib connect` started ends after this time without a"
        " client.",
    )
    profiles: Mapping[str, ProfileSettings] = setting(
        default=MappingProxyType[str, ProfileSettings]({}),
        description="Named parts of the pool: `[gateway.profiles.NAME]`, served at `/mcp/NAME`.",
    )
    oauth: OAuthSettings = OAuthSettings()


class DashboardSettings(Section):
    """The pages of `toolcrib dashboard`."""

    approve: Literal["recent_login", "never"] = setting(
        default="recent_login",
        description="Whether calls and definitions can be approved in the browser. `recent_login`:"
        " for 15 minutes after a link was used. `never`: only in the terminal.",
    )
    hosts: tuple[str, ...] = setting(
        default=(),
        description="Names, with their port if it is not 443, under which a TLS proxy of yours"
        " serves the dashboard. All others but its own are refused.",
    )
