"""What each stage is given of the settings, in its own words."""

from collections.abc import Callable, Sequence
from functools import partial

from toolcrib.embed import Embedder, make_embedder
from toolcrib.errors import ConfigError
from toolcrib.execute import Audit, CallPolicy, Rule, Rulebook, Tickets
from toolcrib.model import DeferralTrigger
from toolcrib.pool import Pool
from toolcrib.search import ArmWeights, SearchRules
from toolcrib.session import Deferral, SessionOptions
from toolcrib.settings import ServerApproval, Settings, own_servers_file
from toolcrib.sources.apps import AppRules, AppTimeouts
from toolcrib.store import AuditFile, Retention, TicketFile, install_key
from toolcrib.uses import StoreOpener, UseAdvice, UseHistory

IN_PLACE = frozenset(
    {"mcp_config", "mcp", "approval", "session", "tool_search", "search", "gateway"}
)
"""Settings that a crib can go on by; others make another pool, index or store of it."""
LEARNING = ("learn", "learn_boost")


def fit_in_place(old: Settings, new: Settings) -> bool:
    """Whether a crib of the old settings can go on by the new ones."""
    others = Settings.model_fields.keys() - IN_PLACE
    same = all(getattr(old, name) == getattr(new, name) for name in others)
    learns = all(getattr(old.search, name) == getattr(new.search, name) for name in LEARNING)
    # File tools keep off the files that were named when they were made.
    unguarded = {*new.mcp_config} - {*old.mcp_config, own_servers_file()}
    return same and learns and not (new.builtin_tools and unguarded)


def rules_of(settings: Settings) -> SearchRules:
    """The rules of search that the settings make."""
    said = settings.search
    return SearchRules(
        limit=said.limit,
        most=said.most,
        schemas=said.schemas,
        fusion=said.fusion,
        arms=ArmWeights(vector=said.weight_vector),
        cut=said.cut,
        cut_ratio=said.cut_ratio,
        abstain=said.abstain,
    )


def policy_of(settings: Settings, written: Callable[[], Sequence[Rule]] = tuple) -> CallPolicy:
    """The rules of calling that the settings make, behind those that are written elsewhere."""
    return CallPolicy(
        rulebook_of(settings, written), settings.call.timeout_s, settings.call.page_tokens
    )


def rulebook_of(settings: Settings, written: Callable[[], Sequence[Rule]] = tuple) -> Rulebook:
    """The same about approval alone."""
    said = settings.approval
    rules = tuple(Rule(**rule.model_dump()) for rule in said.rules)
    profiles = settings.gateway.profiles.items()
    own: dict[str, ServerApproval] = {
        name: each.approval for name, each in profiles if each.approval is not None
    }
    return Rulebook(rules, written, servers=said.servers, profiles=own)


def audit_of(settings: Settings) -> Audit | None:
    """The log of calls that the settings name. Nothing is written before the first call."""
    path, said = settings.audit_path, settings.audit
    return Audit(partial(AuditFile, path, Retention(said.rows, said.days))) if path else None


def tickets_of(settings: Settings) -> Tickets:
    """The calls that wait for approval, in a file unless nothing is to be left on disk."""
    return Tickets() if settings.store_path == ":memory:" else Tickets(partial(_tickets, settings))


def _tickets(settings: Settings) -> TicketFile:
    """Raises `SourceError` and `StoreError`."""
    folder = settings.state_folder
    return TicketFile(folder / "tickets.db", install_key(folder / "tickets.key"))


def deferral_of(
    settings: Settings, tool_search: str | None, context_window: int | None
) -> Deferral:
    """When a session defers, by the settings and by what it says itself. Raises `ConfigError`."""
    said = settings.session
    try:
        trigger = DeferralTrigger.read(tool_search or settings.tool_search)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    return Deferral(
        trigger=trigger,
        threshold=said.threshold,
        never_defer=frozenset(said.never_defer),
        style=said.style,
        context_window=context_window or said.context_window,
    )


def session_options_of(settings: Settings, deferral: Deferral) -> SessionOptions:
    """How a session behaves, by the settings."""
    said = settings.session
    return SessionOptions(
        style=said.style,
        auto_reveal=said.auto_reveal,
        keep_called=deferral.trigger.kind == "conversation",
        most_revealed=settings.search.most,
        reveal_tokens=said.reveal_tokens,
        summary_tokens=said.summary_tokens,
        answer_tokens=said.answer_tokens,
    )


def app_rules_of(settings: Settings) -> AppRules:
    """The rules about apps that the settings make."""
    said = settings.apps
    patience = AppTimeouts(said.start_timeout_s, said.idle_timeout_s)
    return AppRules(said.launch, frozenset(said.trusted), patience)


def embedder_of(settings: Settings) -> Embedder | None:
    """The embedder that the settings name, without a cache. Raises `ConfigError`, `EmbedError`."""
    said = settings.embed
    return make_embedder(
        embedder=said.embedder,
        model=said.model,
        url=said.url,
        api_key=said.api_key.get_secret_value() if said.api_key else None,
        timeout_s=said.timeout_s,
        batch=said.batch,
        retries=said.retries,
        dimensions=said.dimensions,
    )


def use_advice_of(settings: Settings, pool: Pool, store: StoreOpener) -> UseAdvice:
    """What use tells searches; what it learns goes to the store, unless nothing is to be kept."""
    history = UseHistory(None if settings.store_path == ":memory:" else store)
    boost = settings.search.learn_boost if settings.search.learn else 0.0
    return UseAdvice(history, pool, boost=boost)
