"""Reads the `mcpServers` JSON that every client uses, as it is, with a few keys of our own.

Nothing in such a file is fatal but the file itself: a server that cannot be used is a problem and
costs no other, a key that means nothing is a problem and costs nothing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeGuard, cast, get_args

from toolcrib.errors import ConfigError, ToolcribError
from toolcrib.model import Defer, Json, JsonObject, PermissionKind
from toolcrib.settings import own_servers_file
from toolcrib.sources.last_good import LastGood
from toolcrib.sources.mcp.fields import Fields, patterns
from toolcrib.sources.mcp.isolation_keys import read_isolation
from toolcrib.sources.mcp.server import (
    Address,
    Command,
    Grant,
    OAuth,
    ServerConfig,
    Transport,
    Trust,
)
from toolcrib.sources.mcp.switches import Switches, read_switches
from toolcrib.sources.text_file import read_text

LONGEST_ID = 128
LAST_PORT = 65_535
TABLES = ("mcpServers", "servers")  # `servers` is VS Code's word
KEYS = frozenset(
    {"type", "command", "args", "env", "cwd", "url", "headers", "disabled"}
    | {"tool_prefix", "idle_timeout_s", "start_timeout_s", "install_timeout_s", "call_timeout_s"}
    | {"env_from"}
    | {"permission", "defer", "always_load", "trust", "oauth", "elicitation", "sampling"}
    | {"enabled_tools", "disabled_tools", "believe_annotations", "description"}
    | {"isolation", "isolation_paths", "isolation_network", "isolation_image"}
)
OVERRIDES = "overrides"
OVERRIDE_KEYS = frozenset({"disabled", "enabled_tools", "disabled_tools"})
"""What our own file may say of servers that stand in other files."""
OAUTH_KEYS = frozenset({"grant", "client_id", "client_secret", "issuer", "scope", "redirect_port"})
# What other clients keep beside these and what means nothing here.
OTHERS = frozenset({"alwaysAllow", "autoApprove", "dev", "gallery", "icon", "name", "timeout"})
HTTP_TYPES = ("http", "streamable-http", "streamableHttp", "streamable_http")


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers of one or more files, in their order, and what is wrong with the rest.

    `broken` are the names of those that cannot be used as they are written. `broken_files` says
    what is wrong with each file that cannot be used at all; that is among `problems` too.
    `overrides` are what our own file says of servers in others, by their names.
    """

    servers: tuple[ServerConfig, ...]
    problems: tuple[str, ...]
    broken: tuple[str, ...] = ()
    broken_files: tuple[str, ...] = ()
    overrides: Mapping[str, Fields] = field(default_factory=dict[str, Fields])


def read_servers(paths: Sequence[Path], last_good: LastGood | None = None) -> Servers:
    """All servers of these files; of two with one id, or one prefix, the first.

    A file that cannot be used is a problem and costs no other. With `last_good`, what it said
    before stands in for it. What our own file says under `overrides` is laid over them.
    """
    found: dict[str, ServerConfig] = {}
    problems: list[str] = []
    broken: list[str] = []
    broken_files: list[str] = []
    every = [(path, _read_file(path, last_good)) for path in paths]
    overrides = {id: fields for _, read in every for id, fields in read.overrides.items()}
    for path, read in every:
        problems += read.problems
        broken += read.broken
        broken_files += read.broken_files
        for each in read.servers:
            server = _overridden(each, overrides.get(each.id))
            if found.setdefault(server.prefix or server.id, server) is not server:
                problems.append(f"{path}: {server.id!r} is the name of another server; rename one")
    return Servers(tuple(found.values()), tuple(problems), tuple(broken), tuple(broken_files))


def _read_file(path: Path, last_good: LastGood | None) -> Servers:
    """The servers of one file, or those that it had when it could last be used."""
    try:
        text = read_text(path)
        read = _parsed(path, text)
    except ToolcribError as error:
        return _stood_in(path, error, last_good)
    if last_good:
        last_good.keep(path, text.encode())
    return read


