"""Whether the MCP clients of this machine reach the gateway, as far as their files tell."""

import json
import shutil
from collections.abc import Iterator

from toolcrib.cli.checks.diagnosis import CheckContext, Diagnosis
from toolcrib.client_config import ClientDocument, ClientFile, client_files
from toolcrib.errors import ConfigError

AREA = "clients"


def check_clients(context: CheckContext) -> Iterator[Diagnosis]:
    """What is wrong with the file of each client that is found; projects are not looked for."""
    files = [each for each in client_files() if each.path.is_file()]
    for file in files:
        yield from _check_file(file, context)
    if not files:
        yield Diagnosis(AREA, "ok", "no MCP client keeps a file here")


def _check_file(target: ClientFile, context: CheckContext) -> Iterator[Diagnosis]:
    try:
        document = target.read()
    except ConfigError as error:
        remedy = f"correct it; {target.client.title} may not read it either"
        yield Diagnosis(AREA, "problem", str(error), remedy)
        return
    wrong = [
        *_unreadable(document),
        *_broken_shims(document, context),
        *_started_twice(document, context),
    ]
    yield from wrong or [_healthy(document)]


def _healthy(document: ClientDocument) -> Diagnosis:
    target, shims = document.target, document.shims
    others = len(document.entries) - len(shims)
    if shims:
        words = f"has the gateway; servers of its own: {others}"
    else:
        words = f"servers of its own: {others}; `toolcrib import` puts the gateway in front"
    return Diagnosis(AREA, "ok", f"{target.client.title}: {words}")


def _unreadable(document: ClientDocument) -> Iterator[Diagnosis]:
    """A file that we can read and the client cannot."""
    client, path = document.target.client, document.target.path
    if client.relaxed is not False:
        return
    try:
        json.loads(document.text or "{}")
    except ValueError:
        message = f"{path}: has comments or a comma too many, which {client.title} does not read"
        yield Diagnosis(AREA, "problem", message, "take them out")


def _broken_shims(document: ClientDocument, context: CheckContext) -> Iterator[Diagnosis]:
    target = document.target
    client, again = target.client, f"toolcrib import --client {target.client.name}"
    for name, command in document.shims.items():
        if not shutil.which(command):
            message = f"{client.title}: {command} is not there, or cannot be run"
            yield Diagnosis(AREA, "problem", message, again)
        elif not client.lets_in(document.content, name):
            message = f"{client.title}: {'.'.join(client.allowed)} does not let {name!r} in"
            yield Diagnosis(AREA, "problem", message, f"add it to the list in {target.path}")
        elif target.path.resolve() in {file.resolve() for file in context.settings.mcp_config}:
            message = f"{target.path} lists the gateway, which reads its own servers from it"
            yield Diagnosis(AREA, "problem", message, "take it out of `mcp_config`")


def _started_twice(document: ClientDocument, context: CheckContext) -> Iterator[Diagnosis]:
    """Servers that a client starts by itself although it reaches them through the gateway."""
    client = document.target.client
    ours = [source.config for source in context.servers.sources]
    shims = document.shims
    for name in [name for name in document.entries if shims and name not in shims]:
        same = document.same_servers(name, ours)
        if same:
            message = f"{client.title}: starts {name} itself, which is {same[0]} of the gateway"
            remedy = f"toolcrib import --client {client.name}"
            yield Diagnosis(AREA, "warning", message, remedy)
