"""`Settings`: all sections as one frozen value, and the check of its keys.

An unknown key is an error that names the nearest key. Nothing is read here: see `loading`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args, get_origin

import platformdirs

from toolcrib.errors import ConfigError
from toolcrib.model import DeferralTrigger
from toolcrib.settings.address import check_address, is_address
from toolcrib.settings.declaration import setting
from toolcrib.settings.paths import (
    checked_tenant,
    config_folder,
    current_tenant,
    own_servers_file,
    rules_file,
    tenant_folder,
)
from toolcrib.settings.section import Section
from toolcrib.settings.sections import (
    ApprovalSettings,
    AppSettings,
    CallSettings,
    DashboardSettings,
    EmbedSettings,
    GatewaySettings,
    McpSettings,
    ObserveSettings,
    ProgramSettings,
    SearchSettings,
    SessionSettings,
)

if TYPE_CHECKING:
    from pydantic import ValidationError as PydanticError

_FITTED = """
    search.depth search.k search.exact_name_bonus search.intent_boost search.band_share
    search.weight_as_written search.weight_plain search.weight_intent search.weight_translated
    weights
""".split()
_BY_MEANING = "`search.weight_vector` says how much meaning counts against words; set that instead"
REMOVED: Mapping[str, str] = {
    **dict.fromkeys(_FITTED, "search has a fitted constant in its place; take it out"),
    "search.weight_like": _BY_MEANING,
    "search.weight_bm25": _BY_MEANING,
    "call.result_bytes": "set `call.page_tokens`; a token is about four bytes",
    "audit": "the log of calls is part of the log of events: write `[observe]` in its place",
    "search.learn_half_life_days": "what was learned always fades by half in 30 days; take it out",
}
"""Keys that were settings, and what to do about them."""
SECRET = frozenset({"embed.api_key", "store"})
"""Keys whose value no message repeats: a secret, and what may hold one by mistake."""


_OF_THIS_MACHINE = ("tools", "tool_modules", "skills", "agents", "file_roots")
"""What one tenant of several has nothing of."""


def _is_trigger(text: object) -> None:
    if isinstance(text, str):
        DeferralTrigger.read(text)


def _is_store(text: object) -> None:
    if isinstance(text, str):
        check_address(text)


class Settings(Section):
    """Everything that can be set."""

    store: str = setting(
        default="",
        check=_is_store,
        description="The catalog file, or `:memory:`, or the address of a PostgreSQL database that"
        " several gateways share: `postgresql://user@host/database`, without a"
        " password. Empty: `catalog.db` in the data folder.",
    )
    store_password_env: str = setting(
        default="",
        description="The environment variable with the password of that database. Empty: it needs"
        " none, or libpq finds it in its password file.",
    )
    install_key_env: str = setting(
        default="",
        description="The environment variable with the secret that all gateways of a shared store"
        " have in common: 64 hexadecimal digits (`openssl rand -hex 32`). It seals"
        " decisions and encrypts logins, and is never in the database.",
    )
    install_key_file: Path | None = setting(
        default=None,
        description="The same in a file: 64 hexadecimal digits, or 32 bytes.",
    )
    stale_s: float = setting(
        default=15.0,
        gt=0,
        description="How long a gateway goes on with calls while its shared store cannot be"
        " reached. After that only searches go on: what was decided meanwhile is not known.",
    )
    index: Literal["auto", "memory", "sqlite"] = setting(
        default="auto",
        description="Where the index is. `auto`: in a file that is mapped into memory at the next"
        " start, and made anew only where tools changed. `memory`: in memory, made anew at each"
        " start. `sqlite`: in the catalog file, which takes little memory and longer searches.",
    )
    builtin_tools: bool | Literal["auto"] = setting(
        default="auto",
        description="Whether the tools that come with Toolcrib are in the pool. `auto`: only if"
        " you configure no MCP server, `tools` or `tool_modules`, or if a profile"
        " wants them. Clients of the gateway see them only in a profile with"
        " `builtin_tools = true`.",
    )
    file_roots: tuple[Path, ...] = setting(
        default=(),
        description="Folders in which the file tools that come with Toolcrib work. Empty: the"
        " working folder for the library and the command line. Through the gateway:"
        " the roots of a client of your own user, and no folder for a client with a"
        " key.",
    )
    plugins: bool = setting(
        default=True,
        description="Whether installed packages may add tools (entry points `toolcrib.plugins`).",
    )
    tools: tuple[Path, ...] = setting(
        default=(), description="tools.yaml files that declare Python functions, or describe them."
    )
    tool_modules: tuple[str, ...] = setting(
        default=(),
        description="Python modules, by name or by file (`tools.py`), whose functions are tools: "
        "those with `@tool`, and those that a tools.yaml describes.",
    )
    skills: tuple[Path, ...] = setting(default=(), description="Folders with skills.")
    agents: tuple[Path, ...] = setting(default=(), description="Agent files, or folders with them.")
    mcp_config: tuple[Path, ...] = setting(
        default=(),
        description="Files with `mcpServers`, as MCP clients keep them. `servers.json` in the "
        "configuration folder, which `toolcrib add` writes, is always read too.",
    )
    tool_search: str = setting(
        default="on",
        check=_is_trigger,
        description="When tools wait for a search. `on`: always. `auto:N`: if their definitions"
        " take N % of the context window. `conversation:N`: once the conversation"
        " takes N % of it. `off`: never. The gateway goes by it too, where its mode is `auto`.",
    )
    search: SearchSettings = SearchSettings()
    embed: EmbedSettings = EmbedSettings()
    call: CallSettings = CallSettings()
    program: ProgramSettings = ProgramSettings()
    approval: ApprovalSettings = ApprovalSettings()
    mcp: McpSettings = McpSettings()
    observe: ObserveSettings = ObserveSettings()
    apps: AppSettings = AppSettings()
    session: SessionSettings = SessionSettings()
    gateway: GatewaySettings = GatewaySettings()
    dashboard: DashboardSettings = DashboardSettings()

    def __init__(self, **values: object) -> None:
        """Raise `ConfigError` for what cannot be used, as for every setting of a file."""
        check_keys(values, type(self), "Settings: ")
        try:
            super().__init__(**values)
        except ValueError as error:
            raise ConfigError(_explained(cast("PydanticError", error))) from error

    @property
    def store_path(self) -> str:
        """Where the catalog is on this machine: a path, or `:memory:`.

        Of a shared store it is what this gateway keeps beside it, and can be had again.
        """
        folder = tenant_folder(Path(platformdirs.user_data_dir("toolcrib")), self.tenant)
        if self.database:
            return str(folder / "replica" / "catalog.db")
        return self.store or str(folder / "catalog.db")

    @property
    def database(self) -> str:
        """The address of the database of a shared store; empty if there is none."""
        return self.store if is_address(self.store) else ""

    @property
    def events_path(self) -> Path | None:
        """Where events are logged; None where nothing is to be left on disk."""
        off = self.store_path == ":memory:" or not self.observe.enabled
        return None if off else Path(self.store_path).with_name("events.db")

    @property
    def handles_path(self) -> Path | None:
        """Where sets and long results are; None where nothing is to be left on disk."""
        path = self.store_path
        return None if path == ":memory:" else Path(path).with_name("handles.db")

    @property
    def vectors_path(self) -> Path:
        """Where the vectors of tools are kept that no catalog file is for."""
        return Path(platformdirs.user_cache_dir("toolcrib")) / "vectors.db"

    @property
    def state_folder(self) -> Path:
        """Where lies what is remembered between runs: caches, our key, what was decided."""
        return tenant_folder(Path(platformdirs.user_state_dir("toolcrib")), self.tenant)

    @property
    def tenant(self) -> str:
        """Whose they are: of this process, unless they were made for another."""
        named: str | None = vars(self).get("_tenant")
        return named or current_tenant()

    def of_tenant(self, tenant: str) -> "Settings":
        """The same for another tenant, with its own folders, servers and rules.

        Of this machine it has nothing else: no code, files, plugins, apps or variables. Raises
        `ConfigError` for what is no name of a tenant.
        """
        gateway = self.of_gateway
        own = tenant_folder(config_folder(), checked_tenant(tenant))
        servers = own / own_servers_file().name
        update: dict[str, object] = {
            "_tenant": tenant,
            "_rules_file": own / rules_file().name,
            "mcp_config": (servers,) if servers.exists() else (),
            "mcp": gateway.mcp.model_copy(update={"env_from": ()}),
            "apps": gateway.apps.model_copy(update={"enabled": False}),
            "builtin_tools": False,
            "plugins": False,
            **dict.fromkeys(_OF_THIS_MACHINE, ()),
        }
        return gateway.model_copy(update=update)

    @property
    def of_gateway(self) -> "Settings":
        """The same without what their tenant has set over them."""
        under: Settings | None = vars(self).get("_under")
        return under or self

    @property
    def file(self) -> Path | None:
        """The settings file that was named; None if none was."""
        file: Path | None = vars(self).get("_file")
        return file

    @property
    def rules_file(self) -> Path | None:
        """Where the commands write rules about calls; None for settings that no user's are."""
        file: Path | None = vars(self).get("_rules_file")
        return file

    def read_from(self, file: Path | None) -> "Settings":
        """The same settings as the user's, who named this file for them, or none."""
        return self.model_copy(update={"_file": file, "_rules_file": rules_file()})


