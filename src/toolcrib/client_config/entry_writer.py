"""Writes a server of ours as an entry of a client: the way back."""

import re
from collections.abc import Iterator, Mapping

from toolcrib.client_config.entry_format import CannotConvert, EntryFormat, exact_names
from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp import ServerAddress, ServerCommand, ServerConfig

_ALONE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_BEARER = re.compile(r"Bearer \$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}", re.IGNORECASE)
_TIMES = {"start_timeout_s": 60.0, "call_timeout_s": 300.0}


def write_entry(fmt: EntryFormat, server: ServerConfig) -> JsonObject:
    """The entry as the client writes it. Raises `CannotConvert` where it cannot say as much."""
    transport = server.transport
    body = (
        _local_entry(fmt, transport)
        if isinstance(transport, ServerCommand)
        else _remote_entry(fmt, transport)
    )
    entry = dict(fmt.fixed) | dict(body)
    if server.disabled:
        if fmt.off is None:
            raise CannotConvert("it is switched off, and the client's file has no key for that")
        entry[fmt.off[0]] = fmt.off[1]
    entry |= dict(_tools(fmt, server))
    for key, (ours, unit_s) in fmt.times.items():
        seconds = float(getattr(server, ours))
        if seconds != _TIMES[ours]:
            entry[key] = round(seconds / unit_s)
    return entry


def _tools(fmt: EntryFormat, server: ServerConfig) -> Iterator[tuple[str, Json]]:
    """Which tools there are, where not all are."""
    for key, patterns in (
        (fmt.enabled_tools, server.enabled_tools),
        (fmt.disabled_tools, server.disabled_tools or None),
    ):
        if patterns is not None:
            names = exact_names(patterns)
            if not key or names is None:
                raise CannotConvert(
                    "some of its tools are disabled, and the client's file has no key for that"
                )
            yield key, [*names]


def _local_entry(fmt: EntryFormat, command: ServerCommand) -> Iterator[tuple[str, Json]]:
    if command.isolation:
        raise CannotConvert("it runs isolated, which the client cannot do")
    if any(fmt.references.has_references(each) for each in (command.command, *command.args)):
        raise CannotConvert("the client would take a part of its arguments for a variable")
    if fmt.types:
        yield "type", fmt.types[0]
    if fmt.one_list:
        yield "command", [command.command, *command.args]
    else:
        yield "command", command.command
        yield "args", [*command.args]
    env, names = _environment(fmt, command)
    if env:
        yield fmt.env, env
    if names:
        yield fmt.env_names, names
    if command.cwd:
        if not fmt.cwd:
            raise CannotConvert(
                "it starts in a folder of its own, and the client's file has no key for that"
            )
        yield "cwd", command.cwd


def _environment(fmt: EntryFormat, command: ServerCommand) -> tuple[dict[str, Json], list[Json]]:
    """The variables with values, and the names of those that are handed on."""
    handed_on = {name: "${" + ours + "}" for name, ours in command.env_from.items()}
    variables = {**handed_on, **command.env}
    env: dict[str, Json] = {}
    names: list[Json] = []
    for name, value in variables.items():
        alone = _ALONE.fullmatch(value)
        if fmt.env_names and alone and alone[1] == name:
            names.append(name)
        else:
            env[name] = _theirs(fmt, value, f"variable {name}")
    return env, names


def _remote_entry(fmt: EntryFormat, address: ServerAddress) -> Iterator[tuple[str, Json]]:
    if not fmt.remote:
        raise CannotConvert("the client's file has no key for the address of a server")
    if address.oauth:
        raise CannotConvert("it has an `oauth` of its own, which is not written into client files")
    kind, key = _old(fmt, address) if address.kind == "sse" else (None, fmt.url)
    if fmt.types:
        yield "type", kind or fmt.types[1]
    yield key, _theirs(fmt, address.url, "address")
    by_variable: dict[str, Json] = {}
    headers: dict[str, Json] = {}
    for name, value in address.headers.items():
        if fmt.bearer and name.lower() == "authorization" and _BEARER.fullmatch(value):
            yield fmt.bearer, _BEARER.sub(r"\1", value)
        elif fmt.env_headers and _ALONE.fullmatch(value):
            by_variable[name] = _ALONE.sub(r"\1", value)
        else:
            headers[name] = _theirs(fmt, value, f"header {name}")
    yield from _if_any({fmt.headers: headers, fmt.env_headers: by_variable})


def _old(fmt: EntryFormat, address: ServerAddress) -> tuple[str | None, str]:
    """How the client says that a server speaks SSE: by a type, by a key, or by the path."""
    if fmt.speaks_sse and fmt.types and fmt.types[1] == "http":
        return "sse", fmt.url
    if fmt.speaks_sse and (fmt.sse or ServerAddress.is_sse(address.url)):
        return None, fmt.sse or fmt.url
    raise CannotConvert("it speaks SSE, and the client's file has no way to say so")


def _if_any(maps: Mapping[str, dict[str, Json]]) -> Iterator[tuple[str, Json]]:
    for key, values in maps.items():
        if values:
            yield key, values


def _theirs(fmt: EntryFormat, text: str, where: str) -> str:
    theirs = fmt.references.theirs(text)
    if theirs is None:
        raise CannotConvert(
            f"its {where} refers to variables in a way that the client does not know"
        )
    return theirs
