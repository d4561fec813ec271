import pytest

from toolcrib.http import TrustedProxies, is_loopback, network_of

PROXIES = TrustedProxies(map(network_of, ["10.0.0.1", "10.1.0.0/16", "2001:db8::/32"]))


def client(peer: str, *forwarded: str, proxies: TrustedProxies = PROXIES) -> str:
    headers = [(b"X-Forwarded-For", each.encode("latin-1")) for each in forwarded]
    return proxies.client({"client": (peer, 1), "headers": headers})


@pytest.mark.plan(112)
@pytest.mark.parametrize("peer", ["10.0.0.2", "192.0.2.1", "127.0.0.1", "::1", "2001:db9::1", ""])
def test_the_word_of_a_peer_that_is_not_trusted_counts_for_nothing(peer: str):
    assert client(peer, "203.0.113.9") == peer
    assert client(peer, "10.0.0.1, 203.0.113.9") == peer
    assert client(peer, proxies=TrustedProxies()) == peer


@pytest.mark.plan(112)
@pytest.mark.parametrize("peer", ["10.0.0.1", "10.1.2.3", "2001:db8::7", "::ffff:10.0.0.1"])
def test_a_trusted_proxy_names_its_client(peer: str):
    assert client(peer, "203.0.113.9") == "203.0.113.9"
    assert client(peer, "2001:db9::9") == "2001:db9::9"


@pytest.mark.plan(112)
def test_what_a_client_wrote_itself_stands_left_of_it_and_does_not_count():
    assert client("10.0.0.1", "1.1.1.1, 203.0.113.9") == "203.0.113.9"
    assert client("10.0.0.1", "1.1.1.1", "203.0.113.9") == "203.0.113.9", "two lines are one list"
    assert client("10.0.0.1", "10.1.0.9, 203.0.113.9, 10.1.0.8") == "203.0.113.9"


@pytest.mark.plan(112)
@pytest.mark.parametrize("word", ["nonsense", "203.0.113.9:80", "999.1.1.1", "a\nb", "''", "%00"])
def test_what_is_no_address_is_not_taken(word: str):
    assert client("10.0.0.1", word) == "10.0.0.1"
    assert client("10.0.0.1", f"203.0.113.9, {word}") == "10.0.0.1"


@pytest.mark.plan(112)
def test_nothing_but_an_address_is_handed_on():
    assert client("10.0.0.1", "203.0.113.9%1 who=operator") == "203.0.113.9"
    assert client("10.0.0.1", "2001:DB9:0:0::9") == "2001:db9::9"


def test_a_request_of_the_proxy_itself_is_the_proxys():
    assert client("10.0.0.1") == "10.0.0.1"
    assert client("10.0.0.1", "") == "10.0.0.1"
    assert client("10.0.0.1", "10.1.0.9, 10.1.0.8") == "10.1.0.9", "a proxy behind a proxy"


def test_a_long_list_is_read_from_its_near_end():
    assert client("10.0.0.1", ", ".join(["203.0.113.9"] * 10_000)) == "203.0.113.9"
    assert client("10.0.0.1", "203.0.113.9, " + ", ".join(["10.0.0.1"] * 10_000)) == "10.0.0.1"


def test_loopback_is_this_machine_in_every_spelling():
    assert all(map(is_loopback, ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"]))
    assert not any(map(is_loopback, ["", "0.0.0.0", "::", "10.0.0.1", "localhost"]))
