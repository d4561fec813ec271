"""How a client writes one server down."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolcrib.model import Json
from toolcrib.takeover.references import NONE, References


@dataclass(frozen=True)
class Shape:
    """The keys of an entry, by what they mean; an empty one is not there.

    | field | what it says |
    |---|---|
    | `references` | how variables are referred to |
    | `one_list` | `command` is a list that holds the arguments too |
    | `env`, `headers`, `url` | the keys of these |
    | `env_names` | a list of variables that are handed on |
    | `bearer`, `env_headers` | the variable of a token; headers by the variables that fill them |
    | `sse` | a key for an address that speaks SSE unless `type` says otherwise |
    | `speaks_sse` | whether the client knows old servers that speak SSE |
    | `cwd` | whether a folder to start in can be said |
    | `remote` | whether an address can be said at all |
    | `types` | `type` of a command and of an address; None: there is no such key |
    | `off` | the key, and its value, by which an entry is switched off |
    | `fixed` | what stands in every entry |
    | `enabled_tools`, `disabled_tools` | the only tools there are; those that are not |
    | `narrowing` | keys that take tools away or fence a server in: without them it would be more |
    | `times` | keys of times: which of ours each is, and how many seconds its unit has |
    """

    references: References = NONE
    one_list: bool = False
    env: str = "env"
    env_names: str = ""
    url: str = "url"
    sse: str = ""
    speaks_sse: bool = True
    headers: str = "headers"
    bearer: str = ""
    env_headers: str = ""
    cwd: bool = False
    remote: bool = True
    types: tuple[str, str] | None = None
    off: tuple[str, bool] | None = None
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    enabled_tools: str = ""
    disabled_tools: str = ""
    narrowing: frozenset[str] = frozenset()
    times: Mapping[str, tuple[str, float]] = field(default_factory=dict[str, tuple[str, float]])
