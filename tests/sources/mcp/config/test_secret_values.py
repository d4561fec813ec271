import base64
import json

import pytest

from toolcrib.sources.mcp import ServerAddress, ServerCommand
from toolcrib.sources.mcp.config.secret_values import (
    address_secrets,
    command_secrets,
    is_secret,
    masked_entry,
)
from toolcrib.sources.mcp.config.server import OAuth


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_KEY", "hunter2"),
        ("GITHUB_PERSONAL_ACCESS_TOKEN", "ghp_abc"),
        ("apiKey", "correct horse"),
        ("PGPASSWORD", "opensesame"),
        ("SESSION_ID", "ab12cd34"),
        ("WHATEVER", "ghp_1a2b3c"),
        ("WHATEVER", "a phrase of many plain words"),
        ("PIN", "12345678"),
        ("AWS_SECRET_ACCESS_KEY", "/Ab1cD2eF3gH4iJ5kL6m"),
    ],
)
def test_secrets_by_name_or_look(name, value):
    assert is_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEBUG", "true"),
        ("PORT", "8080"),
        ("API_KEY", "short"),
        ("POSTGRES_PASSWORD", "postgres"),
        ("MAX_TOKENS", "128000"),
        ("NODE_ENV", "production"),
        ("AWS_REGION", "us-east-1"),
        ("WHATEVER", "us-east-1"),
        ("ROOT", "/home/anna/projects-v2/docs"),
        ("KEY_FILE", "/home/anna/.ssh/id_ed25519"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "C:\\Users\\anna\\creds.json"),
        ("CERTS", "~/certs"),
        ("CONTACT", "anna.smith@example-company.org"),
        ("DATABASE_ID", "1a2b3c4d-0000-4000-8000-123456789abc"),
        ("GIT_AUTHOR_NAME", "Anna van der Berg 3rd"),
        ("Accept", "application/json, text/event-stream"),
    ],
)
def test_plain_values_are_no_secrets(name, value):
    assert not is_secret(name, value)


def test_variables_references_and_options_of_a_command():
    command = ServerCommand(
        "x",
        ("--token", "t0ken-1", "--key=k3y-22", "--verbose", "words", "postgres://me:pa55word@db/x"),
        env={"A": "pre-${MINE}", "LEVEL": "info"},
        env_from={"THEIRS": "OURS"},
    )
    environ = {"MINE": "s3cret-mine", "OURS": "s3cret-ours", "OTHER": "s3cret-other"}
    found = command_secrets(command, environ)
    assert found == {"t0ken-1", "k3y-22", "me:pa55word", "pa55word"} | {
        "pre-s3cret-mine",
        "s3cret-mine",
        "s3cret-ours",
    }


def test_address_headers_and_client_of_a_server_elsewhere():
    basic = base64.b64encode(b"anna:pa55word").decode()
    address = ServerAddress(
        "https://u5er:pa%2F55@x.org/s/1a2b3c4d5e6f7a8b9c0d/mcp?k=${KEY}&page=intro",
        {"Authorization": f"Basic {basic}", "Cookie": "sid=ab12cd34; theme=dark", "Accept": "*/*"},
        OAuth(client_secret="cl1ent-secret"),
    )
    found = address_secrets(address, {"KEY": "k3y-222"})
    assert {"u5er:pa%2F55", "pa/55"} & found == {"u5er:pa%2F55"}  # a password of five signs
    assert {"1a2b3c4d5e6f7a8b9c0d", "k3y-222", basic, "anna:pa55word", "pa55word"} <= found
    assert {"ab12cd34", "cl1ent-secret"} <= found
    assert not {"intro", "dark", "*/*", "theme=dark"} & found


def test_secrets_on_the_way_to_the_network_are_hidden_too():
    ours = {
        "HTTPS_PROXY": "http://ann:pr0xy-pass@proxy:3128",
        "UV_INDEX_URL": "https://bob:1ndex-pass@packages/simple",
        "npm_config_//packages/:_authToken": "npm_1a2b3c4d",
        "EXTRA_TOKEN": "extra-1a2b",
        "NO_PROXY": "localhost,10.0.0.0/8",
        "SSL_CERT_FILE": "/etc/ssl/ca.pem",
    }
    by_uv = command_secrets(ServerCommand("uvx", ("server",)), ours, ("EXTRA_TOKEN",))
    assert {"pr0xy-pass", "1ndex-pass", "extra-1a2b"} <= by_uv
    assert not by_uv & {"/etc/ssl/ca.pem", "npm_1a2b3c4d"}
    assert "npm_1a2b3c4d" in command_secrets(ServerCommand("npx", ("server",)), ours)


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
