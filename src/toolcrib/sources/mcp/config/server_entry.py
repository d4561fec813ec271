"""One entry of `mcpServers`: its keys, and the `ServerConfig` that they mean.

A key that cannot be read is a problem, and its default holds. A key that restricts something, and
that cannot be read, restricts all of it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, get_args

from toolcrib.model import Defer, Json, PermissionKind
from toolcrib.sources.mcp.config.fields import Fields, is_object, read_patterns
from toolcrib.sources.mcp.config.server import (
    Grant,
    Isolation,
    IsolationTool,
    OAuth,
    PathMode,
    ServerAddress,
    ServerCommand,
    ServerConfig,
    Transport,
    TrustPolicy,
)
from toolcrib.sources.mcp.config.switches import Switches, read_switches

LAST_PORT = 65_535
ENTRY_KEYS = frozenset(
    {"type", "command", "args", "env", "cwd", "url", "headers", "disabled"}
    | {"tool_prefix", "idle_timeout_s", "start_timeout_s", "install_timeout_s", "call_timeout_s"}
    | {"env_from", "calls_at_once", "calls_waiting"}
    | {"permission", "defer", "always_load", "trust", "oauth", "elicitation", "sampling"}
    | {"enabled_tools", "disabled_tools", "believe_annotations", "description"}
    | {"isolation", "isolation_paths", "isolation_network", "isolation_image"}
)
ISOLATION_KEYS = ("isolation_paths", "isolation_network", "isolation_image")
OAUTH_KEYS = frozenset({"grant", "client_id", "client_secret", "issuer", "scope", "redirect_port"})
# Keys of other clients that mean nothing here.
FOREIGN_KEYS = frozenset(
    {"alwaysAllow", "autoApprove", "dev", "gallery", "icon", "name", "timeout"}
)

_DEFAULTS = ServerConfig("", ServerCommand(""))
_NOT_OURS = (
    "`trust: open` and `sampling` do not count in a file that others may write;"
    " `toolcrib import` takes the server over"
)


class ServerEntry(TypedDict, total=False):
    """The keys of one server; docs/guide/mcp.md says what they mean."""

    command: str | Sequence[str]
    args: Sequence[str]
    env: Mapping[str, str]
    env_from: Sequence[str] | Mapping[str, str]
    cwd: str
    url: str
    headers: Mapping[str, str]
    oauth: Mapping[str, Any]
    disabled: bool
    tool_prefix: str
    idle_timeout_s: float
    start_timeout_s: float
    install_timeout_s: float
    call_timeout_s: float
    calls_at_once: int
    calls_waiting: int
    permission: Mapping[str, PermissionKind]
    defer: str
    always_load: bool | Sequence[str]
    trust: TrustPolicy
    believe_annotations: bool
    elicitation: bool
    sampling: bool
    isolation: IsolationTool
    isolation_paths: Mapping[str, str]
    isolation_network: bool
    isolation_image: str
    enabled_tools: Sequence[str]
    disabled_tools: Sequence[str]


def read_entry(id: str, fields: Fields, folder: Path, *, is_own: bool) -> ServerConfig | None:
    """The server that an entry means; None, and a problem, if it cannot be reached.

    `folder` is that of its file, and `is_own` whether that is our own one.
    """
    transport = _transport(fields, folder)
    if transport is None:
        return None
    switches = read_switches(fields, Switches())
    trust: TrustPolicy = fields.choice("trust", TrustPolicy, _DEFAULTS.trust)
    sampling = fields.flag("sampling", default=_DEFAULTS.sampling)
    if not is_own and (trust == "open" or sampling):
        fields.problem(_NOT_OURS)
        trust, sampling = _DEFAULTS.trust if trust == "open" else trust, False
    return ServerConfig(
        id=id,
        transport=transport,
        prefix=fields.text("tool_prefix"),
        disabled=switches.disabled,
        idle_timeout_s=fields.seconds("idle_timeout_s", _DEFAULTS.idle_timeout_s),
        start_timeout_s=fields.seconds("start_timeout_s", _DEFAULTS.start_timeout_s),
        install_timeout_s=fields.seconds("install_timeout_s", _DEFAULTS.install_timeout_s),
        call_timeout_s=fields.seconds("call_timeout_s", _DEFAULTS.call_timeout_s),
        calls_at_once=fields.count("calls_at_once", transport.CALLS_AT_ONCE),
        calls_waiting=fields.count("calls_waiting", _DEFAULTS.calls_waiting),
        permission=fields.custom("permission", _permission, (), "an object of permission kinds"),
        defer=fields.choice("defer", Defer, None),
        always_load=fields.custom("always_load", read_patterns, (), "true or a list of tool names"),
        trust=trust,
        believe_annotations=fields.flag(
            "believe_annotations", default=_DEFAULTS.believe_annotations
        ),
        elicitation=fields.flag("elicitation", default=_DEFAULTS.elicitation),
        sampling=sampling,
        description=fields.text("description"),
        enabled_tools=switches.enabled_tools,
        disabled_tools=switches.disabled_tools,
        is_own=is_own,
    )


def _transport(fields: Fields, folder: Path) -> Transport | None:
    """How to reach it; None, and a problem, if the entry does not say so."""
    kind, command, url = fields.text("type"), fields.text("command"), fields.text("url")
    if url and (kind == "sse" or (not kind and ServerAddress.is_sse(url))):
        return _address(fields, url, "sse")
    if url and kind in ("", *ServerAddress.HTTP_TYPES):
        return _address(fields, url, "http")
    if command.startswith(("http://", "https://")):
        fields.problem(
            "its `command` is an address; write that as its `url` (on a command line `--url`)"
        )
        return None
    if command and kind in ("", "stdio"):
        return _command(fields, command, folder)
    fields.problem("needs a `command` to start (type stdio) or a `url` (type http, or sse)")
    return None


def _address(fields: Fields, url: str, kind: Literal["http", "sse"]) -> ServerAddress | None:
    if not url.startswith(("http://", "https://", "${")):
        fields.problem("its `url` has to begin with http:// or https://")
        return None
    if fields.has("isolation"):
        fields.problem("runs elsewhere, so `isolation` means nothing; take it out")
        return None
    return ServerAddress(url, fields.text_map("headers"), _oauth(fields), kind)


def _oauth(fields: Fields) -> OAuth | None:
    """How to log in; None if the entry says nothing, or nothing usable, which is a problem."""
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


def _command(fields: Fields, command: str, folder: Path) -> ServerCommand | None:
    """None, and a problem, if it has to be isolated and the entry does not say how."""
    cwd = fields.text("cwd")
    isolation = _isolation(fields, folder)
    if isolation is None and fields.has("isolation"):
        return None
    return ServerCommand(
        command=command,
        args=fields.texts("args"),
        env=fields.text_map("env"),
        env_from=fields.custom("env_from", _env_from, {}, "a list of names, or an object of them"),
        cwd=str(folder / Path(cwd).expanduser()) if cwd else None,
        isolation=isolation,
    )


def _env_from(value: Json) -> Mapping[str, str] | None:
    """`["TOKEN"]` as well as `{"TOKEN": "MY_TOKEN"}`, which fills TOKEN from our MY_TOKEN."""
    if is_object(value):
        return {key: name for key, name in value.items() if isinstance(name, str)}
    names = read_patterns(value)
    return None if names is None or value is True else {name: name for name in names}


def _permission(value: Json) -> tuple[tuple[str, PermissionKind], ...] | None:
    if not is_object(value):
        return None
    kinds: dict[object, PermissionKind] = {kind: kind for kind in get_args(PermissionKind)}
    if not all(isinstance(kind, str) and kind in kinds for kind in value.values()):
        return None
    return tuple((pattern, kinds[kind]) for pattern, kind in value.items())


def _isolation(fields: Fields, folder: Path) -> Isolation | None:
    """The box that the command runs in; None if there is none, or if it cannot be read.

    Paths are relative to the folder of the file. What cannot be read lets nothing through.
    """
    tool = fields.choice("isolation", IsolationTool, None)
    if tool is None:
        for key in ISOLATION_KEYS:
            if fields.has(key) and not fields.has("isolation"):
                fields.problem(f"{key!r} means nothing without `isolation`")
        return None
    network = fields.flag("isolation_network") if fields.has("isolation_network") else True
    expected = 'an object of paths, each "ro" or "rw"'
    none: Mapping[str, PathMode] = {}
    paths = fields.custom("isolation_paths", _paths, none, expected)
    placed: dict[str, PathMode] = {
        str(folder / Path(path).expanduser()): mode for path, mode in paths.items()
    }
    return Isolation(tool, tuple(placed.items()), network, fields.text("isolation_image"))


def _paths(value: Json) -> Mapping[str, PathMode] | None:
    if not isinstance(value, Mapping):
        return None
    read: dict[str, PathMode] = {}
    for path, mode in value.items():
        if mode not in ("ro", "rw") or not path or "\0" in path:
            return None
        read[path] = "rw" if mode == "rw" else "ro"
    return read
