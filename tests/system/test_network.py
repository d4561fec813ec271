"""Which addresses are of the open internet."""

from ipaddress import ip_address

import pytest

from toolcrib.system import is_public


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700:4700::1111", True),
        ("10.1.2.3", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("fe80::1", False),
        ("fc00::1", False),
        ("ff02::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::", False),
        ("2001:0:a00:1::", False),
        ("2002:808:808::", True),
        ("64:ff9b::808:808", True),
        ("192.0.0.192", False),
        ("192.0.0.9", False),
        ("64:ff9b:1::1", False),
        ("fec0::1", False),
        ("5f00::1", False),
        ("3fff::1", False),
        ("2001:db8::1", False),
        ("198.18.0.1", False),
        ("240.0.0.1", False),
        ("::8.8.8.8", False),
    ],
)
def test_what_is_public(address: str, public: bool):
    assert is_public(ip_address(address)) is public
