"""Every setting reaches the stage that it is for, and each default stands once.

`tests/search/test_rules.py` looks at the rules of search one by one.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import toolcrib
from toolcrib import wiring
from toolcrib.execute import CallPolicy, Rulebook
from toolcrib.pool import Pool
from toolcrib.program import ProgramLimits
from toolcrib.search import ArmWeights, PoolFacts, SearchRules
from toolcrib.session import Deferral, SessionOptions
from toolcrib.settings import Secret, Section, Settings, documented
from toolcrib.sources.apps import AppRules, AppTimeouts
from toolcrib.sources.mcp import ServerRules
from toolcrib.store import Retention
from toolcrib.wiring import embedder_of

SOURCE = Path(toolcrib.__file__).parent

READ_ELSEWHERE = {
    "store": "settings/schema.py",
    "stale_s": "wiring.py",  # with a database alone
    "index": "crib/live_index.py",
    "builtin_tools": "sources/settings_sources.py",
    "file_roots": "sources/builtin_tools.py",
    "plugins": "sources/settings_sources.py",
    "tools": "sources/settings_sources.py",
    "tool_modules": "sources/settings_sources.py",
    "skills": "sources/settings_sources.py",
    "agents": "sources/settings_sources.py",
    "mcp_config": "crib/inventory.py",
    "search.internal": "crib/inventory.py",
    "embed.api_key_env": "settings/loading.py",
    "embed.wait_s": "crib/live_index.py",
    "embed.cache": "crib/live_index.py",
    "approval.elicitation": "gateway/client_approver.py",
    "approval.wait_s": "gateway/caller_view.py",
    "approval.program_kinds": "crib/programs.py",
    "observe.enabled": "settings/schema.py",
    "observe.log_format": "gateway/daemon_log.py",
    "observe.log_level": "gateway/daemon_log.py",
    "observe.access_log": "gateway/daemon.py",
    "apps.enabled": "crib/inventory.py",
    "program.at_once": "crib/programs.py",
    "mcp.warm_up": "crib/searcher.py",
    "gateway.bind": "gateway/binding.py",
    "gateway.port": "gateway/http/listener.py",
    "gateway.tls_certificate": "gateway/binding.py",
    "gateway.tls_key": "gateway/binding.py",
    "gateway.behind_proxy": "gateway/binding.py",
    "gateway.trusted_proxies": "gateway/binding.py",
    "gateway.drain_s": "gateway/daemon.py",
    "gateway.mode": "gateway/principal.py",
    "gateway.hosts": "gateway/http/guard.py",
    "gateway.origins": "gateway/http/guard.py",
    "gateway.body_bytes": "gateway/http/guard.py",
    "gateway.oauth.issuer": "gateway/oauth/tokens.py",
    "gateway.oauth.resource": "gateway/oauth/resource_metadata.py",
    "gateway.oauth.audience": "gateway/oauth/tokens.py",
    "gateway.oauth.scopes": "gateway/credentials.py",
    "gateway.oauth.groups_claim": "gateway/oauth/tokens.py",
    "gateway.oauth.groups": "gateway/oauth/person.py",
    "gateway.oauth.tenant_claim": "gateway/oauth/tokens.py",
    "gateway.tenants": "gateway/tenants.py",
    "gateway.tenant_memory_mb": "gateway/tenants.py",
    "gateway.rate": "gateway/credentials.py",
    "gateway.at_once": "gateway/credentials.py",
    "gateway.tenant_rate": "gateway/credentials.py",
    "gateway.tenant_at_once": "gateway/credentials.py",
    "gateway.idle_exit_s": "gateway/daemon.py",
    "dashboard.approve": "dashboard/server.py",
    "dashboard.hosts": "dashboard/process.py",
}
"""The settings that `toolcrib.wiring` does not hand on, and who reads each of them."""

FITTED = {(ArmWeights, "like"), (ArmWeights, "bm25")}
"""Constants of search that nobody can set."""
LEFT_OUT = {(Rulebook, "rules"), (Rulebook, "written"), (Rulebook, "profiles")}
"""Empty means that there are none: no default of a setting."""


class Reading:
    """Settings that note what is read of them."""

    def __init__(self, values: Section, read: set[str], prefix: str = "") -> None:
        self._values = values
        self._read = read
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._values, name)
        key = f"{self._prefix}{name}"
        if isinstance(value, Section):
            return Reading(value, self._read, f"{key}.")
        self._read.add(key)
        return value


def wired() -> set[str]:
    """The keys that the functions of `toolcrib.wiring` read."""
    read: set[str] = set()
    values = Settings.model_validate(
        {
            "store": "postgresql://u@h/d",
            "store_password_env": "PASSWORD",
            "install_key_env": "KEY",
            "embed": {"api_key": Secret("x")},
            "observe": {"otlp": "http://127.0.0.1:1"},
            "search": {"learn": True},
        }
    )
    settings: Any = Reading(values, read)
    wiring.rules_of(settings)
    wiring.glossary_of(settings)
    wiring.policy_of(settings)
    wiring.retention_of(settings)
    wiring.event_log_of(settings, wiring.file_stores_of(settings))
    wiring.tracer_of(settings, {})
    deferral = wiring.deferral_of(settings, None, None)
    wiring.session_options_of(settings, deferral)
    wiring.program_limits_of(settings)
    wiring.app_rules_of(settings)
    wiring.mcp_rules_of(settings)
    embedder_of(settings)
    environ = {"PASSWORD": "x", "KEY": "00" * 32}
    wiring.database_of(settings, environ)
    wiring.shared_key_of(settings, environ)
    wiring.use_advice_of(settings, Pool(), PoolFacts.of, lambda **_: None)
    return read


KEYS = [each.key for each in documented()]


@pytest.mark.parametrize("key", KEYS)
def test_every_setting_is_handed_on_or_has_its_reader(key: str):
    assert (key in wired()) != (key in READ_ELSEWHERE)


@pytest.mark.parametrize("key", READ_ELSEWHERE)
def test_the_reader_of_a_setting_reads_it(key: str):
    assert key in KEYS
    text = (SOURCE / READ_ELSEWHERE[key]).read_text(encoding="utf-8")
    assert f".{key.rpartition('.')[2]}" in text


def fields_with_defaults() -> Iterator[tuple[type, str]]:
    filled = (SearchRules, ArmWeights, CallPolicy, Rulebook, AppRules, AppTimeouts)
    for stage in (*filled, Deferral, ProgramLimits, SessionOptions):
        for field in dataclasses.fields(stage):
            if not field.init:
                continue  # nobody sets it
            missing = dataclasses.MISSING
            if field.default is not missing or field.default_factory is not missing:
                yield stage, field.name
    for pair in (Retention, ServerRules):
        yield from ((pair, name) for name in pair._field_defaults)


def test_a_stage_has_no_default_of_its_own_for_a_setting():
    assert set(fields_with_defaults()) == FITTED | LEFT_OUT
