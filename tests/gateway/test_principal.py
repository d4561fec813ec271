import pytest

from toolcrib.access import Scope
from toolcrib.errors import ConfigError
from toolcrib.gateway import profile_named
from toolcrib.gateway.principal import Principal, Profile
from toolcrib.settings import GatewaySettings, ProfileSettings

WORK = ProfileSettings(servers=("git*",), kinds=("read",), exclude=("*_delete",), pins=("now",))
SETTINGS = GatewaySettings(mode="reveal", profiles={"work": WORK, "home": ProfileSettings()})


def test_a_profile_says_what_is_in_it():
    assert profile_named(SETTINGS, "work") == Profile(
        "work",
        Scope(
            excluded=frozenset({"*_delete"}),
            sources=frozenset({"git*"}),
            permissions=frozenset({"read"}),
            packaged=False,
        ),
        frozenset({"now"}),
        "reveal",
    )


def test_without_a_name_it_is_the_whole_pool():
    assert profile_named(GatewaySettings()) == Profile()


def test_the_settings_may_narrow_what_nobody_named():
    settings = GatewaySettings(profiles={"default": ProfileSettings(tools=())})
    assert profile_named(settings).scope.allowed == frozenset()


def test_a_mode_of_its_own_goes_before_the_gateways():
    settings = GatewaySettings(mode="reveal", profiles={"a": ProfileSettings(mode="direct")})
    assert profile_named(settings, "a").mode == "direct"


def test_an_unknown_profile_has_near_ones():
    with pytest.raises(ConfigError, match="no profile 'wrk'; nearest: work"):
        profile_named(SETTINGS, "wrk")


def test_the_same_credential_is_another_caller_in_another_profile():
    callers = {
        Principal("key", profile_named(SETTINGS, name)).caller.id for name in ("work", "home")
    }
    assert callers == {"key@work", "key@home"}
