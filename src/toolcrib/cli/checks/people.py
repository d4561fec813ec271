"""Checks of who may use the gateway: keys that work no longer, and profiles that there are not.

Also whether callers may approve their own calls.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from toolcrib.cli.checks.diagnosis import CheckContext, Diagnosis
from toolcrib.crib import inventory_of, stores_in
from toolcrib.errors import ConfigError, StoreError
from toolcrib.gateway import keys_in, local_principal, profile_named
from toolcrib.http import is_loopback
from toolcrib.settings import GatewaySettings
from toolcrib.store import StoredKey

PEOPLE = "people"
SOON_S = 14 * 86_400.0


def check_people(context: CheckContext) -> Iterator[Diagnosis]:
    """A warning for each key that is of no use, or soon will not be, and each group without one."""
    gateway = context.settings.gateway
    try:
        keys = _keys(context)
    except StoreError as error:
        yield Diagnosis(PEOPLE, "problem", str(error), "no key works until it can be read")
        return
    issuer = f", and tokens of {gateway.oauth.issuer}" if gateway.oauth.issuer else ""
    if not keys and not issuer and not is_loopback(gateway.bind):
        problem = "nobody can come in over HTTP: there is no key, and no provider of tokens"
        remedy = "make one: `toolcrib keys add NAME`; or set `gateway.oauth`"
        yield Diagnosis(PEOPLE, "problem", problem, remedy)
    else:
        yield Diagnosis(PEOPLE, "ok", f"HTTP opens with {len(keys)} keys{issuer}")
    for key in keys:
        yield from _key(key, gateway)
    if issuer:
        yield from _groups(gateway)
    if context.settings.approval.elicitation == "all":
        callers = [each.profiles for each in keys if "call" in each.scopes]
        callers += gateway.oauth.groups.values() if issuer else ()
        yield from _own_approvals(context, {name for some in callers for name in some})


def _keys(context: CheckContext) -> Sequence[StoredKey]:
    """All keys; nothing is made where there are none. Raises `StoreError`."""
    if context.settings.database:
        return stores_in(context.crib).keys.all()
    folder = context.settings.state_folder
    if not any((folder / name).exists() for name in ("keys.db", "keys.json")):
        return ()
    with closing(keys_in(folder)) as keys:
        return keys.all()


def _key(key: StoredKey, gateway: GatewaySettings) -> Iterator[Diagnosis]:
    left_s = None if key.expires_at is None else key.expires_at - time.time()
    if left_s is not None and left_s < SOON_S:
        when = "has expired" if left_s <= 0 else f"expires in {left_s / 86_400:.1f} days"
        remedy = (
            f"toolcrib keys rotate {key.name} --expires 90d, or toolcrib keys remove {key.name}"
        )
        yield Diagnosis(PEOPLE, "warning", f"the key {key.name} {when}", remedy)
    for profile in key.profiles:
        if problem := _missing(profile, gateway):
            remedy = "define the profile, or make the key anew"
            yield Diagnosis(PEOPLE, "warning", f"the key {key.name}: {problem}", remedy)


def _groups(gateway: GatewaySettings) -> Iterator[Diagnosis]:
    groups = gateway.oauth.groups
    if not groups:
        remedy = 'write gateway.oauth.groups, such as `"*" = ["default"]` for everybody'
        yield Diagnosis(PEOPLE, "warning", "no group has a profile, so no token opens one", remedy)
    for group, profiles in groups.items():
        for profile in profiles:
            if problem := _missing(profile, gateway):
                message = f"gateway.oauth.groups.{group}: {problem}"
                yield Diagnosis(PEOPLE, "warning", message, "define the profile, or correct it")


def _own_approvals(context: CheckContext, profiles: Iterable[str]) -> Iterator[Diagnosis]:
    """A warning for each profile whose callers are asked about their own calls."""
    gateway, inventory = context.settings.gateway, inventory_of(context.crib)
    for name in sorted(each for each in profiles if not _missing(each, gateway)):
        seen = inventory.seen_by(local_principal(gateway, name).caller).values()
        if asked := [each.name for each in seen if inventory.verdict(each, name) == "ask"]:
            message = f"whoever has a key for the profile {name} may approve their own calls"
            remedy = 'set approval.elicitation = "local": then such calls wait for you'
            yield Diagnosis(PEOPLE, "warning", f"{message}, as of {asked[0]}", remedy)


def _missing(profile: str, gateway: GatewaySettings) -> str:
    """What is wrong with the name of a profile; "" if nothing is."""
    try:
        profile_named(gateway, profile)
    except ConfigError as error:
        return str(error)
    return ""
