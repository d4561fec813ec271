"""`Settings`: all sections as one frozen value, and the check of its keys.

An unknown key is an error that names the nearest key. Nothing is read here: see `loading`.
"""

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import platformdirs

from toolcrib.errors import ConfigError
from toolcrib.model import DeferralTrigger
from toolcrib.settings.declaration import setting
from toolcrib.settings.paths import rules_file
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
    "audit": "the log of calls is part of the log of events: write `[observe]` in its place",
    "search.learn_half_life_days": "what was learned always fades by half in 30 days; take it out",
}
"""Keys that were settings, and what to do about them."""


def _is_trigger(text: object) -> None:
    if isinstance(text, str):
        DeferralTrigger.read(text)


class Settings(Section):
    """Everything that can be set."""

    store: str = setting(
        default="",
        description="The catalog file, or `:memory:`. Empty: `catalog.db` in the data folder.",
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
        " takes N % of it. `off`: never.",
    )
    search: SearchSettings = SearchSettings()
    embed: EmbedSettings = EmbedSettings()
    call: CallSettings = CallSettings()
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
        """Where the catalog is: a path, or `:memory:`."""
        return self.store or str(Path(platformdirs.user_data_dir("toolcrib")) / "catalog.db")

    @property
    def events_path(self) -> Path | None:
        """Where events are logged; None where nothing is to be left on disk."""
        off = self.store_path == ":memory:" or not self.observe.enabled
        return None if off else Path(self.store_path).with_name("events.db")

    @property
    def vectors_path(self) -> Path:
        """Where the vectors of tools are kept that no catalog file is for."""
        return Path(platformdirs.user_cache_dir("toolcrib")) / "vectors.db"

    @property
    def state_folder(self) -> Path:
        """Where lies what is remembered between runs: caches, our key, what was decided."""
        return Path(platformdirs.user_state_dir("toolcrib"))

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
            near = _nearest(key)
            raise ConfigError(f"{where}there is no setting {key!r}; the nearest is {near!r}")
        inner = section.keys[key].type
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, Section):
            values_inside = cast("dict[str, Any]", value)
            check_keys(values_inside, inner, f"{where}[{key}] ", f"{inside}{key}.")


def _nearest(key: str) -> str:
    """The setting most alike by the last part of its key, or the section by its name."""
    by_name = {each.key.rpartition(".")[2]: each.key for each in documented()}
    by_name |= {name: name for name in Settings.keys}
    return by_name[get_close_matches(key, by_name, n=1, cutoff=0.0)[0]]


def _explained(error: "PydanticError") -> str:
    """The first thing that is wrong, by its key."""
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"]))
    given = "" if key == "embed.api_key" else f", not {first['input']!r}"
    reason = first["msg"].removeprefix("Value error, ")  # pydantic's, of errors that are ours
    return f"setting {key}: {reason}{given}"
