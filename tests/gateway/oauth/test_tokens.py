"""Tokens of a real provider, and those of whoever is not it."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.oauth.provider import Provider, SigningKey
from tests.waiting import HANG_S
from toolcrib.gateway.oauth import issuer_keys
from toolcrib.gateway.oauth.issuer_keys import (
    FRESH_S,
    LONGEST_PAUSE_S,
    PAUSE_S,
    STALE_S,
    IssuerKeys,
)
from toolcrib.gateway.oauth.person import BadToken, IssuerUnreachable, Person
from toolcrib.gateway.oauth.tokens import LONGEST_TOKEN, TokenVerifier
from toolcrib.settings import OAuthSettings

RESOURCE = "http://127.0.0.1:4567/mcp"
GROUPS = {"eng": ("default", "dev"), "ops": ("ops",)}
OAUTH = OAuthSettings(groups=GROUPS)


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Checked:
    """A verifier with a clock of its own, and how often it has asked the provider."""

    verifier: TokenVerifier
    clock: Clock
    fetched: list[str]

    async def person(self, token: str, profile: str = "default") -> Person:
        return await self.verifier.verify(token, profile)

    async def refused(self, token: str, profile: str = "default") -> str:
        with pytest.raises(BadToken) as refused:
            await self.verifier.verify(token, profile)
        assert token[:20] not in str(refused.value)
        return str(refused.value)


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """For tests that leave it as it is."""
    provider = Provider(tmp_path_factory.mktemp("provider"))
    with provider.running():
        yield provider


Use = Callable[..., Checked]


@pytest.fixture
def using(monkeypatch: pytest.MonkeyPatch) -> Use:
    fetched: list[str] = []
    fetch = issuer_keys.fetch_keys

    def counting(issuer: str) -> Any:
        fetched.append(issuer)
        return fetch(issuer)

    monkeypatch.setattr(issuer_keys, "fetch_keys", counting)

    def use(provider: Provider, **settings: Any) -> Checked:
        clock = Clock()
        oauth = OAuthSettings(issuer=provider.issuer, groups=GROUPS, **settings)
        keys = IssuerKeys(provider.issuer, clock)
        return Checked(TokenVerifier(oauth, RESOURCE, keys), clock, fetched)

    return use


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def within() -> None:
        async with asyncio.timeout(HANG_S):
            await test()

    asyncio.run(within())


def test_a_token_of_the_provider_is_a_person_with_the_profiles_of_their_groups(
    provider: Provider, using: Use
):
    async def test() -> None:
        checked = using(provider)
        token = await asyncio.to_thread(provider.robot_token, RESOURCE)
        person = await checked.person(token)
        assert person.id.startswith("oidc:")
        assert person.id.endswith(":robot")
        assert person.profiles(OAUTH) == {"default", "dev"}
        assert person.scopes == {"tools"}
        assert person.until == json.loads(_unpacked(token.split(".")[1]))["exp"]
        for _ in range(50):
            await checked.person(token)
        assert len(checked.fetched) == 1

    run(test)


def test_a_group_that_somebody_has_left_counts_no_more_in_the_next_token(
    provider: Provider, using: Use
):
    async def test() -> None:
        checked = using(provider)
        provider.set_groups(robot=["ops", "unheard of"])
        try:
            token = await asyncio.to_thread(provider.robot_token, RESOURCE)
        finally:
            provider.set_groups(robot=["eng"])
        assert (await checked.person(token)).profiles(OAUTH) == {"ops"}
        stranger = await asyncio.to_thread(provider.robot_token, RESOURCE, "stranger")
        assert (await checked.person(stranger)).profiles(OAUTH) == frozenset()

    run(test)


def test_a_token_is_for_the_gateway_or_for_one_profile_of_it(provider: Provider, using: Use):
    async def test() -> None:
        checked = using(provider)
        whole = await asyncio.to_thread(provider.robot_token, RESOURCE)
        part = await asyncio.to_thread(provider.robot_token, f"{RESOURCE}/dev")
        other = await asyncio.to_thread(provider.robot_token, "http://127.0.0.1:4567/other")
        await checked.person(whole, "dev")
        await checked.person(part, "dev")
        assert "another audience" in await checked.refused(part, "default")
        assert "another audience" in await checked.refused(part, "de")
        assert "another audience" in await checked.refused(other)
        named = using(provider, audience="api://tools")
        assert "another audience" in await named.refused(whole)
        assert await named.person(provider.signed(aud=["x", "api://tools"]))

    run(test)


@pytest.mark.plan(105)
def test_no_token_is_good_that_the_issuer_has_not_signed_for_us_and_now(
    provider: Provider, using: Use
):
    signed, now = provider.signed, int(time.time())
    forger = SigningKey("first")  # with the id of the provider's own
    payload = json.loads(_unpacked(signed(aud=RESOURCE).split(".")[1]))
    wrong = {
        **{
            f"no signature, {none}": f"{_packed({'alg': none, 'kid': 'first'})}.{_packed(payload)}."
            for none in ("none", "nOnE", "", "HS256")
        },
        "HS256 by the public key": _hs256(payload, provider.keys[0].public_pem()),
        "a token that is bound to a key": signed(aud=RESOURCE, cnf={"jkt": "0ZcOC"}),
        "another's signature": signed(forger, aud=RESOURCE),
        "another's key in the header": signed(
            forger, aud=RESOURCE, headers={"jwk": _public(forger), "kid": "mine"}
        ),
        "an address of keys in the header": signed(
            forger, aud=RESOURCE, headers={"jku": "http://127.0.0.1:1/keys", "kid": "mine"}
        ),
        "a kid that is a path": signed(aud=RESOURCE, headers={"kid": "../../first"}),
        "no kid": signed(aud=RESOURCE, headers={"kid": None}),
        "a signature that was cut": signed(aud=RESOURCE)[:-20],
        "a critical extension": signed(aud=RESOURCE, headers={"crit": ["exp2"], "exp2": 1}),
        "not an access token": signed(aud=RESOURCE, headers={"typ": "logout+jwt"}),
        "another audience": signed(aud="http://127.0.0.1:9999/mcp"),
        "an audience that begins alike": signed(aud=f"{RESOURCE}x"),
        "no audience": signed(),
        "another issuer": signed(aud=RESOURCE, iss="https://accounts.example.com"),
        "the issuer with a slash": signed(aud=RESOURCE, iss=f"{provider.issuer}/"),
        "no issuer": signed(aud=RESOURCE, iss=None),
        "expired": signed(aud=RESOURCE, exp=now - 60),
        "no expiry": signed(aud=RESOURCE, exp=None),
        "not yet valid": signed(aud=RESOURCE, nbf=now + 600),
        "issued in the future": signed(aud=RESOURCE, iat=now + 600),
        "no subject": signed(aud=RESOURCE, sub=None),
        "huge": signed(aud=RESOURCE, filling="x" * LONGEST_TOKEN),
        "nothing": "",
        "not a token": "a.b.c",
        "deep": "[" * 5_000 + ".x.y",
        "another payload": _swapped(signed(aud=RESOURCE), {**payload, "groups": ["ops"]}),
    }

    async def test() -> None:
        checked = using(provider)
        assert await checked.person(signed(aud=RESOURCE))
        for name, token in wrong.items():
            with pytest.raises(BadToken) as refused:
                await checked.person(token)
            assert str(refused.value), name
        assert await checked.person(signed(aud=RESOURCE))
        assert len(checked.fetched) == 1, "what strangers send fetches nothing for a while"

    run(test)


def test_what_is_said_about_a_token_says_why(provider: Provider, using: Use):
    now, signed = int(time.time()), provider.signed

    async def test() -> None:
        checked = using(provider)
        assert "expired" in await checked.refused(signed(aud=RESOURCE, exp=now - 60))
        assert "not valid yet" in await checked.refused(signed(aud=RESOURCE, nbf=now + 600))
        assert "another issuer" in await checked.refused(signed(aud=RESOURCE, iss="https://x"))
        secret = provider.keys[0].public_pem()
        assert "public key" in await checked.refused(_hs256({"aud": RESOURCE}, secret))
        assert "needs exp" in await checked.refused(signed(aud=RESOURCE, exp=None))
        assert "longer than" in await checked.refused(signed(aud=RESOURCE, x="x" * LONGEST_TOKEN))

    run(test)


def test_subjects_are_never_taken_for_one_another(provider: Provider, using: Use):
    subjects = ["alice", "Alice", "alice@default", "al ice", "#alice", "a" * 64, "a" * 65, "é", "@"]

    async def test() -> None:
        checked = using(provider)
        ids = [(await checked.person(provider.signed(aud=RESOURCE, sub=s))).id for s in subjects]
        assert len(set(ids)) == len(subjects)
        assert not any("@" in id or " " in id for id in ids)
        again = await checked.person(provider.signed(aud=RESOURCE, sub="al ice"))
        assert again.id == ids[3]

    run(test)


def test_groups_and_scopes_come_in_the_shapes_that_providers_have(provider: Provider, using: Use):
    async def test() -> None:
        checked = using(provider, groups_claim="https://example.com/roles")
        one = provider.signed(aud=RESOURCE, more={"https://example.com/roles": "ops"})
        assert (await checked.person(one)).profiles(OAUTH) == {"ops"}
        for odd in (None, 3, {"eng": 1}, [["eng"]], ["engineers"], "eng ops"):
            token = provider.signed(aud=RESOURCE, more={"https://example.com/roles": odd})
            assert (await checked.person(token)).profiles(OAUTH) == frozenset()
        scp = provider.signed(aud=RESOURCE, scope=None, scp=["a", "b"])
        assert (await checked.person(scp)).scopes == {"a", "b"}

    run(test)


def test_everybody_may_have_a_profile(provider: Provider):
    async def test() -> None:
        oauth = OAuthSettings(issuer=provider.issuer, groups={"*": ("default",)})
        verifier = TokenVerifier(oauth, RESOURCE)
        person = await verifier.verify(provider.signed(aud=RESOURCE, groups=None), "default")
        assert person.profiles(oauth) == {"default"}

    run(test)


@pytest.mark.plan(106)
def test_unknown_keys_are_asked_for_seldom_whatever_strangers_send(provider: Provider, using: Use):
    def hostile(number: int) -> str:
        return provider.signed(aud=RESOURCE, headers={"kid": f"k{number}"})

    async def test() -> None:
        checked = using(provider)
        tokens = [hostile(number) for number in range(40)]
        await asyncio.gather(*map(checked.refused, tokens))
        assert len(checked.fetched) == 1
        checked.clock.now += PAUSE_S
        await asyncio.gather(*map(checked.refused, tokens))
        assert len(checked.fetched) == 2
        assert await checked.person(provider.signed(aud=RESOURCE))

    run(test)


def test_a_new_key_is_known_when_it_is_first_needed_and_an_old_one_goes(tmp_path: Path, using: Use):
    provider = Provider(tmp_path)
    checked = using(provider)
    old, new = provider.keys[0], SigningKey("second", "EC")

    async def test() -> None:
        with provider.running():
            assert await checked.person(provider.signed(aud=RESOURCE))
        provider.keys = [new, SigningKey("third")]  # the provider needs one for RS256
        with provider.running():
            checked.clock.now += PAUSE_S
            by_new = provider.signed(new, "ES256", aud=RESOURCE)
            assert await checked.person(by_new)
            assert len(checked.fetched) == 2
            assert "no key of this issuer" in await checked.refused(
                provider.signed(old, aud=RESOURCE)
            )
            assert await checked.person(by_new)

    run(test)


def test_keys_are_fetched_again_in_the_background_so_that_a_withdrawn_one_ends(
    tmp_path: Path, using: Use
):
    provider = Provider(tmp_path)
    checked = using(provider)
    old = provider.keys[0]

    async def test() -> None:
        with provider.running():
            assert await checked.person(provider.signed(aud=RESOURCE))
        provider.keys = [SigningKey("second")]
        with provider.running():
            checked.clock.now += FRESH_S
            token = provider.signed(old, aud=RESOURCE)
            assert await checked.person(token)  # served by what is known, while it is fetched
            keys = checked.verifier._keys
            assert keys._fetching
            await keys._fetching
            assert "no key of this issuer" in await checked.refused(token)

    run(test)


@pytest.mark.plan(106)
def test_without_the_provider_known_keys_go_on_for_a_while_and_nobody_else(
    tmp_path: Path, using: Use
):
    provider = Provider(tmp_path)
    checked = using(provider)
    token = provider.signed(aud=RESOURCE)
    unknown = provider.signed(aud=RESOURCE, headers={"kid": "unknown"})

    async def test() -> None:
        with pytest.raises(IssuerUnreachable):  # it was never there
            await checked.person(token)
        with pytest.raises(IssuerUnreachable):
            await checked.person(token)
        assert len(checked.fetched) == 1
        with provider.running():
            checked.clock.now += PAUSE_S
            assert await checked.person(token)
        checked.clock.now += STALE_S - 1
        assert await checked.person(token)
        await _settled(checked)
        assert "no key of this issuer" in await checked.refused(unknown)
        tries = len(checked.fetched)
        checked.clock.now += 1
        for _ in range(20):
            with pytest.raises(IssuerUnreachable):
                await checked.person(token)
        assert len(checked.fetched) <= tries + 1
        with provider.running():
            checked.clock.now += LONGEST_PAUSE_S
            assert await checked.person(token)

    run(test)


def test_an_issuer_is_asked_nowhere_else(provider: Provider, using: Use):
    """Its discovery document has to be its own, and keys that anybody may know sign nothing."""
    shared = {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"}
    published = {"keys": [shared, 3, {"kty": "RSA"}, _public(provider.keys[0])]}
    assert [*issuer_keys._signing_keys(published)] == ["first"]
    for odd in ({}, [], None, {"keys": {}}):
        with pytest.raises(ValueError, match="no keys"):
            issuer_keys._signing_keys(odd)
    with pytest.raises(ValueError, match="another issuer"):
        issuer_keys.fetch_keys(provider.issuer.replace("127.0.0.1", "localhost"))
    with pytest.raises(ValueError, match="not an https address"):
        issuer_keys.fetch_keys("http://example.com")


async def _settled(checked: Checked) -> None:
    if fetching := checked.verifier._keys._fetching:
        await fetching


def _public(key: SigningKey) -> dict[str, Any]:
    secret = {"d", "p", "q", "dp", "dq", "qi"}
    return {name: value for name, value in key.jwk.items() if name not in secret}


def _packed(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def _unpacked(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _hs256(payload: object, secret: bytes) -> str:
    signed = f"{_packed({'alg': 'HS256', 'kid': 'first', 'typ': 'JWT'})}.{_packed(payload)}"
    mac = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def _swapped(token: str, payload: object) -> str:
    head, _, signature = token.split(".")
    return f"{head}.{_packed(payload)}.{signature}"
