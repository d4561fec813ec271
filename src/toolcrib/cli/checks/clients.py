"""Whether the MCP clients of this machine reach the gateway, as far as their files tell."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress

from toolcrib.cli.checks.diagnosis import CheckContext, Diagnosis
from toolcrib.client_config import (
    CLIENTS,
    CannotConvert,
    ClientDocument,
    ClientFile,
    is_shim,
    read_entry,
    shim_path,
    this_machine,
)
from toolcrib.errors import ConfigError
from toolcrib.model import Json
from toolcrib.settings import own_servers_file
from toolcrib.sources.mcp import ServerConfig, read_table

AREA = "clients"


def check_clients(patient: CheckContext) -> Iterator[Diagnosis]:
    """What is wrong with the file of each client that is found; projects are not looked for."""
    machine = this_machine(os.environ)
    paths = [(client, path) for client in CLIENTS for path in client.paths(machine)]
    found = [ClientFile(client, path, machine.home) for client, path in paths if path.is_file()]
    for target in found:
        yield from _of(target, patient)
    if not found:
        yield Diagnosis(AREA, "ok", "no MCP client keeps a file here")


def _of(target: ClientFile, patient: CheckContext) -> Iterator[Diagnosis]:
    try:
        opened = target.open()
    except ConfigError as error:
        remedy = f"correct it; {target.client.title} may not read it either"
        yield Diagnosis(AREA, "problem", str(error), remedy)
        return
    wrong = [*_reading(opened), *_shims(opened, patient), *_twice(opened, patient)]
    yield from wrong or [_in_order(opened)]


def _in_order(opened: ClientDocument) -> Diagnosis:
    target, shims = opened.target, _all_shims(opened)
    others = len(opened.entries) - len(shims)
    if shims:
        words = f"sees the gateway; servers of its own beside it: {others}"
    else:
        words = f"servers of its own: {others}; `toolcrib import` puts the gateway in front"
    return Diagnosis(AREA, "ok", f"{target.client.title}: {words}")


def _all_shims(opened: ClientDocument) -> dict[str, Json]:
    return {name: entry for name, entry in opened.entries.items() if is_shim(entry)}


def _reading(opened: ClientDocument) -> Iterator[Diagnosis]:
    """Whether the client reads what we have read."""
    client, path = opened.target.client, opened.target.path
    if client.relaxed is not False:
        return
    try:
        json.loads(opened.text or "{}")
    except ValueError:
        message = f"{path}: has comments or a comma too many, which {client.title} does not read"
        yield Diagnosis(AREA, "problem", message, "take them out")


def _shims(opened: ClientDocument, patient: CheckContext) -> Iterator[Diagnosis]:
    target = opened.target
    client, again = target.client, f"toolcrib import --client {target.client.name}"
    for name, entry in _all_shims(opened).items():
        command = shim_path(entry)
        if not shutil.which(command):
            message = f"{client.title}: {command} is not there, or cannot be run"
            yield Diagnosis(AREA, "problem", message, again)
        elif not client.lets_in(opened.document, name):
            message = f"{client.title}: {'.'.join(client.allowed)} does not let {name!r} in"
            yield Diagnosis(AREA, "problem", message, f"add it to the list in {target.path}")
        elif target.path.resolve() in {file.resolve() for file in patient.settings.mcp_config}:
            message = f"{target.path} lists the gateway, which reads its own servers from it"
            yield Diagnosis(AREA, "problem", message, "take it out of `mcp_config`")


def _twice(opened: ClientDocument, patient: CheckContext) -> Iterator[Diagnosis]:
    """Servers that a client starts by itself although it reaches them through the gateway."""
    client = opened.target.client
    ours = [source.config for source in patient.servers.sources]
    shims = _all_shims(opened)
    for name in [name for name in opened.entries if shims and name not in shims]:
        same = _same(opened, name, ours)
        if same:
            message = f"{client.title}: {name} stands there, and is {same[0]} of the gateway too"
            remedy = f"toolcrib import --client {client.name}"
            yield Diagnosis(AREA, "warning", message, remedy)


def _same(opened: ClientDocument, name: str, ours: Sequence[ServerConfig]) -> list[str]:
    """The servers of ours that are the same program, or address, as an entry of the client."""
    target = opened.target
    with suppress(CannotConvert):
        taken = read_entry(opened.layout.shape, opened.entries[name], target.home)
        read = read_table(own_servers_file(), {name: taken.entry}).servers
        return [each.id for each in ours if each.transport in [one.transport for one in read]]
    return []
