"""The nouns of a server's configuration, as its operator wrote it: frozen, without secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import ClassVar, Literal, TypeAlias

from toolcrib.model import Defer, Json, JsonObject, PermissionKind

TrustPolicy = Literal["pinned", "strict", "open"]
Grant = Literal["authorization_code", "client_credentials"]
IsolationTool = Literal["docker", "podman", "bwrap"]
PathMode = Literal["ro", "rw"]


@dataclass(frozen=True, slots=True)
class Isolation:
    """The sandbox that a command runs in: bubblewrap or a container, and what it may see.

    `paths` are files and folders with "ro" or "rw". An `image` is for containers only.
    """

    tool: IsolationTool
    paths: tuple[tuple[str, PathMode], ...] = ()
    network: bool = True
    image: str = ""


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """A program to start and to talk to over its standard input and output.

    Values of `env` may refer to variables of ours (`${TOKEN}`); `env_from` maps the names of the
    program's variables to those of ours that fill them. What else it inherits is in `environment`.
    """

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    env_from: Mapping[str, str] = field(default_factory=dict[str, str])
    cwd: str | None = None
    isolation: Isolation | None = None
    CALLS_AT_ONCE: ClassVar = 16


@dataclass(frozen=True, slots=True)
class OAuth:
    """How to log in, as far as the operator sets it.

    Without a `client_id` we register ourselves. With `client_credentials` no person is needed; the
    secret goes to the authorization server `issuer` and to no other. `client_secret` may refer to a
    variable of ours (`${SECRET}`). `redirect_port` 0 is any.
    """

    grant: Grant = "authorization_code"
    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    issuer: str = ""
    scope: str = ""
    redirect_port: int = 0


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server that runs elsewhere is reached: by Streamable HTTP, or, if it is old, SSE.

    `HTTP_TYPES` are the words for Streamable HTTP in the files of clients.
    """

    HTTP_TYPES: ClassVar = ("http", "streamable-http", "streamableHttp", "streamable_http")
    CALLS_AT_ONCE: ClassVar = 128

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    oauth: OAuth | None = None
    kind: Literal["http", "sse"] = "http"

    @staticmethod
    def is_sse(url: str) -> bool:
        """Whether the path of a URL says that an old server is there, as clients take it."""
        return url.partition("?")[0].rstrip("/").endswith("/sse")

    @property
    def brings_its_own(self) -> bool:
        """Whether the operator has configured an `Authorization` header: then nobody logs in."""
        return any(name.lower() == "authorization" for name in self.headers)


UNNOTICED = (
    *("permission", "defer", "always_load", "enabled_tools", "disabled_tools"),
    *("believe_annotations", "idle_timeout_s", "call_timeout_s", "description"),
)
"""The fields that a running server does not notice: they can change without a restart."""

Transport: TypeAlias = ServerCommand | ServerAddress


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server.

    | field | what it says |
    |---|---|
    | `prefix` | stands in the names of its tools in place of its id |
    | `permission` | pairs of a pattern and a kind; the first that fits a tool's own name counts |
    | `always_load` | patterns of tools that are never deferred |
    | `believe_annotations` | whether the annotations of an approved definition count |
    | `elicitation`, `sampling` | whether it may ask the person, and their model |
    | `enabled_tools` | patterns; None is all tools, an empty tuple is none |
    | `disabled_tools` | patterns, applied after `enabled_tools` |
    | `install_timeout_s` | for a package runner such as npx; `start_timeout_s` begins after that |
    | `calls_at_once`, `calls_waiting` | of more calls those wait, and more than these are refused |
    | `inherits` | the variables of ours that all servers are given, where they are set |
    | `description` | by it the server is found while its tools are unavailable |
    | `is_own` | it stands in our own file, or in the program that uses us; in no other file |
    """

    id: str
    transport: Transport
    prefix: str = ""
    disabled: bool = False
    idle_timeout_s: float = 300.0
    start_timeout_s: float = 60.0
    install_timeout_s: float = 600.0
    call_timeout_s: float = 300.0
    calls_at_once: int = ServerCommand.CALLS_AT_ONCE
    calls_waiting: int = 256
    permission: tuple[tuple[str, PermissionKind], ...] = ()
    defer: Defer | None = None
    always_load: tuple[str, ...] = ()
    trust: TrustPolicy = "pinned"
    believe_annotations: bool = True
    elicitation: bool = True
    sampling: bool = False
    inherits: tuple[str, ...] = ()
    enabled_tools: tuple[str, ...] | None = None
    disabled_tools: tuple[str, ...] = ()
    description: str = ""
    is_own: bool = True

    def enables(self, tool: str) -> bool:
        """Whether the operator lets the tool be found and called at all."""
        listed = self.enabled_tools is None or _fits(tool, self.enabled_tools)
        return not self.disabled and listed and not _fits(tool, self.disabled_tools)

    def trust_keys(self) -> JsonObject:
        """What it says of its own trust, as far as that is not the default."""
        said: dict[str, Json] = {
            "trust": self.trust,
            "believe_annotations": self.believe_annotations,
            "elicitation": self.elicitation,
            "permission": [list(each) for each in self.permission],
        }
        return {key: value for key, value in said.items() if value not in ("pinned", True, [])}

    def differs_in_process(self, other: "ServerConfig") -> bool:
        """Whether the other configuration needs another process, or connection."""
        return replace(other, **{name: getattr(self, name) for name in UNNOTICED}) != self

    def about_tools(self) -> tuple[object, ...]:
        """All that says how its tools appear."""
        return (
            *(self.id, self.prefix, self.disabled, self.enabled_tools, self.disabled_tools),
            *(self.permission, self.believe_annotations, self.defer, self.always_load, self.trust),
        )

    def permission_of(self, tool: str) -> PermissionKind | None:
        """What the operator says the tool can do to the world; None if nothing."""
        return next((kind for pattern, kind in self.permission if fnmatchcase(tool, pattern)), None)

    def always_loads(self, tool: str) -> bool:
        return _fits(tool, self.always_load)


def _fits(tool: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(tool, pattern) for pattern in patterns)
