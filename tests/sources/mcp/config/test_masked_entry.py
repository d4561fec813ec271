import json

from toolcrib.sources.mcp import ServerAddress, ServerCommand
from toolcrib.sources.mcp.config.secret_values import masked_entry
from toolcrib.sources.mcp.config.server import OAuth


def test_no_secret_of_a_command_is_shown_and_a_reference_is():
    env = {"KEY": "s3cret-a1b2c3", "MODE": "fast", "REF": "Bearer ${TOKEN}"}
    args = ("--token", "s3cret-d4e5f6", "--dsn=postgres://me:s3cret-7@h/db", "/notes")
    shown = masked_entry(ServerCommand("npx", args, env, {"A": "B"}, "/srv"))
    assert "s3cret" not in json.dumps(shown)
    assert shown["env"] == {"KEY": "***", "MODE": "***", "REF": "${TOKEN}"}
    assert shown["env_from"] == {"A": "B"}
    assert "/notes" in json.dumps(shown["args"])


def test_no_secret_of_an_address_is_shown():
    oauth = OAuth("client_credentials", "me", "s3cret-0", "https://issuer")
    url = "https://u:s3cret-1@${HOST}/mcp?key=s3cret-a1b2c3d4"
    shown = masked_entry(ServerAddress(url, {"X-Key": "s3cret-2", "Y": "${Y}"}, oauth))
    assert "s3cret" not in json.dumps(shown)
    assert shown["headers"] == {"X-Key": "***", "Y": "${Y}"}
    assert "${HOST}/mcp" in str(shown["url"])
