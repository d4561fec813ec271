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
from toolcrib.sources import read_text_file
from toolcrib.sources.mcp import Distribution, EntryDraft, RegistryInput, RegistryServer

MOST_CHARACTERS = 1024 * 1024


def entry_from_registry(
    file: str, name: str, use: str, given: Sequence[str], consent: Consent
) -> tuple[str, JsonObject]:
    """The name and the entry that the person agrees to. Raises `ConfigError`.

    On a terminal what is missing is asked for; elsewhere it is an error that says how to give it.
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
        _show(published, way, filled)
    _warn(filled)
    if not consent.agreed(f"Add it as {name}?"):
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
    entry = way.fill({}).entry
    return way.kind == "remote" or shutil.which(str(entry["command"])) is not None


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


def _show(published: RegistryServer, way: Distribution, filled: EntryDraft) -> None:
    screen = console()
    screen.print(safe(f"{published.name} {published.version}"), style="bold", soft_wrap=True)
    if published.description:
        screen.print(safe(published.description), soft_wrap=True)
    entry = filled.entry
    if way.kind == "remote":
        screen.print(safe(f"  is reached at {entry['url']}"), soft_wrap=True)
    else:
        args = cast("list[str]", entry.get("args", []))
        line = shlex.join([str(entry["command"]), *args])
        screen.print(safe(f"  runs {line}"), soft_wrap=True)
    for key in ("env", "env_from", "headers"):
        if entry.get(key):
            names = ", ".join(cast("Mapping[str, str]", entry[key]))
            screen.print(safe(f"  {key}: {names}"), soft_wrap=True)
    others = [each.kind for each in published.distributions if each is not way]
    if others:
        screen.print(safe(f"  other ways, by --use: {', '.join(dict.fromkeys(others))}"))


def _warn(filled: EntryDraft) -> None:
    """Say which variables have to be set, and which secrets are written down."""
    for each in filled.secrets:
        if not os.environ.get(each.key):
            meaning = f": {each.description}" if each.description else ""
            warn(f"the variable {each.key} is not set here; set it where Toolcrib runs{meaning}")
    for key in filled.written:
        warn(f"the secret {key} is written down in your `servers.json`")
