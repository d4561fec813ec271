import pytest

from toolcrib.errors import ConfigError
from toolcrib.sources.mcp import references
from toolcrib.sources.mcp.config.environment import expand


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


def test_a_variable_that_is_not_set_is_named():
    with pytest.raises(ConfigError, match="GONE is not set"):
        expand("${GONE}", {})


def test_a_value_is_not_looked_into_again():
    assert expand("${A}", {"A": "${B}", "B": "x"}) == "${B}"


def test_references_are_listed_as_written():
    assert references(["${B} ${A}", "${A}", "x"]) == ("${A}", "${B}")
