import asyncio

import pytest

from toolcrib.sources import public_functions
from toolcrib.tools import http_client, web
from toolcrib.tools.http_client import HttpPage
from toolcrib.tools.web import fetch_url


@pytest.fixture
def at(monkeypatch):
    """Say what is at the address that gets fetched."""

    def put(content, content_type="text/html", encoding="utf-8", *, truncated=False):
        async def fetch(url):
            return HttpPage(url, 200, content_type, encoding, content, truncated)

        monkeypatch.setattr(http_client, "fetch", fetch)

    return put


def fetch(**options):
    return asyncio.run(fetch_url("https://example.com/", **options))


def test_a_web_page_comes_as_text_or_as_it_is(at):
    at(b"<h1>Hello</h1><script>no</script>")
    assert fetch()["text"] == "Hello"
    assert fetch(raw=True)["text"] == "<h1>Hello</h1><script>no</script>"


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "application/ld+json", ""])
def test_other_text_comes_as_it_is(at, kind):
    at(b"<b>", kind)
    assert fetch()["text"] == "<b>"


def test_bytes_that_do_not_fit_the_encoding_are_marked(at):
    at(b"a\xffb", "text/plain")
    assert fetch()["text"] == "a\ufffdb"


def test_what_is_no_text_is_refused(at):
    at(b"\x89PNG", "image/png")
    with pytest.raises(ValueError, match="is image/png, not text"):
        fetch()


def test_a_long_text_is_cut_and_says_so(at):
    at(b"x" * 100, "text/plain")
    page = fetch(max_characters=10)
    assert (page["text"], page["truncated"]) == ("x" * 10, True)
    assert fetch()["truncated"] is False
    at(b"x", "text/plain", truncated=True)
    assert fetch()["truncated"] is True


def test_this_machine_is_refused(server):
    with pytest.raises(ValueError, match="on this machine"):
        asyncio.run(fetch_url(server.url))
    assert server.seen == []


def test_who_adds_the_module_gets_one_tool():
    assert [function.info.name for function in public_functions(web, {})] == ["fetch_url"]
