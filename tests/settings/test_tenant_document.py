"""What a tenant of a shared store may set, and what stays the gateway's."""

from pathlib import Path

import pytest

from toolcrib.errors import ConfigError
from toolcrib.settings import (
    Settings,
    documented,
    load_settings,
    read_tenant_document,
    tenant_document_file,
    with_tenant_document,
)

STORE = "postgresql://toolcrib@127.0.0.1/none"
ACME = """
[search]
limit = 3
[gateway]
rate = 60
[gateway.profiles.reading]
kinds = ["read"]
[gateway.oauth.groups]
eng = ["reading"]
"""
GATEWAY = {
    "store": STORE,
    "skills": ["/srv/skills"],
    "tool_modules": ["tools"],
    "mcp": {"env_from": ["SECRET"]},
    "search": {"limit": 7, "most": 9},
    "gateway": {"rate": 10, "profiles": {"all": {}}, "oauth": {"groups": {"ops": ["all"]}}},
}


def written(tenant: str, text: str) -> Path:
    path = tenant_document_file(tenant)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_it_goes_over_the_settings_of_the_gateway_and_of_no_other_tenant():
    written("acme", ACME)
    gateway = Settings.model_validate(GATEWAY)
    acme, globex = (with_tenant_document(gateway.of_tenant(name)) for name in ("acme", "globex"))
    assert (acme.search.limit, acme.search.most) == (3, 9)
    assert acme.gateway.rate == 60
    assert {*acme.gateway.profiles} == {"all", "reading"}
    assert {*acme.gateway.oauth.groups} == {"ops", "eng"}
    assert (globex.search.limit, globex.gateway.rate) == (7, 10)
    assert {*globex.gateway.profiles} == {"all"}
    assert {*acme.of_tenant("globex").gateway.profiles} == {"all"}, "by whichever way it is made"


def test_another_tenant_has_nothing_of_this_machine():
    acme = Settings.model_validate(GATEWAY).of_tenant("acme")
    assert (acme.skills, acme.tool_modules, acme.mcp.env_from) == ((), (), ())
    assert not acme.builtin_tools
    assert not acme.plugins
    assert not acme.apps.enabled
    assert acme.mcp_config == ()


def test_a_gateway_of_one_tenant_goes_by_it_too(monkeypatch: pytest.MonkeyPatch):
    written("acme", ACME)
    monkeypatch.setenv("TOOLCRIB_TENANT", "acme")
    environ = {"TOOLCRIB_STORE": STORE, "TOOLCRIB_SEARCH__LIMIT": "6"}
    assert load_settings(environ).search.limit == 3
    assert load_settings(environ).of_gateway.search.limit == 6
    assert load_settings({}).search.limit == Settings().search.limit, "without a shared store"


def is_refused(key: str) -> bool:
    """Whether a tenant may not set it at all; a value that is wrong is another matter."""
    *sections, name = key.split(".")
    text = f"[{'.'.join(sections)}]\n{name} = 1\n" if sections else f"{name} = 1\n"
    try:
        read_tenant_document(text.encode(), "acme")
    except ConfigError as error:
        return "is no setting of a tenant" in str(error)
    return False


def test_all_that_is_not_listed_is_the_gateways():
    whole = ("search", "call", "approval", "session")
    allowed = {each.key for each in documented() if not is_refused(each.key)}
    single = {key for key in allowed if not key.startswith(tuple(f"{name}." for name in whole))}
    assert single == {
        *("tool_search", "mcp.warm_up", "mcp.always_load"),
        *("observe.keep_queries", "observe.days", "observe.rows"),
        *("gateway.mode", "gateway.rate", "gateway.at_once", "gateway.tenant_rate"),
        *("gateway.tenant_at_once", "gateway.profiles", "gateway.oauth.groups"),
    }
    within = {each.key for each in documented() if each.key.partition(".")[0] in whole}
    assert within - allowed == {"search.glossaries"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[gateway]\nbind = '0.0.0.0'", "`gateway.bind` is no setting of a tenant"),
        ("store = ':memory:'", "`store` is no setting of a tenant"),
        ("[search]\nlimt = 3", "there is no setting 'limt'; the nearest is 'search.limit'"),
        ("[search]\nlimit = 0", "setting search.limit"),
        ("[search", "not readable as TOML"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_tenant_and_the_key(text: str, problem: str):
    with pytest.raises(ConfigError) as caught:
        read_tenant_document(text.encode(), "acme")
    assert "the settings of the tenant 'acme'" in str(caught.value)
    assert problem in str(caught.value)