def _stood_in(path: Path, error: ToolcribError, last_good: LastGood | None) -> Servers:
    """What is had of a file that cannot be used. One that is gone was taken away, not broken."""
    copy = None
    if last_good and isinstance(error.__cause__, FileNotFoundError):
        last_good.forget(path)
    elif last_good:
        copy = last_good.read(path)
    if copy is None:
        return Servers((), (str(error),), broken_files=(str(error),))
    said = f"{error}. Until then, what it said before holds"
    try:
        before = _parsed(path, copy.decode())
    except (ToolcribError, ValueError):  # of another version, or damaged
        return Servers((), (str(error),), broken_files=(str(error),))
    return replace(before, problems=(said, *before.problems), broken_files=(said,))


def _parsed(path: Path, text: str) -> Servers:
    """The servers in the text of a file. Raises `ConfigError` naming file and line."""
    try:
        top = cast("Json", json.loads(text))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}:{error.lineno}: not JSON: {error.msg}; correct it") from error
    except RecursionError as error:
        raise ConfigError(f"{path}:1: nested too deep; correct it") from error
    table = next((top[name] for name in TABLES if name in top), None) if _is_object(top) else None
    if not _is_object(top) or not _is_object(table):
        raise ConfigError(f"{path}:1: has no object `mcpServers`; it lists the servers by name")
    read = read_table(path, table)
    if path != own_servers_file():
        return read
    problems = [*read.problems]
    overrides = _overrides(path, top, problems)
    return replace(read, problems=tuple(problems), overrides=overrides)


def _overrides(path: Path, top: JsonObject, problems: list[str]) -> Mapping[str, Fields]:
    """What our own file says of servers in other files, by their names."""
    where = f"{path}: {OVERRIDES}"
    found = top.get(OVERRIDES)
    table: JsonObject = found if _is_object(found) else {}
    read = {id: Fields(f"{where}: {id!r}", each) for id, each in table.items() if _is_object(each)}
    if found is not None and (not _is_object(found) or len(read) < len(found)):
        problems.append(f"{where}: has to be an object of objects, by the names of servers")
    for fields in read.values():
        fields.report_unknown(OVERRIDE_KEYS, ())
        problems += fields.problems
    return read


def _overridden(server: ServerConfig, fields: Fields | None) -> ServerConfig:
    return read_switches(fields, Switches.of(server)).on(server) if fields else server


def read_table(path: Path, table: JsonObject) -> Servers:
    """The servers of a table that stands, or is going to stand, in this file."""
    problems: list[str] = []
    servers = tuple(_servers(path, table, problems))
    broken = table.keys() - {each.id for each in servers}
    return Servers(servers, tuple(problems), tuple(sorted(broken)))


def _servers(path: Path, table: JsonObject, problems: list[str]) -> Iterator[ServerConfig]:
    for id, values in table.items():
        where = f"{path}: server {id!r}"
        if not _is_object(values) or not 0 < len(id) <= LONGEST_ID:
            problems.append(f"{where}: has to be an object under a name of 1 to {LONGEST_ID} signs")
            continue
        fields = Fields(where, values)
        server = _server(id, fields, path)
        fields.report_unknown(KEYS, OTHERS)
        problems += fields.problems
        if server:
            yield server


def _server(id: str, fields: Fields, path: Path) -> ServerConfig | None:
    transport = _transport(fields, path.parent)
    if transport is None:
        return None
    switches = read_switches(fields, Switches())
    return ServerConfig(
        id=id,
        transport=transport,
        prefix=fields.text("tool_prefix"),
        disabled=switches.disabled,
        idle_timeout_s=fields.seconds("idle_timeout_s", 300.0),
        start_timeout_s=fields.seconds("start_timeout_s", 60.0),
        install_timeout_s=fields.seconds("install_timeout_s", 600.0),
        call_timeout_s=fields.seconds("call_timeout_s", 60.0),
        permission=fields.custom("permission", _permission, (), "an object of permission kinds"),
        defer=fields.choice("defer", Defer, None),
        always_load=fields.custom("always_load", patterns, (), "true or a list of tool names"),
        trust=fields.choice("trust", Trust, "pinned"),
        believe_annotations=fields.flag("believe_annotations", default=True),
        elicitation=fields.flag("elicitation", default=True),
        sampling=fields.flag("sampling"),
        description=fields.text("description"),
        enabled_tools=switches.enabled_tools,
        disabled_tools=switches.disabled_tools,
        is_own=path == own_servers_file(),
    )


