"""What each stage is given of the settings, in the stage's own words.

A new setting is connected here, and a stage has no default of its own for what is a setting: the
default stands in `toolcrib.settings`. Three kinds of settings do not pass here. Sources read which
files to list (`sources_from_settings`), the live index which engine and file to use, and the
gateway its own section, which is about nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from toolcrib import execute, program, session, store
from toolcrib.api_arguments import check
from toolcrib.embed import make_embedder
from toolcrib.errors import ConfigError
from toolcrib.model import DeferralTrigger, PrefetchMode
from toolcrib.observe import (
    EventCounters,
    EventLog,
    OtlpTarget,
    Tracer,
    can_export,
    can_measure,
    standard_target,
)
from toolcrib.search import ArmWeights, SearchRules
from toolcrib.settings import (
    Settings,
    config_folder,
    own_servers_file,
    rules_file,
    tenant_document_file,
    tenant_folder,
)
from toolcrib.sources import apps, mcp
from toolcrib.system import read_plain_file
from toolcrib.text import load_glossary
from toolcrib.uses import UseAdvice, UseHistory

if TYPE_CHECKING:
    from toolcrib.embed import Embedder
    from toolcrib.execute import CallPolicy, Rule, Rulebook
    from toolcrib.observe import SpanExporter
    from toolcrib.pool import Pool
    from toolcrib.program import ProgramLimits
    from toolcrib.session import Deferral, DeferStyle, SessionOptions
    from toolcrib.settings import ServerApproval
    from toolcrib.sources.apps import AppRules
    from toolcrib.sources.mcp import ServerRules
    from toolcrib.store import (
        EventStore,
        FileStores,
        ReplicaStores,
        Retention,
        StorePlaces,
        Stores,
    )
    from toolcrib.store.postgres import Database, SharedDatabase, TenantPlaces
    from toolcrib.text import Glossary
    from toolcrib.uses import FactsOf, StoreOpener

IN_PLACE = frozenset(
    {"mcp_config", "mcp", "approval", "session", "tool_search", "search", "gateway"}
)
"""Settings that a crib can go on by; others make another pool, index or store of it."""
LEARNING = ("learn", "learn_boost")
KEEP_QUERIES_DAYS = 7.0
KEY_BYTES, LONGEST_KEY = 32, 256


def fit_in_place(old: Settings, new: Settings) -> bool:
    """Whether a crib of the old settings can go on by the new ones."""
    others = Settings.keys.keys() - IN_PLACE
    same = all(getattr(old, name) == getattr(new, name) for name in others)
    learns = all(getattr(old.search, name) == getattr(new.search, name) for name in LEARNING)
    # File tools keep off the files that were named when they were made.
    unguarded = {*new.mcp_config} - {*old.mcp_config, own_servers_file()}
    return same and learns and not (new.builtin_tools and unguarded)


def rules_of(settings: Settings) -> SearchRules:
    """The rules of search that the settings make."""
    search = settings.search
    return SearchRules(
        limit=search.limit,
        most=search.most,
        schemas=search.schemas,
        fusion=search.fusion,
        second_look=search.second_look,
        arms=ArmWeights(vector=search.weight_vector),
        cut=search.cut,
        cut_ratio=search.cut_ratio,
        abstain=search.abstain,
    )


def glossary_of(settings: Settings) -> Glossary:
    """The glossary that comes along, with those that the settings name. Raises `ConfigError`."""
    return load_glossary(settings.search.glossaries)


def policy_of(settings: Settings, written: Callable[[], Sequence[Rule]] = tuple) -> CallPolicy:
    """The rules of calling that the settings make, behind those that are written elsewhere."""
    return execute.CallPolicy(
        rulebook_of(settings, written), settings.call.timeout_s, settings.call.page_tokens
    )


def rulebook_of(settings: Settings, written: Callable[[], Sequence[Rule]] = tuple) -> Rulebook:
    """The same about approval alone."""
    approval = settings.approval
    rules = tuple(execute.Rule(**rule.model_dump()) for rule in approval.rules)
    profiles = settings.gateway.profiles.items()
    own: dict[str, ServerApproval] = {
        name: each.approval for name, each in profiles if each.approval is not None
    }
    return execute.Rulebook(approval.servers, rules, written, profiles=own)


def program_limits_of(settings: Settings) -> ProgramLimits:
    """The bounds of programs that the settings make."""
    own = settings.program
    return program.ProgramLimits(
        own.timeout_s,
        own.run_s,
        own.memory_mb,
        own.calls,
        own.calls_at_once,
        own.output_kb,
        own.suspended_s,
    )


def stores_of(settings: Settings) -> FileStores | ReplicaStores:
    """All that lasts, where the settings say. No file is opened or made before it is asked for.

    Raises `ConfigError` and `StoreError` where the settings name a database.
    """
    if settings.database:
        return replica_stores_of(settings, os.environ)
    return file_stores_of(settings)


class SharedSite(NamedTuple):
    """The database of a shared store, opened, and the secret that its gateways have in common."""

    shared: SharedDatabase
    key: bytes


def shared_site_of(settings: Settings, environ: Mapping[str, str]) -> SharedSite:
    """Where the tenants of these settings are, to be closed. Raises `ConfigError`, `StoreError`."""
    from toolcrib.store.postgres import SharedDatabase  # noqa: PLC0415 - the extra

    key, database = shared_key_of(settings, environ), database_of(settings, environ)
    try:
        return SharedSite(SharedDatabase(database), key)
    except BaseException:
        database.close()
        raise


def replica_stores_in(
    site: SharedSite, settings: Settings, on_close: Callable[[], None] = lambda: None
) -> ReplicaStores:
    """The stores of the tenant of these settings, with the files of this machine beside them."""
    from toolcrib.store.postgres import PostgresStores  # noqa: PLC0415 - the extra

    remote = PostgresStores(site.shared, tenant_places_of(settings, settings.tenant, site.key))
    local = store.FileStores(store_places_of(settings)._replace(are_copies=True))
    place = site.shared.database.address.shown
    return store.ReplicaStores(remote, local, settings.stale_s, place, on_close=on_close)


def replica_stores_of(settings: Settings, environ: Mapping[str, str]) -> ReplicaStores:
    """The same of a database that is opened for them, and closed with them.

    Raises `ConfigError` and `StoreError`.
    """
    site = shared_site_of(settings, environ)
    return replica_stores_in(site, settings, on_close=site.shared.close)


def file_stores_of(settings: Settings) -> FileStores:
    """The files of this machine. Nothing is opened or made before it is asked for."""
    return store.FileStores(store_places_of(settings))


def store_places_of(settings: Settings) -> StorePlaces:
    """Where the files of all stores are."""
    path, own = settings.store_path, tenant_folder(config_folder(), settings.tenant)
    return store.StorePlaces(
        settings.state_folder,
        None if path == ":memory:" else Path(path),
        retention_of(settings) if settings.events_path else None,
        {
            "servers.json": own / own_servers_file().name,
            "rules.json": own / rules_file().name,
            "settings.toml": tenant_document_file(settings.tenant),
        },
    )


def event_log_of(settings: Settings, stores: Stores) -> EventLog:
    """The log of events that the settings name. Nothing is written before the first event."""
    observe = settings.observe
    opened = (lambda: stores.events) if settings.events_path else None
    counters = EventCounters() if observe.metrics else None
    spool = settings.events_path.with_name("events.waiting") if settings.events_path else None
    return EventLog(opened, keep_queries=observe.keep_queries, counters=counters, spool=spool)


def tracer_of(settings: Settings, environ: Mapping[str, str]) -> Tracer | None:
    """Who takes spans, if the settings name a collector. Raises `ConfigError`.

    Where they name none, the standard variables may, for settings that are the user's.
    """
    observe = settings.observe
    if not observe.otlp:
        asked = settings.rules_file is not None and "OTEL_EXPORTER_OTLP_ENDPOINT" in environ
        target = standard_target(environ) if asked and can_export() else None
        return _tracer_to(target, settings) if target else None
    if not can_export():
        remedy = "install it: pip install 'toolcrib[otel]'"
        raise ConfigError(f"`observe.otlp` is set, and sends nothing without its extra; {remedy}")
    missing = [name for name in observe.otlp_headers_env.values() if not environ.get(name)]
    if missing:
        problem = f"the variable {missing[0]} of `observe.otlp_headers_env` is not set"
        raise ConfigError(f"{problem}, so no traces are sent; set it, and start again")
    headers = {name: environ[held] for name, held in observe.otlp_headers_env.items()}
    return _tracer_to(OtlpTarget(observe.otlp, headers), settings)


def metrics_problem(settings: Settings) -> str:
    """Why there is no page for Prometheus though the settings want one; "" if nothing is wrong."""
    if not settings.observe.metrics or can_measure():
        return ""
    remedy = "install it: pip install 'toolcrib[metrics]'"
    return f"`observe.metrics` is on, and there is no page without its extra; {remedy}"


def _tracer_to(target: OtlpTarget, settings: Settings) -> Tracer:
    return Tracer(partial(_exporter, target), content=settings.observe.otlp_content)


def _exporter(target: OtlpTarget) -> SpanExporter:
    from toolcrib.observe import OtlpExporter  # noqa: PLC0415 - loads the extra

    return OtlpExporter(target)


@contextmanager
def opened_events(settings: Settings, *, make: bool = False) -> Generator[EventStore | None]:
    """The log of events alone, for whoever reads it; the store is asked whether there is one.

    None where nothing is logged, and where nothing was logged yet; with `make` it is made then.
    Raises `ConfigError` and `StoreError`.
    """
    if settings.events_path is None:
        yield None
        return
    with closing(stores_of(settings)) as stores:
        yield stores.events if make or stores.has_events else None


def retention_of(settings: Settings) -> Retention:
    """How much of the log of events stays."""
    observe = settings.observe
    query_days = KEEP_QUERIES_DAYS if observe.keep_queries else 0.0
    return store.Retention(observe.rows, observe.days, query_days)


def database_of(settings: Settings, environ: Mapping[str, str]) -> Database:
    """The database of a shared store; nothing is sent to it yet. Raises `ConfigError`."""
    if not settings.database:
        remedy = "set it to postgresql://user@host/database"
        raise ConfigError(f"the setting `store` names no database; {remedy}")
    if find_spec("psycopg") is None:
        remedy = "install it: pip install 'toolcrib[postgres]'"
        raise ConfigError(f"`store` is a database, and needs its extra; {remedy}")
    from toolcrib.store.postgres import Database, DatabaseAddress  # noqa: PLC0415 - the extra

    password = _variable(settings.store_password_env, "store_password_env", environ)
    return Database(DatabaseAddress(settings.database, password))


def tenant_places_of(settings: Settings, tenant: str, key: bytes) -> TenantPlaces:
    """What belongs to a tenant of a shared store, besides its rows. `key` is the shared secret."""
    from toolcrib.store.postgres import TenantPlaces  # noqa: PLC0415 - the extra

    retention = retention_of(settings) if settings.observe.enabled else None
    return TenantPlaces(tenant, settings.of_tenant(tenant).state_folder, key, retention)


def shared_key_of(settings: Settings, environ: Mapping[str, str]) -> bytes:
    """The secret that the gateways of a shared store have in common. Raises `ConfigError`."""
    named, file = settings.install_key_env, settings.install_key_file
    if bool(named) == bool(file):
        which = "both are set: take one out" if named else "set one, the same for all gateways"
        todo = f"of `install_key_env` and `install_key_file` {which}"
        raise ConfigError(f"a shared store needs one secret; {todo}")
    where = f"the variable {named}" if named else str(file)
    said = _variable(named, "install_key_env", environ)
    content = said.encode() if said is not None else _key_file(file or Path())
    key = _key(content)
    if key is None:
        remedy = "make one: openssl rand -hex 32"
        raise ConfigError(f"{where} has no key of 64 hexadecimal digits; {remedy}")
    return key


def _variable(name: str, setting: str, environ: Mapping[str, str]) -> str | None:
    """What a variable says that a setting names; None if it names none. Raises `ConfigError`."""
    if not name:
        return None
    if not environ.get(name):
        raise ConfigError(f"the variable {name} of `{setting}` is not set; set it, and start again")
    return environ[name]


def _key_file(path: Path) -> bytes:
    try:
        return read_plain_file(path, LONGEST_KEY)
    except OSError as error:
        problem = f"{path}: {error.strerror or error}"
        raise ConfigError(f"{problem}; make it readable for you alone") from error


def _key(content: bytes) -> bytes | None:
    """The key that a text or a file has; None if it has none."""
    if len(content) == KEY_BYTES:
        return content
    try:
        key = bytes.fromhex(content.decode("ascii").strip())
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None


def deferral_of(
    settings: Settings,
    tool_search: str | None,
    context_window: int | None,
    style: str | None = None,
) -> Deferral:
    """When and how a session defers, by the settings and by what it says itself.

    With the style `code` all waits that may, at any size: programs call what is not listed. Raises
    `ConfigError`.
    """
    own = settings.session
    try:
        trigger = DeferralTrigger.read(tool_search or settings.tool_search)
    except ValueError as error:
        raise ConfigError(str(error)) from None
    chosen = _style_of(settings, trigger, tool_search, style)
    is_code = chosen == "code"
    return session.Deferral(
        trigger=DeferralTrigger("on") if is_code else trigger,
        threshold=0 if is_code else own.threshold,
        never_defer=frozenset(own.never_defer),
        style=chosen,
        context_window=context_window or own.context_window,
    )


def session_options_of(
    settings: Settings, deferral: Deferral, prefetch: str | None = None
) -> SessionOptions:
    """How a session behaves, by the settings and by what it says itself. Raises `ConfigError`."""
    own = settings.session
    check(prefetch, PrefetchMode | None, "prefetch=")
    wanted = own.prefetch if prefetch is None else cast("PrefetchMode", prefetch)
    return session.SessionOptions(
        style=deferral.style,
        auto_reveal=own.auto_reveal,
        keep_called=deferral.trigger.kind == "conversation",
        most_revealed=settings.search.most,
        reveal_tokens=own.reveal_tokens,
        summary_tokens=own.summary_tokens,
        answer_tokens=own.answer_tokens,
        # In code mode nothing is revealed: there is nothing to show before a search.
        prefetch="off" if deferral.style == "code" else wanted,
        prefetch_tokens=own.prefetch_tokens,
    )


def _style_of(
    settings: Settings, trigger: DeferralTrigger, tool_search: str | None, style: str | None
) -> DeferStyle:
    """How deferred tools are shown. Raises `ConfigError`.

    A session that says itself that it wants all tools has them, whatever the settings say of code.
    """
    check(style, session.DeferStyle | None, "style=")
    found = cast("DeferStyle", settings.session.style if style is None else style)
    if found != "code" or trigger.kind != "off":
        return found
    if tool_search and style is None:
        return "hidden"
    problem = "the style `code` lists no tools, and `tool_search` is off, which lists all"
    raise ConfigError(f"{problem}; set one of the two otherwise")


def app_rules_of(settings: Settings) -> AppRules:
    """The rules about apps that the settings make."""
    own = settings.apps
    timeouts = apps.AppTimeouts(own.start_timeout_s, own.idle_timeout_s)
    return apps.AppRules(own.launch, frozenset(own.trusted), timeouts)


def mcp_rules_of(settings: Settings) -> ServerRules:
    """What the settings say of all MCP servers."""
    return mcp.ServerRules(settings.mcp.always_load, settings.mcp.env_from)


def embedder_of(settings: Settings) -> Embedder | None:
    """The embedder that the settings name, without a cache. Raises `ConfigError`, `EmbedError`."""
    embed = settings.embed
    return make_embedder(
        embedder=embed.embedder,
        model=embed.model,
        url=embed.url,
        api_key=embed.api_key.get_secret_value() if embed.api_key else None,
        timeout_s=embed.timeout_s,
        batch=embed.batch,
        retries=embed.retries,
        dimensions=embed.dimensions,
    )


def use_advice_of(settings: Settings, pool: Pool, facts: FactsOf, store: StoreOpener) -> UseAdvice:
    """What use tells searches; what it learns goes to the store, unless nothing is to be kept."""
    history = UseHistory(None if settings.store_path == ":memory:" else store)
    boost = settings.search.learn_boost if settings.search.learn else 0.0
    return UseAdvice(history, pool, facts, boost=boost)
