"""Writes a server of ours as an entry of a client: the way back."""

import re
from collections.abc import Iterator, Mapping

from toolcrib.client_config.entry_format import CannotConvert, EntryFormat
from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import ServerAddress, ServerCommand, ServerConfig, exact_names, is_sse_url

_ALONE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_BEARER = re.compile(r"Bearer \$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}", re.IGNORECASE)
_TIMES = {"start_timeout_s": 60.0, "call_timeout_s": 60.0}


def write_entry(shape: EntryFormat, server: ServerConfig) -> JsonObject:
    """The entry as the client writes it. Raises `CannotConvert` where it cannot say as much."""
    transport = server.transport
    body = (
        _local_entry(shape, transport)
        if isinstance(transport, ServerCommand)
        else _remote_entry(shape, transport)
    )
    entry = dict(shape.fixed) | dict(body)
    if server.disabled:
        if shape.off is None:
            raise CannotConvert("it is switched off, which the client's file cannot say")
        entry[shape.off[0]] = shape.off[1]
    entry |= dict(_tools(shape, server))
    for key, (ours, unit_s) in shape.times.items():
        seconds = float(getattr(server, ours))
        if seconds != _TIMES[ours]:
            entry[key] = round(seconds / unit_s)
    return entry


def _tools(shape: EntryFormat, server: ServerConfig) -> Iterator[tuple[str, Json]]:
    """Which tools there are, where not all are."""
    for key, patterns in (
        (shape.enabled_tools, server.enabled_tools),
        (shape.disabled_tools, server.disabled_tools or None),
    ):
        if patterns is not None:
            names = exact_names(patterns)
            if not key or names is None:
                raise CannotConvert("tools of it are disabled in a way that the client cannot say")
            yield key, [*names]


def _local_entry(shape: EntryFormat, command: ServerCommand) -> Iterator[tuple[str, Json]]:
    if command.isolation:
        raise CannotConvert("it runs isolated, which the client cannot do")
    if any(shape.references.filled(each) for each in (command.command, *command.args)):
        raise CannotConvert("the client would fill in something in its arguments")
    if shape.types:
        yield "type", shape.types[0]
    if shape.one_list:
        yield "command", [command.command, *command.args]
    else:
        yield "command", command.command
        yield "args", [*command.args]
    env, names = _environment(shape, command)
    if env:
        yield shape.env, env
    if names:
        yield shape.env_names, names
    if command.cwd:
        if not shape.cwd:
            raise CannotConvert("it starts in a folder of its own, which the client cannot say")
        yield "cwd", command.cwd


def _environment(shape: EntryFormat, command: ServerCommand) -> tuple[dict[str, Json], list[Json]]:
    """The variables with values, and the names of those that are handed on."""
    handed_on = {name: "${" + ours + "}" for name, ours in command.env_from.items()}
    wanted = {**handed_on, **command.env}
    env: dict[str, Json] = {}
    names: list[Json] = []
    for name, value in wanted.items():
        alone = _ALONE.fullmatch(value)
        if shape.env_names and alone and alone[1] == name:
            names.append(name)
        else:
            env[name] = _theirs(shape, value, f"variable {name}")
    return env, names


def _remote_entry(shape: EntryFormat, address: ServerAddress) -> Iterator[tuple[str, Json]]:
    if not shape.remote:
        raise CannotConvert("the client's file knows no servers that run elsewhere")
    if address.oauth:
        raise CannotConvert("it logs in by an `oauth` of its own, which is not written for clients")
    kind, key = _old(shape, address) if address.kind == "sse" else (None, shape.url)
    if shape.types:
        yield "type", kind or shape.types[1]
    yield key, _theirs(shape, address.url, "address")
    by_variable: dict[str, Json] = {}
    headers: dict[str, Json] = {}
    for name, value in address.headers.items():
        if shape.bearer and name.lower() == "authorization" and _BEARER.fullmatch(value):
            yield shape.bearer, _BEARER.sub(r"\1", value)
        elif shape.env_headers and _ALONE.fullmatch(value):
            by_variable[name] = _ALONE.sub(r"\1", value)
        else:
            headers[name] = _theirs(shape, value, f"header {name}")
    yield from _if_any({shape.headers: headers, shape.env_headers: by_variable})


def _old(shape: EntryFormat, address: ServerAddress) -> tuple[str | None, str]:
    """How the client says that a server speaks SSE: by a type, by a key, or by the path."""
    if shape.speaks_sse and shape.types and shape.types[1] == "http":
        return "sse", shape.url
    if shape.speaks_sse and (shape.sse or is_sse_url(address.url)):
        return None, shape.sse or shape.url
    raise CannotConvert("it speaks SSE, which the client cannot say")


def _if_any(maps: Mapping[str, dict[str, Json]]) -> Iterator[tuple[str, Json]]:
    for key, values in maps.items():
        if values:
            yield key, values


def _theirs(shape: EntryFormat, text: str, where: str) -> str:
    said = shape.references.theirs(text)
    if said is None:
        raise CannotConvert(f"its {where} refers to variables in a way that the client cannot say")
    return said
