import pytest

from toolcrib.errors import ConfigError
from toolcrib.sources.mcp.environment import environment
from toolcrib.sources.mcp.server import Command

OURS = {"PATH": "/bin", "HOME": "/h", "AWS_SECRET": "s", "TOKEN": "t0ken", "PYTHONPATH": "x"}


def test_only_names_on_the_list_are_inherited():
    assert environment(Command("x"), OURS) == {"PATH": "/bin", "HOME": "/h"}


def test_what_is_given_comes_on_top():
    command = Command(
        "x", env={"A": "1", "PATH": "/own", "B": "${TOKEN}!"}, env_from={"T": "TOKEN"}
    )
    given = environment(command, OURS)
    assert given == {"PATH": "/own", "HOME": "/h", "A": "1", "B": "t0ken!", "T": "t0ken"}


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(ConfigError, match="GONE"):
        environment(Command("x", env_from={"T": "GONE"}), OURS)
