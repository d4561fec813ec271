import pytest

from toolcrib.errors import ConfigError
from toolcrib.sources.mcp import ServerCommand, references
from toolcrib.sources.mcp.config.environment import expand, server_environment

OURS = {"PATH": "/bin", "HOME": "/h", "AWS_SECRET": "s", "TOKEN": "t0ken", "PYTHONPATH": "x"}


def test_only_names_on_the_list_are_inherited():
    assert server_environment(ServerCommand("x"), OURS) == {"PATH": "/bin", "HOME": "/h"}


NETWORK = {
    **dict.fromkeys(("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"), "/ca"),
    **dict.fromkeys(("NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE"), "/ca"),
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"), "http://proxy"),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost"),
}
NPM = {"npm_config_registry": "http://r", "NPM_CONFIG_CAFILE": "/ca"}
PYTHON = {"UV_INDEX_URL": "http://i", "PIP_INDEX_URL": "http://i", "UV_DEFAULT_INDEX": "http://i"}
NEVER = {"NPM_TOKEN": "t", "UV_PUBLISH_TOKEN": "t", "NODE_OPTIONS": "--inspect"}


@pytest.mark.parametrize(
    ("command", "packages"),
    [
        (ServerCommand("npx", ("server",)), NPM),
        (ServerCommand("uvx", ("server",)), PYTHON),
        (ServerCommand("node", ("server.js",)), {}),
        (ServerCommand("docker", ("run", "image")), {}),
    ],
)
def test_the_way_to_the_network_and_to_packages_is_handed_on(command, packages):
    ours = NETWORK | NPM | PYTHON | NEVER
    assert server_environment(command, ours) == NETWORK | packages


def test_what_all_servers_are_given_is_given_where_it_is_set():
    given = server_environment(ServerCommand("x"), OURS, inherits=("AWS_SECRET", "GONE"))
    assert given == {"PATH": "/bin", "HOME": "/h", "AWS_SECRET": "s"}


def test_what_is_given_comes_on_top():
    command = ServerCommand(
        "x", env={"A": "1", "PATH": "/own", "B": "${TOKEN}!"}, env_from={"T": "TOKEN"}
    )
    given = server_environment(command, OURS)
    assert given == {"PATH": "/own", "HOME": "/h", "A": "1", "B": "t0ken!", "T": "t0ken"}


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(ConfigError, match="GONE"):
        server_environment(ServerCommand("x", env_from={"T": "GONE"}), OURS)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("Bearer ${TOKEN}", "Bearer t"),
        ("${env:TOKEN}", "t"),
        ("${GONE:-other}", "other"),
        ("${TOKEN:-other}", "t"),
        ("$TOKEN ${not a name} ${input:key}", "$TOKEN ${not a name} ${input:key}"),
    ],
)
def test_references_are_filled(text, value):
    assert expand(text, {"TOKEN": "t"}) == value


def test_a_reference_to_a_variable_that_is_not_set_is_named():
    with pytest.raises(ConfigError, match="GONE is not set"):
        expand("${GONE}", {})


def test_a_value_is_not_looked_into_again():
    assert expand("${A}", {"A": "${B}", "B": "x"}) == "${B}"


def test_references_are_listed_as_written():
    assert references(["${B} ${A}", "${A}", "x"]) == ("${A}", "${B}")
