"""`Settings`: all sections as one frozen value, and the check of its keys.

An unknown key is an error that names the nearest key. Nothing is read here: see `loading`.
"""

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, cast

import platformdirs
from pydantic import (
    BaseModel,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    field_validator,
    model_validator,
)
from pydantic import ValidationError as PydanticError

from toolcrib.errors import ConfigError
from toolcrib.model import DeferralTrigger
from toolcrib.settings.paths import rules_file
from toolcrib.settings.sections import (
    ApprovalSettings,
    AppSettings,
    AuditSettings,
    CallSettings,
    DashboardSettings,
    EmbedSettings,
    GatewaySettings,
    McpSettings,
    SearchSettings,
    Section,
    SessionSettings,
)

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
    "search.learn_half_life_days": "what was learned always fades by half in 30 days; take it out",
}
"""Keys that were settings, and what to do about them."""


class Settings(Section):
    """Everything that can be set."""

    store: str = Field(
        default="",
        description="The catalog file, or `:memory:`. Empty: `catalog.db` in the data folder.",
    )
    index: Literal["auto", "memory", "sqlite"] = Field(
        default="auto",
        description="Where the index is. `auto`: in a file that is mapped into memory at the next"
        " start, and made anew only where tools changed. `memory`: in memory, made anew at each"
        " start. `sqlite`: in the catalog file, which takes little memory and longer searches.",
    )
    builtin_tools: bool | Literal["auto"] = Field(
        default="auto",
        description="Whether the tools that come with Toolcrib are in the pool. `auto`: only if"
        " you configure no MCP server, `tools` or `tool_modules`, or if a profile"
        " wants them. Clients of the gateway see them only in a profile with"
        " `builtin_tools = true`.",
    )
    file_roots: tuple[Path, ...] = Field(
        default=(),
        description="Folders in which the file tools that come with Toolcrib work. Empty: the"
        " working folder for the library and the command line. Through the gateway:"
        " the roots of a client of your own user, and no folder for a client with a"
        " key.",
    )
    plugins: bool = Field(
        default=True,
        description="Whether installed packages may add tools (entry points `toolcrib.plugins`).",
    )
    tools: tuple[Path, ...] = Field(
        default=(), description="tools.yaml files that declare Python functions, or describe them."
    )
    tool_modules: tuple[str, ...] = Field(
        default=(),
        description="Python modules, by name or by file (`tools.py`), whose functions are tools: "
        "those with `@tool`, and those that a tools.yaml describes.",
    )
    skills: tuple[Path, ...] = Field(default=(), description="Folders with skills.")
    agents: tuple[Path, ...] = Field(default=(), description="Agent files, or folders with them.")
    mcp_config: tuple[Path, ...] = Field(
        default=(),
        description="Files with `mcpServers`, as MCP clients keep them. `servers.json` in the "
        "configuration folder, which `toolcrib add` writes, is always read too.",
    )
    tool_search: str = Field(
        default="on",
        description="When tools wait for a search. `on`: always. `auto:N`: if their definitions"
        " take N % of the context window. `conversation:N`: once the conversation"
        " takes N % of it. `off`: never.",
    )
    search: SearchSettings = Field(default_factory=SearchSettings, description="")
    embed: EmbedSettings = Field(default_factory=EmbedSettings, description="")
    call: CallSettings = Field(default_factory=CallSettings, description="")
    approval: ApprovalSettings = Field(default_factory=ApprovalSettings, description="")
    mcp: McpSettings = Field(default_factory=McpSettings, description="")
    audit: AuditSettings = Field(default_factory=AuditSettings, description="")
    apps: AppSettings = Field(default_factory=AppSettings, description="")
    session: SessionSettings = Field(default_factory=SessionSettings, description="")
    gateway: GatewaySettings = Field(default_factory=GatewaySettings, description="")
    dashboard: DashboardSettings = Field(default_factory=DashboardSettings, description="")
    _file: Path | None = PrivateAttr(default=None)
    _rules_file: Path | None = PrivateAttr(default=None)

    @field_validator("tool_search")
    @classmethod
    def _is_trigger(cls, text: str) -> str:
        DeferralTrigger.read(text)
        return text

    @model_validator(mode="wrap")
    @classmethod
    def _in_our_words(cls, values: Any, read: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401
        """Raise `ConfigError` for what cannot be used, as for every setting of a file."""
        if isinstance(values, dict):
            check_keys(cast("dict[str, Any]", values), cls, "Settings: ")
        try:
            return read(values)
        except PydanticError as error:
            raise ConfigError(_explained(error)) from error

    @property
    def store_path(self) -> str:
        """Where the catalog is: a path, or `:memory:`."""
        return self.store or str(Path(platformdirs.user_data_dir("toolcrib")) / "catalog.db")

    @property
    def audit_path(self) -> Path | None:
        """Where calls are logged; None where nothing is to be left on disk."""
        off = self.store_path == ":memory:" or not self.audit.enabled
        return None if off else Path(self.store_path).with_name("audit.db")

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
        return self._file

    @property
    def rules_file(self) -> Path | None:
        """Where the commands write rules about calls; None for settings that no user's are."""
        return self._rules_file

    def read_from(self, file: Path | None) -> "Settings":
        """The same settings as the user's, who named this file for them, or none."""
        settings = self.model_copy()
        settings._file, settings._rules_file = file, rules_file()  # noqa: SLF001 - our own class
        return settings


class Documented(NamedTuple):
    """One setting as the documentation shows it."""

    key: str
    default: str
    description: str


def documented(model: type[BaseModel] = Settings, prefix: str = "") -> Iterator[Documented]:
    """Every setting, in order, sections flattened."""
    for name, info in model.model_fields.items():
        default: object = info.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield from documented(type(default), f"{prefix}{name}.")
        else:
            yield Documented(prefix + name, json.dumps(default), info.description or "")


def check_keys(
    values: Mapping[str, Any], model: type[BaseModel], where: str, section: str = ""
) -> None:
    """Refuse keys that are no settings: each with the nearest, or with what came in its place."""
    for key, value in values.items():
        if key not in model.model_fields:
            if remedy := REMOVED.get(section + key):
                raise ConfigError(f"{where}{key!r} is no longer a setting: {remedy}")
            near = _nearest(key)
            raise ConfigError(f"{where}there is no setting {key!r}; the nearest is {near!r}")
        inner = model.model_fields[key].annotation
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, BaseModel):
            values_inside = cast("dict[str, Any]", value)
            check_keys(values_inside, inner, f"{where}[{key}] ", f"{section}{key}.")


def _nearest(key: str) -> str:
    """The setting most alike by the last part of its key, or the section by its name."""
    by_name = {each.key.rpartition(".")[2]: each.key for each in documented()}
    by_name |= {name: name for name in Settings.model_fields}
    return by_name[get_close_matches(key, by_name, n=1, cutoff=0.0)[0]]


def _explained(error: PydanticError) -> str:
    """The first thing that is wrong, by its key."""
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"]))
    given = "" if key == "embed.api_key" else f", not {first['input']!r}"
    reason = first["msg"].removeprefix("Value error, ")  # pydantic's, of errors that are ours
    return f"setting {key}: {reason}{given}"
