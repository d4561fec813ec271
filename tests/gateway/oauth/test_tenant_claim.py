"""People of several tenants, each known by a claim that the provider has signed."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.daemons import bare, call
from tests.gateway.oauth.provider import Provider, free_port
from tests.gateway.tenancy import Site, gateway, run
from toolcrib.gateway import keys_in
from toolcrib.gateway.credentials import AccessDenied, Authenticator
from toolcrib.gateway.oauth.person import Person

ISSUED: dict[str, Any] = {
    "groups": frozenset({"*"}),
    "scopes": frozenset[str](),
    "until": time.time() + 600,
}
GROUPS = b"""[gateway.oauth.groups]
eng = ["default"]
"""


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[Provider]:
    provider = Provider(tmp_path)
    with provider.running():
        yield provider


def test_a_person_is_of_the_tenant_that_their_token_names(site: Site, provider: Provider):
    for tenant in ("acme", "globex", "off"):
        site.shared.tenants.add(tenant)
    site.shared.tenants.switch("off", disabled=True)
    site.write("acme", "settings.toml", GROUPS)
    port = free_port()
    oauth = {"issuer": provider.issuer, "tenant_claim": "tenant"}

    async def test() -> None:
        async with gateway(site, site.settings(oauth=oauth, port=port)) as at:

            async def status(tenant: object) -> int:
                token = provider.signed(aud=f"http://127.0.0.1:{port}/mcp", tenant=tenant)
                return (await call(at.port, token, "tool_search", queries=["x"])).status

            assert await status("acme") == 200
            assert await status("globex") == 403, "there the group has no profile"
            for stranger in ("off", "nobody", "../acme", "", None, ["acme"], 7):
                assert await status(stranger) == 401, stranger
            (acme,) = (each for each in at.daemon.tenants if each.name == "acme")
            (person,) = acme.state.sessions._transports
            assert (person.tenant, person.id.partition("/")[0]) == ("acme", "oidc:acme")
            assert [each.owner for each in person.quotas] == [person.id, "tenant:acme"]
            assert {each.name for each in at.daemon.tenants} == {"acme", "globex"}

    run(test)


@pytest.mark.parametrize(("claim", "served"), [("", "acme globex"), ("tenant", "acme")])
def test_a_gateway_of_one_tenant_serves_no_person_of_another(
    tmp_path: Path, claim: str, served: str
):
    oauth = {"issuer": "https://x.example", "tenant_claim": claim, "groups": {"*": ["default"]}}
    settings = bare(gateway={"oauth": oauth}).gateway
    check = Authenticator(settings, keys_in(tmp_path), tenant="acme")
    for tenant in ("acme", "globex", None):
        person = Person("oidc:1:ann", **ISSUED, tenant=tenant)
        if tenant in served.split() or not claim:
            assert check.admitted(person, "default").id == "oidc:acme/1:ann"
        else:
            with pytest.raises(AccessDenied, match="names no tenant"):
                check.admitted(person, "default")
