"""The plan of an export: our servers stand in the client again, and the shim is gone."""

from collections.abc import Mapping, Sequence

from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import ServerCommand, ServerConfig
from toolcrib.takeover.clients import Client
from toolcrib.takeover.document import edited
from toolcrib.takeover.plan import Plan, Target
from toolcrib.takeover.references import CannotBeTaken
from toolcrib.takeover.shape import Shape
from toolcrib.takeover.shim import is_shim
from toolcrib.takeover.written import write_entry


def plan_export(target: Target, ours: Sequence[ServerConfig]) -> Plan:
    """Write our servers into a client's file in place of the shim; ours stay as they are.

    An entry that stands there already under the same name is left alone. Raises `ConfigError`.
    """
    opened = target.open()
    entries, left = entries_of(opened.layout.shape, ours)
    for name in [
        name for name, entry in entries.items() if opened.entries.get(name, entry) != entry
    ]:
        if not is_shim(opened.entries[name]):
            left[name] = "the client has another server of this name"
            del entries[name]
    drop = {name for name, entry in opened.entries.items() if is_shim(entry)}
    after = opened.edited(drop, entries)
    return Plan(target, opened.text, after, {name: name for name in entries}, left)


def entries_of(
    shape: Shape, ours: Sequence[ServerConfig]
) -> tuple[dict[str, JsonObject], dict[str, str]]:
    """Our servers in the client's words, and why some cannot be put in them."""
    entries: dict[str, JsonObject] = {}
    left: dict[str, str] = {}
    for server in ours:
        if _is_ours(server):
            continue
        try:
            entries[server.id] = write_entry(shape, server)
        except CannotBeTaken as error:
            left[server.id] = str(error)
    return entries, left


def printed(client: Client, entries: Mapping[str, JsonObject]) -> str:
    """The entries as a file of the client that holds nothing else."""
    return edited("", client.syntax, client.layouts[0].path, (), entries)


def _is_ours(server: ServerConfig) -> bool:
    """A shim among the servers would be a gateway behind itself."""
    transport = server.transport
    args: list[Json] = [*transport.args] if isinstance(transport, ServerCommand) else []
    return isinstance(transport, ServerCommand) and is_shim(
        {"command": transport.command, "args": args}
    )