class Documented(NamedTuple):
    """One setting as the documentation shows it."""

    key: str
    default: str
    description: str


def documented(section: type[Section] = Settings, prefix: str = "") -> Iterator[Documented]:
    """Every setting, in order, sections flattened."""
    for name, declared in section.keys.items():
        default: object = declared.default
        if isinstance(default, Section):
            yield from documented(type(default), f"{prefix}{name}.")
        else:
            shown = json.dumps(default, default=dict)
            yield Documented(prefix + name, shown, declared.description)


def check_keys(
    values: Mapping[str, Any], section: type[Section], where: str, inside: str = ""
) -> None:
    """Refuse keys that are no settings: each with the nearest, or with what came in its place."""
    for key, value in values.items():
        if key not in section.keys:
            if remedy := REMOVED.get(inside + key):
                raise ConfigError(f"{where}{key!r} is no longer a setting: {remedy}")
            near = _nearest(key, {name: inside + name for name in section.keys})
            nearest = f"{near!r}, outside of all sections" if near == key else repr(near)
            raise ConfigError(f"{where}there is no setting {key!r}; the nearest is {nearest}")
        kind, parts = section.keys[key].type, {key: value}
        if get_origin(kind) is Mapping and isinstance(value, dict):  # profiles, by their names
            named = cast("dict[str, Any]", value)
            kind, parts = get_args(kind)[1], {f"{key}.{name}": named[name] for name in named}
        elif get_args(kind) and isinstance(value, list | tuple):  # rules, by their places
            rows = cast("Sequence[Any]", value)
            kind, parts = get_args(kind)[0], {f"{key}.{at}": row for at, row in enumerate(rows)}
        for name, each in parts.items():
            if isinstance(each, dict) and isinstance(kind, type) and issubclass(kind, Section):
                check_keys(
                    cast("dict[str, Any]", each), kind, f"{where}[{name}] ", f"{inside}{name}."
                )


def _nearest(key: str, inside: Mapping[str, str]) -> str:
    """The setting most alike by the last part of its key, or the section by its name."""
    by_name = {each.key.rpartition(".")[2]: each.key for each in documented()}
    by_name |= {name: name for name in Settings.keys}
    by_name |= inside
    return by_name[get_close_matches(key, by_name, n=1, cutoff=0.0)[0]]


def _explained(error: "PydanticError") -> str:
    """The first thing that is wrong, by its key."""
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"]))
    given = "" if key in SECRET else f", not {first['input']!r}"
    reason = first["msg"].removeprefix("Value error, ")  # pydantic's, of errors that are ours
    return f"setting {key}: {reason}{given}"
