"""How a server is configured, for a person to compare: without a value that may be a secret."""

from collections.abc import Mapping

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp.secret_values import given_secrets, sent_secrets
from toolcrib.sources.mcp.server import Address, Command, Isolation, Transport
from toolcrib.sources.mcp.variables import references
from toolcrib.text.redactor import HIDDEN, Redactor


def masked_entry(transport: Transport) -> JsonObject:
    """The keys of its entry. Of variables and headers only references to ours are shown."""
    return _command(transport) if isinstance(transport, Command) else _address(transport)


def _command(command: Command) -> JsonObject:
    redactor = Redactor(given_secrets(Command(command.command, command.args), {}))
    words: dict[str, Json] = {
        "command": command.command,
        "args": [redactor.text(each) for each in command.args],
        "env": _masked(command.env),
        "env_from": {**command.env_from},
        "cwd": command.cwd,
        "isolation": _isolation(command.isolation) if command.isolation else None,
    }
    return {key: value for key, value in words.items() if value}


def _isolation(isolation: Isolation) -> JsonObject:
    words: dict[str, Json] = {"tool": isolation.tool, "network": isolation.network}
    return {**words, "paths": dict(isolation.paths), "image": isolation.image}


def _address(address: Address) -> JsonObject:
    plain = address.url
    for each in references([plain]):
        plain = plain.replace(each, "")
    redactor = Redactor(sent_secrets(Address(plain), {}))
    words: dict[str, Json] = {
        "type": address.kind,
        "url": redactor.text(address.url),
        "headers": _masked(address.headers),
    }
    if address.oauth:
        grant, client, issuer = address.oauth.grant, address.oauth.client_id, address.oauth.issuer
        words["oauth"] = {"grant": grant, "client_id": client, "issuer": issuer}
    return {key: value for key, value in words.items() if value}


def _masked(values: Mapping[str, str]) -> dict[str, Json]:
    return {name: " ".join(references([value])) or HIDDEN for name, value in values.items()}
