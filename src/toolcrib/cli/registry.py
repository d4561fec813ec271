"""`toolcrib add --from`: a server as the MCP registry describes it, shown before it is taken."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import typer

from toolcrib.cli.consent import Consent, at_terminal
from toolcrib.cli.screen import console, safe, warn
from toolcrib.errors import ConfigError
from toolcrib.model import JsonObject
from toolcrib.settings import own_servers_file
from toolcrib.sources import read_text_file
from toolcrib.sources.mcp import (
    Distribution,
    EntryDraft,
    RegistryInput,
    RegistryServer,
    ServerAddress,
    ServerCommand,
    read_table,
    variables_read,
)
from toolcrib.text import Redactor, printable

MOST_CHARACTERS = 1024 * 1024


def entry_from_registry(
    file: str, name: str, use: str, given: Sequence[str], consent: Consent, inherits: Sequence[str]
) -> tuple[str, JsonObject]:
    """The name and the entry that the person agrees to, or only looks at. Raises `ConfigError`.

    `inherits` are the variables that all servers are given. On a terminal what is missing is asked
    for; elsewhere it is an error that says how to give it.
    """
    consent.refuse_silence()
    published = RegistryServer.read(*_read(file))
    way = _way(published, use)
    values = dict(map(_value, given))
    filled = way.fill(values)
    while filled.missing:
        values |= _ask_for(filled.missing, consent)
        filled = way.fill(values)
    name = name or published.short_name
    if not consent.as_json:
        given_secrets = Redactor(values[key] for key in filled.written)
        _show(published, way, filled.entry, inherits, given_secrets)
    _warn(filled)
    if not (consent.dry_run or consent.agreed(f"Add it as {name}?")):
        raise typer.Exit(1)
    return name, filled.entry


def _read(file: str) -> tuple[str, str]:
    if file == "-":
        return sys.stdin.read(MOST_CHARACTERS), "standard input"
    return read_text_file(Path(file)), file


def _value(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise ConfigError(f"`--value` takes NAME=TEXT, not {text!r}")
    return name, value


def _way(published: RegistryServer, use: str) -> Distribution:
    """The one that is asked for; else the first whose program is here, else an address."""
    if use and use not in Distribution.KINDS:
        raise ConfigError(f"there is no kind {use!r}; there are {', '.join(Distribution.KINDS)}")
    ways = [way for way in published.distributions if use in ("", way.kind)]
    if not ways:
        kinds = (
            ", ".join(way.kind for way in published.distributions) or "no way that can be used here"
        )
        why = "; ".join(published.unusable)
        raise ConfigError(f"{published.name} has {kinds}{f' ({why})' if why else ''}")
    return next((way for way in ways if _is_here(way)), ways[0])


def _is_here(way: Distribution) -> bool:
    return way.kind == "remote" or shutil.which(way.command) is not None


def _ask_for(missing: Sequence[RegistryInput], consent: Consent) -> Mapping[str, str]:
    if consent.yes or consent.as_json or not at_terminal():
        options = " ".join(f"--value {each.key}=..." for each in missing)
        meanings = (f"{each.key}: {each.description or 'no description'}" for each in missing)
        raise ConfigError(f"it needs {options} ({'; '.join(meanings)})")
    return {each.key: _ask(each) for each in missing}


def _ask(each: RegistryInput) -> str:
    words = f"{each.description or each.key} ({each.key}"
    end = f"; one of {', '.join(each.choices)})" if each.choices else ")"
    answer = typer.prompt(safe(words + end).plain, hide_input=each.is_secret)
    return cast("str", answer)


def _show(
    published: RegistryServer,
    way: Distribution,
    entry: JsonObject,
    inherits: Sequence[str],
    given_secrets: Redactor,
) -> None:
    """All that would be run, sent and read, as it stands; only secrets that were given are hidden.

    Each is on one line, and what hides in it is spelt out: a stranger has written it.
    """
    transport = _transport(entry)
    reads = ", ".join(variables_read(transport, os.environ, inherits))
    others = dict.fromkeys(each.kind for each in published.distributions if each is not way)
    lines = [f"{published.name} {published.version}"]
    lines += [published.description] if published.description else []
    if isinstance(transport, ServerCommand):
        lines.append(f"  runs {shlex.join([transport.command, *transport.args])}")
        values = transport.env
    else:
        lines.append(f"  is reached at {transport.url}")
        values = transport.headers
    lines += [f"  is given {name}: {value}" for name, value in values.items()]
    lines.append(f"  reads your variables: {reads or 'none'}")
    lines += [f"  other ways, by --use: {', '.join(others)}"] if others else []
    for number, line in enumerate(lines):
        shown = printable(given_secrets.text(line)).replace("\n", r"\n")
        console().print(safe(shown), style="" if number else "bold", soft_wrap=True)


def _transport(entry: JsonObject) -> ServerCommand | ServerAddress:
    read = read_table(own_servers_file(), {"server.json": entry})
    if read.problems:
        raise ConfigError(read.problems[0])
    return read.servers[0].transport


def _warn(filled: EntryDraft) -> None:
    """Say which variables have to be set, and which secrets are written down."""
    for each in filled.secrets:
        if not os.environ.get(each.key):
            meaning = f": {each.description}" if each.description else ""
            warn(f"the variable {each.key} is not set here; set it where Toolcrib runs{meaning}")
    for key in filled.written:
        warn(f"the secret {key} is written down in your `servers.json`")
