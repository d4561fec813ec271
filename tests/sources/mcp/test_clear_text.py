import pytest

from toolcrib.sources.mcp.sanitize import is_plaintext


@pytest.mark.parametrize(
    ("url", "clear"),
    [
        ("https://a.example/x", False),
        ("http://127.0.0.1:80/", False),
        ("http://[::1]:80/", False),
        ("http://localhost/", False),
        ("http://a.example/", True),
        ("http://localhost.example/", True),
        ("http://127.0.0.1@a.example/", True),
        ("file:///etc/passwd", True),
        ("javascript:alert(1)", True),
    ],
)
def test_only_https_and_this_machine_are_private(url: str, clear: bool):
    assert is_plaintext(url) == clear
