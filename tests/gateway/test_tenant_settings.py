"""A tenant goes by settings of its own, and takes them while it is open."""

import asyncio
from typing import Any

import pytest

from tests.gateway.daemons import call
from tests.gateway.tenancy import Gateway, Site, gateway, run
from tests.waiting import until_async
from toolcrib.crib import Crib, open_tenant
from toolcrib.errors import StoreAway, StoreError
from toolcrib.gateway import KeyTerms, tenants

READING = b'[gateway.profiles.reading]\nkinds = ["read"]\n'


async def answered(at: Gateway, key: str, profile: str) -> str:
    """What a client of a profile gets: "" for an answer, else the code of the refusal."""
    answer = await call(at.port, key, "tool_search", f"/mcp/{profile}", queries=["x"])
    return "" if answer.status == 200 else answer.code


@pytest.mark.parametrize("hears", [True, False])
def test_a_change_of_them_is_taken_while_it_is_open(
    site: Site, hears: bool, monkeypatch: pytest.MonkeyPatch
):
    if not hears:  # as behind a pooler: then it is asked for
        monkeypatch.setattr("toolcrib.store.postgres.feed.CHANNEL", "another")
    terms = KeyTerms(("default", "reading"))
    acme, globex = site.key("acme", terms=terms), site.key("globex", terms=terms)
    site.write("acme", "settings.toml", READING)

    async def test() -> None:
        async with gateway(site, site.settings()) as at:
            assert await answered(at, acme, "reading") == ""
            assert await answered(at, globex, "reading") == "no_profile"
            site.write("globex", "settings.toml", READING)
            site.write("acme", "settings.toml", b"[gateway]\nrate = 1\n")

            async def is_taken() -> bool:
                swapped = await answered(at, globex, "reading")
                return not swapped and await answered(at, acme, "reading") == "no_profile"

            await until_async(is_taken, "each goes by its own")
            assert await answered(at, acme, "default") in ("", "too_many_requests")
            assert await answered(at, acme, "default") == "too_many_requests"
            assert await answered(at, globex, "default") == ""

    run(test)


def test_a_tenant_whose_settings_cannot_be_used_is_not_served(site: Site):
    acme, globex = site.key("acme"), site.key("globex")
    site.write("acme", "settings.toml", b"[gateway]\nport = 80\n")

    async def test() -> None:
        async with gateway(site, site.settings()) as at:
            assert await answered(at, acme, "default") == "tenant_unavailable"
            assert await answered(at, globex, "default") == ""
            site.write("acme", "settings.toml", b"")

            async def is_served() -> bool:
                return await answered(at, acme, "default") == ""

            await until_async(is_served, "it is opened by what can be used")

    run(test)


def test_a_tenant_whose_store_answers_late_is_waited_for(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    """As on a busy machine: nobody is refused for that, and whoever comes meanwhile waits too."""
    acme, tries = site.key("acme"), list[str]()

    def late(*given: Any) -> Crib | None:
        tries.append(given[1])
        if len(tries) < 3:
            raise [StoreAway, StoreError][len(tries) - 1]("it took too long; try again later")
        return open_tenant(*given)

    monkeypatch.setattr(tenants, "open_tenant", late)

    async def test() -> None:
        async with gateway(site, site.settings()) as at:
            assert (
                await asyncio.gather(*(answered(at, acme, "default") for _ in range(3))) == [""] * 3
            )
            assert tries == ["acme"] * 3

    run(test)


def test_a_tenant_whose_store_is_away_is_refused_in_the_end(
    site: Site, monkeypatch: pytest.MonkeyPatch
):
    def away(*_given: Any) -> Crib | None:
        raise StoreAway("it does not answer")

    monkeypatch.setattr(tenants, "open_tenant", away)
    monkeypatch.setattr(tenants, "OPEN_S", 0.1)
    acme = site.key("acme")

    async def test() -> None:
        async with gateway(site, site.settings()) as at:
            assert await answered(at, acme, "default") == "store_away"

    run(test)