def _transport(fields: Fields, folder: Path) -> Transport | None:
    """How to reach it; None, and a problem, where that is not said or not possible."""
    kind, command, url = fields.text("type"), fields.text("command"), fields.text("url")
    if url and (kind == "sse" or (not kind and says_sse(url))):
        return _address(fields, url, "sse")
    if url and kind in ("", *HTTP_TYPES):
        return _address(fields, url, "http")
    if command and kind in ("", "stdio"):
        return _command(fields, command, folder)
    fields.problem("needs a `command` to start (type stdio) or a `url` (type http, or sse)")
    return None


def says_sse(url: str) -> bool:
    """Whether the path of an address says that an old server is there, as clients take it."""
    return url.partition("?")[0].rstrip("/").endswith("/sse")


def _address(fields: Fields, url: str, kind: Literal["http", "sse"]) -> Address | None:
    if not url.startswith(("http://", "https://", "${")):
        fields.problem("its `url` has to begin with http:// or https://")
        return None
    if fields.has("isolation"):
        fields.problem("runs elsewhere, so `isolation` means nothing; take it out")
        return None
    return Address(url, fields.text_map("headers"), _oauth(fields), kind)


def _oauth(fields: Fields) -> OAuth | None:
    """How to be let in; None, and perhaps a problem, where nothing usable says so."""
    inner = fields.inner("oauth")
    if inner is None:
        return None
    oauth = OAuth(
        grant=inner.choice("grant", Grant, "authorization_code"),
        client_id=inner.text("client_id"),
        client_secret=inner.text("client_secret"),
        issuer=inner.text("issuer"),
        scope=inner.text("scope"),
        redirect_port=inner.custom("redirect_port", _port, 0, "a port, 1 to 65535"),
    )
    inner.report_unknown(OAUTH_KEYS, ())
    if oauth.grant == "client_credentials" and not (
        oauth.client_id and oauth.client_secret and oauth.issuer.startswith(("http://", "https://"))
    ):
        inner.problem("client_credentials needs a `client_id`, a `client_secret`, an `issuer`")
        return None
    return oauth


def _port(value: Json) -> int | None:
    return value if isinstance(value, int) and 0 < value <= LAST_PORT else None


def _command(fields: Fields, command: str, folder: Path) -> Command | None:
    """None, and a problem, where it is to run in a box and nobody can tell in which."""
    cwd = fields.text("cwd")
    isolation = read_isolation(fields, folder)
    if isolation is None and fields.has("isolation"):
        return None
    return Command(
        command=command,
        args=fields.texts("args"),
        env=fields.text_map("env"),
        env_from=fields.custom("env_from", _env_from, {}, "a list of names, or an object of them"),
        cwd=str(folder / Path(cwd).expanduser()) if cwd else None,
        isolation=isolation,
    )


def _env_from(value: Json) -> Mapping[str, str] | None:
    """`["TOKEN"]` as well as `{"TOKEN": "MY_TOKEN"}`, which fills TOKEN from our MY_TOKEN."""
    if _is_object(value):
        return {key: name for key, name in value.items() if isinstance(name, str)}
    names = patterns(value)
    return None if names is None or value is True else {name: name for name in names}


def _permission(value: Json) -> tuple[tuple[str, PermissionKind], ...] | None:
    if not _is_object(value):
        return None
    kinds: dict[object, PermissionKind] = {kind: kind for kind in get_args(PermissionKind)}
    if not all(isinstance(kind, str) and kind in kinds for kind in value.values()):
        return None
    return tuple((pattern, kinds[kind]) for pattern, kind in value.items())


def _is_object(value: Json) -> TypeGuard[JsonObject]:
    return isinstance(value, Mapping)
