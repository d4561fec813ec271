"""Several tenants in one gateway: nothing of one is visible to another, by any route of HTTP."""

import asyncio
import json
import logging
import threading
from typing import Any

import pytest

from tests.gateway.daemons import INITIALIZE, files_in, request, rpc, with_token
from tests.gateway.key_names import named
from tests.gateway.tenancy import (
    WORDS,
    Gateway,
    Site,
    gateway,
    result_of,
    run,
)
from tests.waiting import until_async
from toolcrib.errors import ConfigError
from toolcrib.gateway import KeyTerms, ask_daemon
from toolcrib.gateway.tenants import check_tenants
from toolcrib.settings import Settings

LEGACY = {"MCP-Protocol-Version": "2025-11-25"}


async def ask(site: Site, do: str, **more: Any) -> Any:
    """Ask the gateway as a command of the operator does."""
    return await asyncio.to_thread(ask_daemon, files_in(site.folder), do, **more)


async def begin_session(at: Gateway, key: str) -> str:
    begun = await request(at.port, headers=with_token(key), body=rpc("initialize", **INITIALIZE))
    assert begun.status == 200, begun
    return begun.headers["mcp-session-id"]


async def in_session(at: Gateway, key: str, session: str) -> int:
    headers = with_token(key, **{"Mcp-Session-Id": session}, **LEGACY)
    return (await request(at.port, headers=headers, body=rpc("tools/list"))).status


def test_nothing_of_one_tenant_is_shown_to_another(site: Site, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.INFO)
    keys = {tenant: site.key(tenant) for tenant in WORDS}  # of one name, as are their servers
    for tenant in WORDS:
        site.add_shop(tenant)
        site.write(tenant, "rules.json", json.dumps(RULES).encode())

    async def test() -> None:
        async with gateway(site, site.settings()) as at:
            for tenant, key in keys.items():
                await at.until_found(tenant, key, "look_up")
                await see_all(at, tenant, key)
            await use_handles_of_another(at, keys)
            await approve_at_one(site, at, keys)
            await scrape(site, at)
            sessions = {tenant: await begin_session(at, key) for tenant, key in keys.items()}
            assert await in_session(at, keys["acme"], sessions["acme"]) == 200
            assert await in_session(at, keys["globex"], sessions["acme"]) == 404
            assert await in_session(at, keys["acme"], sessions["globex"]) == 404
        for tenant, word in WORDS.items():
            others = {*WORDS.values()} - {word}
            told = b"".join(at.said[tenant]).decode()
            assert word in told
            assert not [other for other in others if other in told]
            assert not [name for name in WORDS if name != tenant and name in told]
        for tenant, word in WORDS.items():
            logged = site.stores(tenant).events.after(0, 100).values()
            names = {each.name for each in logged if each.kind == "call"}
            assert {"mcp_shop_look_up", f"mcp_shop_only_{word}"} <= names
            assert not [n for n in names for w in WORDS.values() if w in n and w != word]
            callers = {named(each.caller) for each in logged if each.kind == "call"}
            assert callers == {f"key:{tenant}/ann@default"}

    run(test)
    assert not [word for word in WORDS.values() if word in caplog.text], (
        "no text of a tool is logged"
    )


RULES = {"rules": [{"verdict": "ask", "pattern": "shop/cancel"}]}


async def see_all(at: Gateway, tenant: str, key: str) -> None:
    """Search, browse, describe, call, and go wrong."""
    word = WORDS[tenant]
    (other,) = (each for each in WORDS.values() if each != word)
    for query in (
        "look up an order",
        "the long report",
        "only",
        "",
        f"select:mcp_shop_only_{other[:3]}",
    ):
        await at.tool(tenant, key, "tool_search", queries=[query])
    await at.tool(tenant, key, "tool_describe", names=["mcp_shop_look_up", "mcp_shop_cancel"])
    for name in ("look_up", f"only_{word}"):
        answer = await at.tool(tenant, key, "tool_call_read", name=f"mcp_shop_{name}", arguments={})
        assert f"{name} at {word}" in str(result_of(answer))
    wrong = await at.tool(tenant, key, "tool_call_read", name="mcp_shop_only", arguments={})
    assert result_of(wrong)["isError"]


async def use_handles_of_another(at: Gateway, keys: dict[str, str]) -> None:
    """A set and a long result of one are nothing at another."""
    found = await at.tool("acme", keys["acme"], "tool_search", queries=["report"])
    handle = result_of(found)["_meta"]["toolcrib/set"]
    paged = await at.tool(
        "acme", keys["acme"], "tool_call_read", name="mcp_shop_report", arguments={}, set=handle
    )
    handle = result_of(paged)["_meta"]["toolcrib/handle"]
    again = await at.tool("acme", keys["acme"], "tool_result", handle=handle, page=2)
    assert "aardvark has a line" in str(result_of(again))
    refused = await at.tool("globex", keys["globex"], "tool_result", handle=handle, page=2)
    assert result_of(refused)["isError"]


async def scrape(site: Site, at: Gateway) -> None:
    """The page of metrics is that of the gateway's own tenant, and opens with its keys alone."""
    terms = KeyTerms((), ("metrics",))
    pages = {
        tenant: await request(
            at.port, "GET", "/metrics", with_token(site.key(tenant, "prometheus", terms))
        )
        for tenant in ("default", *WORDS)
    }
    assert [each.status for each in pages.values()] == [200, 401, 401]
    told = pages["default"].body.decode()
    assert not [word for word in (*WORDS, *WORDS.values(), "shop") if word in told]


