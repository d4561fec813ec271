import pytest

from toolcrib.sources.apps.json_rpc import RemoteError
from toolcrib.sources.apps.server import Hello, read_hello
from toolcrib.sources.apps.source import launch_doubt

GOOD = {"token": "t", "name": "calendar", "version": "1", "launch": ["/bin/x", "a b"]}


def test_a_hello_is_read():
    assert read_hello(GOOD) == Hello("t", "calendar", "1", ("/bin/x", "a b"))
    assert read_hello({"token": "t", "name": "a"}) == Hello("t", "a")


@pytest.mark.parametrize(
    "said",
    [
        {"token": None},
        {"name": ""},
        {"name": "../x"},
        {"name": "a b"},
        {"name": "x" * 49},
        {"version": 1},
        {"version": "x" * 100},
        {"launch": "rm -rf /"},
        {"launch": [1]},
        {"launch": ["./here"]},
        {"launch": ["bin/here"]},
        {"launch": [""]},
        {"launch": ["/bin/x", "a\0b"]},
        {"launch": ["/bin/x", "a\nb"]},
        {"launch": ["x"] * 100},
        {"launch": {"a": 1}},
    ],
)
def test_what_no_app_may_say_is_refused(said):
    with pytest.raises(RemoteError):
        read_hello({**GOOD, **said})


def test_another_launch_command_than_the_trusted_one_is_doubted():
    assert launch_doubt("a", ["x"], ["x"]) == launch_doubt("a", ["x"], []) == ""
    assert "`toolcrib apps set-command a -- " in launch_doubt("a", ["x"], ["y"])
    assert "`toolcrib apps set-command a -- " in launch_doubt("a", [], ["y"])
