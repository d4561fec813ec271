from pathlib import Path
from typing import Any

import pytest

from tests.certificates import Authority
from toolcrib.errors import ConfigError
from toolcrib.gateway import Binding
from toolcrib.settings import Settings, load_settings

TLS = {"tls_certificate": "a.pem", "tls_key": "b.pem"}
PROXIED = {"behind_proxy": True, "trusted_proxies": ["10.0.0.1"]}
HOSTS = {"hosts": ["tools.example.com"]}
BEYOND = ["0.0.0.0", "::", "10.0.0.5", "2001:db8::5", "::ffff:10.0.0.5"]


def binding(**gateway: Any) -> Binding:
    return Binding.of(Settings.model_validate({"gateway": gateway}).gateway)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.2", "::1"])
def test_loopback_needs_nothing_more(address: str):
    bound = binding(bind=address)
    assert bound.is_local
    assert bound.protection == "this machine only"


@pytest.mark.plan(111)
@pytest.mark.parametrize("address", BEYOND)
def test_beyond_loopback_it_wants_tls_or_a_proxy_and_the_names_of_its_hosts(address: str):
    with pytest.raises(ConfigError, match=r"in the clear; set `gateway\.tls_certificate`"):
        binding(bind=address, **HOSTS)
    for protected in (TLS, PROXIED):
        with pytest.raises(ConfigError, match=r"gateway\.hosts"):
            binding(bind=address, **protected)
        assert not binding(bind=address, **protected, **HOSTS).is_local


@pytest.mark.plan(111)
def test_half_a_protection_is_none():
    for key in TLS:
        with pytest.raises(ConfigError, match="set the other one"):
            binding(bind="0.0.0.0", **{key: "a.pem"}, **HOSTS)
    with pytest.raises(ConfigError, match=r"gateway\.trusted_proxies"):
        binding(bind="0.0.0.0", behind_proxy=True, **HOSTS)
    with pytest.raises(ConfigError, match="behind_proxy = true"):
        binding(trusted_proxies=["10.0.0.1"])
    with pytest.raises(ConfigError, match=r"gateway\.hosts"):
        binding(**PROXIED)


@pytest.mark.plan(111)
@pytest.mark.parametrize("everybody", ["0.0.0.0/0", "::/0"])
def test_not_everybody_is_a_trusted_proxy(everybody: str):
    with pytest.raises(ConfigError, match="everybody"):
        binding(behind_proxy=True, trusted_proxies=["10.0.0.1", everybody], **HOSTS)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("bind", "localhost"),
        ("bind", "0.0.0.0:80"),
        ("bind", ""),
        ("trusted_proxies", ["proxy.example.com"]),
        ("trusted_proxies", ["10.0.0.1/8"]),
    ],
)
def test_only_addresses_are_addresses(key: str, value: object):
    with pytest.raises(ConfigError, match=rf"gateway\.{key}"):
        binding(**{key: value})


def test_it_says_where_and_how():
    bound = binding(bind="::", **TLS, **HOSTS)
    assert bound.url(8443) == "https://[::]:8443/mcp"
    assert bound.protection == "TLS; hosts: tools.example.com"
    bound = binding(bind="10.0.0.5", **PROXIED, **HOSTS)
    assert bound.url(80) == "http://10.0.0.5:80/mcp"
    assert bound.protection == "behind 10.0.0.1; hosts: tools.example.com"
    assert binding(**TLS).protection == "TLS; hosts: loopback"


def test_a_gateway_that_runs_takes_other_proxies_and_files_and_no_other_address():
    bound = binding(bind="10.0.0.5", **PROXIED, **HOSTS)
    more = PROXIED | {"trusted_proxies": ["10.0.0.1", "10.0.0.2"]}
    assert bound.can_become(binding(bind="10.0.0.5", **more, **HOSTS))
    assert not bound.can_become(binding(bind="10.0.0.6", **PROXIED, **HOSTS))
    assert not bound.can_become(binding(bind="10.0.0.5", **TLS, **HOSTS))
    assert not bound.can_become(binding())


def test_paths_of_a_certificate_are_taken_from_the_folder_of_the_settings(tmp_path: Path):
    Authority().issue(tmp_path / "tls")
    file = tmp_path / "config.toml"
    names = 'tls_certificate = "tls/certificate.pem"\ntls_key = "tls/key.pem"'
    file.write_text(f"[gateway]\n{names}\n")
    assert Binding.of(load_settings({}, file).gateway).certificate()