async def approve_at_one(site: Site, at: Gateway, keys: dict[str, str]) -> None:
    """Of the same call by people of the same name, the one that was approved is made."""
    for tenant, key in keys.items():
        waits = await at.tool(tenant, key, "tool_call", name="mcp_shop_cancel", arguments={})
        assert result_of(waits)["isError"]
    assert await ask(site, "approvals") == []
    (ticket,) = await ask(site, "approvals", tenant="acme")
    assert named(ticket["caller"]) == "key:acme/ann@default"
    with pytest.raises(ConfigError, match="no call waits"):
        await ask(site, "decide", id=ticket["id"], allowed=True, tenant="globex")
    assert await ask(site, "decide", id=ticket["id"], allowed=True, tenant="acme")
    for tenant, key in keys.items():
        answer = await at.tool(tenant, key, "tool_call", name="mcp_shop_cancel", arguments={})
        assert ("cancel at aardvark" in str(result_of(answer))) is (tenant == "acme")


def test_a_key_of_a_tenant_that_is_not_served_is_unknown(site: Site):
    keys = {name: site.key(name) for name in ("acme", "globex", "default")}
    site.shared.tenants.switch("globex", disabled=True)

    async def test() -> None:
        async with gateway(site, site.settings(tenants=["acme", "globex"])) as at:

            async def answers(key: str) -> tuple[int, bytes]:
                answer = await at.tool("", key, "tool_search", queries=["x"])
                return answer.status, answer.body

            no_key = await answers(f"tc_{'0' * 12}_{'x' * 43}")
            assert no_key[0] == 401
            forged = keys["acme"][:-1] + ("x" if keys["acme"][-1] != "x" else "y")
            assert await answers(forged) == no_key
            assert not list(at.daemon.tenants), "nothing is opened for it"
            assert (await answers(keys["acme"]))[0] == 200
            assert (await answers(keys["default"]))[0] == 200, "its own tenant"
            assert await answers(keys["globex"]) == no_key, "it is switched off"
            assert await answers(site.key("initech")) == no_key, "no pattern names it"
            assert await answers(forged) == no_key
            session = await begin_session(at, keys["acme"])
            assert await in_session(at, keys["acme"], session) == 200
            site.shared.tenants.switch("acme", disabled=True)

            async def is_refused() -> bool:
                return await answers(keys["acme"]) == no_key

            await until_async(is_refused, "a tenant that was switched off is refused")
            assert await in_session(at, keys["acme"], session) == 401
            site.shared.tenants.switch("acme", disabled=False)

            async def is_back() -> bool:
                return (await answers(keys["acme"]))[0] == 200

            await until_async(is_back, "it is served again")

    run(test)


def test_tenants_are_for_a_shared_store():
    with pytest.raises(ConfigError, match="is for a shared store"):
        check_tenants(Settings.model_validate({"gateway": {"tenants": ["*"]}}))


def test_of_too_many_the_idle_one_used_longest_ago_is_closed_and_comes_back(site: Site):
    keys = {name: site.key(name) for name in ("acme", "globex", "initech")}

    async def test() -> None:
        async with gateway(site, site.settings(tenant_memory_mb=1)) as at:

            async def opened(name: str) -> None:
                assert (await at.tool(name, keys[name], "tool_search", queries=["x"])).status == 200

            def is_open(*names: str) -> bool:
                return {each.name for each in at.daemon.tenants} == {*names}

            async with at.daemon.tenants.held("acme"):
                await opened("globex")
                await opened("initech")
                await until_async(lambda: is_open("acme", "initech"), "globex makes room")
            await opened("initech")
            await opened("globex")
            await until_async(lambda: is_open("initech", "globex"), "acme makes room")
            session = await begin_session(at, keys["acme"])
            await until_async(lambda: is_open("globex", "acme"), "initech makes room")
            await opened("globex")
            await opened("initech")
            await until_async(lambda: is_open("acme", "initech"), "acme has a session")
            assert await in_session(at, keys["acme"], session) == 200

    run(test)


def test_tenants_share_connections_and_threads(site: Site):
    names = [f"tenant{number}" for number in range(24)]
    keys = {name: site.key(name) for name in names}

    async def test() -> None:
        async with gateway(site, site.settings()) as at:
            before = own_threads()
            answers = await asyncio.gather(
                *(at.tool(name, key, "tool_search", queries=["x"]) for name, key in keys.items())
            )
            assert {each.status for each in answers} == {200}
            assert len(list(at.daemon.tenants)) == len(names)
            await until_async(lambda: own_threads() <= before, "no tenant has a thread of its own")
            name = site.address.text.rpartition("/")[2]
            sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
            with site.shared.database.transaction("", "read") as db:
                [(connections,)] = db.execute(sql.encode(), (name,)).fetchall()
            assert connections <= 2 * 9, "a pool and a listener, here and there"

    def own_threads() -> int:
        """Those that last: others end by themselves."""
        return sum(each.name.startswith("toolcrib") for each in threading.enumerate())

    run(test)
