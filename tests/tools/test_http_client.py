import asyncio
import socket

import httpx2
import pytest

from toolcrib.tools import http_client
from toolcrib.tools.http_client import fetch


def get(url, *, allow_private=True):
    return asyncio.run(fetch(url, allow_private=allow_private))


def test_a_page_is_fetched_with_its_type_and_encoding(server):
    headers = {"Content-Type": "text/Plain; charset=gb18030"}
    server.pages["/x"] = (200, headers, "你好".encode("gb18030"))
    page = get(f"{server.url}/x")
    assert (page.status, page.content_type, page.encoding) == (200, "text/plain", "gb18030")
    assert page.content.decode(page.encoding) == "你好"
    assert page.url == f"{server.url}/x"
    assert not page.truncated


def test_the_name_is_kept_in_the_request_that_goes_to_the_address(server):
    page = get(f"http://localhost:{server.server_port}/")
    assert page.status == 404
    (_, headers) = server.seen[0]
    assert headers["Host"] == f"localhost:{server.server_port}"
    assert headers["Accept-Encoding"] == "identity"


def test_an_encoding_that_nobody_knows_reads_as_utf8(server):
    server.pages["/"] = (200, {"Content-Type": "text/plain; charset=klingon"}, b"x")
    assert get(server.url).encoding == "utf-8"


def test_a_large_page_is_cut(server, monkeypatch):
    monkeypatch.setattr(http_client, "MAX_BYTES", 1000)
    server.pages["/"] = (200, {}, b"x" * 100_000)
    page = get(server.url)
    assert (len(page.content), page.truncated) == (1000, True)


def test_redirects_are_followed_to_their_end(server):
    server.pages["/a"] = (302, {"Location": "b"}, b"")
    server.pages["/b"] = (301, {"Location": f"{server.url}/c"}, b"")
    server.pages["/c"] = (200, {}, b"end")
    page = get(f"{server.url}/a")
    assert (page.url, page.content) == (f"{server.url}/c", b"end")


def test_redirects_without_end_are_refused(server):
    server.pages["/"] = (302, {"Location": "/"}, b"")
    with pytest.raises(ValueError, match="redirects more than 5 times"):
        get(server.url)
    assert len(server.seen) == 6


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://example.com/", "gopher://x/"])
def test_a_redirect_leads_only_to_the_web(server, target):
    server.pages["/"] = (302, {"Location": target}, b"")
    with pytest.raises(ValueError, match="not an http or https address"):
        get(server.url)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "/etc/passwd", "", "http://", "data:,x"])
def test_only_web_addresses_are_fetched(url):
    with pytest.raises(ValueError, match="not an http or https address"):
        get(url)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "0.0.0.0",
        "2130706433",
        "0x7f.1",
        "127.1",
        "[::ffff:7f00:1]",
    ],
)
def test_this_machine_is_refused_however_it_is_written(server, host):
    with pytest.raises((ValueError, httpx2.InvalidURL)):
        get(f"http://{host}:{server.server_port}/", allow_private=False)
    assert server.seen == []


def test_a_redirect_to_a_private_address_is_refused(server, monkeypatch):
    server.pages["/"] = (302, {"Location": "http://127.0.0.2/"}, b"")
    monkeypatch.setattr(http_client, "is_public", lambda address: str(address) == "127.0.0.1")
    with pytest.raises(ValueError, match=r"'127\.0\.0\.2' is on this machine"):
        get(server.url, allow_private=False)


def test_one_private_address_among_several_refuses_the_name(monkeypatch):
    async def resolve(*_, **__):
        return [(2, 1, 6, "", (address, 80)) for address in ("93.184.215.14", "10.0.0.1")]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", resolve)
    with pytest.raises(ValueError, match="private network"):
        get("http://rebind.example/", allow_private=False)


def test_the_name_is_looked_up_once_a_request(server, monkeypatch):
    asked = []

    async def resolve(_, host, *__, **___):
        asked.append(host)
        return [(2, 1, 6, "", ("127.0.0.1", 80))]

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", resolve)
    get(f"http://name.example:{server.server_port}/")
    assert asked == ["name.example"]
    assert server.seen[0][1]["Host"] == f"name.example:{server.server_port}"


def test_a_server_that_does_not_answer_is_left(monkeypatch):
    monkeypatch.setattr(http_client, "TIMEOUT_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(TimeoutError):
        get(f"http://127.0.0.1:{silent.getsockname()[1]}/")


def test_a_name_that_nobody_has_is_refused():
    with pytest.raises(ValueError, match=r"no host 'no-such-host\.invalid'"):
        get("http://no-such-host.invalid/")
