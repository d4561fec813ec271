"""Who is served, and the part of the pool that they may have.

A principal is somebody whose credential was verified, together with the profile that it is good
for. `credentials` verifies; here is what comes of it.
"""

from dataclasses import dataclass, field
from functools import cached_property

from toolcrib.access import Scope
from toolcrib.errors import ConfigError
from toolcrib.execute import Caller
from toolcrib.gateway.quotas import Quota
from toolcrib.model import RootsOf
from toolcrib.settings import DEFAULT_TENANT, GatewayMode, GatewaySettings, ProfileSettings
from toolcrib.text import list_nearest

DEFAULT_PROFILE = "default"
"""The profile of whoever names none: the whole pool but for the tools that come with Toolcrib,
unless the settings define it otherwise."""

LOCAL_USER = "local"
"""The user that the gateway runs as: whoever reaches its socket, or started it."""


@dataclass(frozen=True)
class Profile:
    """A named part of the pool, and how it is shown. `pins` are always listed.

    The tools that come with Toolcrib are in it only if its settings say so. `context_window` is
    that of its clients; None: as sessions have it.
    """

    name: str = DEFAULT_PROFILE
    scope: Scope = field(default_factory=lambda: Scope(packaged=False))
    pins: frozenset[str] = frozenset()
    mode: GatewayMode = "auto"
    context_window: int | None = None


@dataclass(frozen=True)
class Principal:
    """Somebody whose credential was verified, with the profile that it is good for.

    `id` is that of the credential, never something a client says of itself: two principals share
    neither reveals nor tickets nor results. `may_call` is false for whoever may only search.
    `tenant` is the owner of all that the credential is good for, `quotas` how much they may use.
    """

    id: str
    profile: Profile = field(default_factory=Profile)
    may_call: bool = True
    tenant: str = DEFAULT_TENANT
    quotas: tuple[Quota, ...] = ()

    @cached_property
    def caller(self) -> Caller:
        """The same, as the crib knows it.

        The roots of a client count only if it runs as the operator's own user: the holder of a key
        could declare any folder that they want to read.
        """
        profile = self.profile
        roots: RootsOf = "client" if self.is_local else "none"
        id = f"{self.id}@{profile.name}"
        return Caller(id, profile.scope, roots, profile.name, may_call=self.may_call)

    @property
    def is_local(self) -> bool:
        """Whether it is a client of the operator's own user."""
        return self.id == LOCAL_USER


def profile_named(settings: GatewaySettings, name: str = DEFAULT_PROFILE) -> Profile:
    """The profile of this name. Raises `ConfigError` with the nearest names."""
    profiles = {DEFAULT_PROFILE: ProfileSettings(), **settings.profiles}
    profile = profiles.get(name)
    if profile is None:
        near = list_nearest(name, list(profiles))
        raise ConfigError(f"there is no profile {name!r}; nearest: {near}")
    scope = Scope(
        excluded=frozenset(profile.exclude),
        allowed=None if profile.tools is None else frozenset(profile.tools),
        sources=None if profile.servers is None else frozenset(profile.servers),
        permissions=None if profile.kinds is None else frozenset(profile.kinds),
        packaged=profile.builtin_tools,
    )
    mode = settings.mode if profile.mode == "auto" else profile.mode
    return Profile(name, scope, frozenset(profile.pins), mode, profile.context_window)


def local_principal(settings: GatewaySettings, profile: str = DEFAULT_PROFILE) -> Principal:
    """The operator's own user, with this profile. Raises `ConfigError` as `profile_named`."""
    return Principal(LOCAL_USER, profile_named(settings, profile))
