"""The config_hash, equal as long as a server is configured the same, and the program_hash.

Each is keyed by a secret of this installation and covers names and references of secrets, never
their values: a plain hash over values would let anyone who reads a cache try out weak ones.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path

from toolcrib.errors import SourceError
from toolcrib.sources.mcp.program import program
from toolcrib.sources.mcp.server import Address, Command, Transport
from toolcrib.sources.mcp.variables import references
from toolcrib.sources.private_file import create_bytes, make_folder, read_bytes

KEY_BYTES = 32


def install_key(path: Path) -> bytes:
    """The secret of this installation, made at first need. Raises `SourceError`."""
    try:
        if not path.exists():
            make_folder(path.parent)
            create_bytes(path, os.urandom(KEY_BYTES))
        key = read_bytes(path, KEY_BYTES)
    except OSError as error:
        raise SourceError(f"{path}: {error.strerror or error}; make it readable for you") from error
    if len(key) != KEY_BYTES:
        raise SourceError(f"{path}: is not a key of {KEY_BYTES} bytes; remove it to get a new one")
    return key


def config_hash(transport: Transport, key: bytes) -> str:
    """A keyed BLAKE2 over canonical JSON of all that makes the server the one it is."""
    facts = _command(transport) if isinstance(transport, Command) else _address(transport)
    return _hash(facts, key)


def program_hash(transport: Transport, key: bytes) -> str:
    """The same over what makes it the program it is, whatever that is told; see `program`."""
    return _hash(program(transport), key)


def _hash(facts: Mapping[str, object], key: bytes) -> str:
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(canonical.encode(), key=key, digest_size=32).hexdigest()


def _command(transport: Command) -> dict[str, object]:
    return {
        "transport": "stdio",
        "command": transport.command,
        "args": list(transport.args),
        "cwd": transport.cwd,
        "env": sorted(transport.env),
        "references": references(transport.env.values()),
        "env_from": sorted(transport.env_from.items()),
        **({"isolation": astuple(transport.isolation)} if transport.isolation else {}),
    }


def _address(transport: Address) -> dict[str, object]:
    oauth = transport.oauth
    client = {"oauth": [oauth.grant, oauth.client_id, oauth.issuer]} if oauth else {}
    return {
        "transport": transport.kind,
        "url": transport.url,
        "headers": sorted(transport.headers),
        "references": references(transport.headers.values()),
        **client,
    }
