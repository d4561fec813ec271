"""Settings: frozen, read once, from one TOML file and the environment.

    defaults  <  settings file  <  TOOLCRIB_* in the environment

The file is the one named by TOOLCRIB_CONFIG, else `config.toml` in the user's configuration
folder. None is read from the working directory: settings name code to import, and a cloned
repository must not get to choose that. A section's key is written with two underscores in the
environment: TOOLCRIB_SEARCH__LIMIT=8. ENABLE_TOOL_SEARCH, which other programs read too, stands in
for TOOLCRIB_TOOL_SEARCH where that is not set.
"""

import json
import logging
import tomllib
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
    SecretStr,
    field_validator,
    model_validator,
)
from pydantic import ValidationError as PydanticError

from toolcrib.errors import ConfigError
from toolcrib.model import SearchMode
from toolcrib.plain_file import read_plain_file
from toolcrib.sections import (
    REMOVED,
    ApprovalSettings,
    AppSettings,
    AuditSettings,
    CallSettings,
    EmbedSettings,
    GatewaySettings,
    McpSettings,
    SearchSettings,
    Section,
    SessionSettings,
)

PREFIX = "TOOLCRIB_"
CONFIG = "TOOLCRIB_CONFIG"
TOOL_SEARCH = "TOOLCRIB_TOOL_SEARCH"
SHARED_TOOL_SEARCH = "ENABLE_TOOL_SEARCH"
LARGEST_FILE = 4 * 1024 * 1024
TOO_DEEP = "it is nested too deep to be read; write it out flat"
# Variables that are ours and no settings.
NOT_SETTINGS = frozenset(
    {CONFIG, "TOOLCRIB_APPS_FILE", "TOOLCRIB_BENCH_DIR", "TOOLCRIB_KEY", "TOOLCRIB_LAUNCHED"}
    | {"TOOLCRIB_RUN_FOLDER"}
)


_log = logging.getLogger(__name__)


class Settings(Section):
    """Everything that can be set."""

    store: str = Field(
        default="",
        description="The catalog file, or `:memory:`. Empty: `catalog.db` in the data folder.",
    )
    index: Literal["auto", "memory", "sqlite"] = Field(
        default="auto",
        description="The engine. `auto`: memory for `toolcrib serve`; for all else the stored index"
        " if it is of just this pool and can be opened, else memory.",
    )
    builtin_tools: bool | Literal["auto"] = Field(
        default="auto",
        description="Whether the tools that come with Toolcrib are in the pool. `auto`: as long as"
        " no MCP server, `tools` or `tool_modules` are configured, or where a profile wants them."
        " Clients of the gateway have them only by a profile with `builtin_tools = true`.",
    )
    file_roots: tuple[Path, ...] = Field(
        default=(),
        description="Folders in which the file tools that come with Toolcrib work. Empty: the"
        " working folder for the library and the command line; through the gateway the roots of a"
        " client of your own user, and none for one with a key.",
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
        description="Python modules, by name or by file (`tools.py`), whose functions are tools:"
        " those marked with `@tool`, and those that a tools.yaml describes.",
    )
    skills: tuple[Path, ...] = Field(default=(), description="Folders with skills.")
    agents: tuple[Path, ...] = Field(default=(), description="Agent files, or folders with them.")
    mcp_config: tuple[Path, ...] = Field(
        default=(),
        description="Files with `mcpServers`, as MCP clients keep them. Beside them, `servers.json`"
        " in the configuration folder is read, which `toolcrib add` writes.",
    )
    tool_search: str = Field(
        default="on",
        description="When tools wait for a search: `on`, `auto:N` (their definitions take N % of"
        " the window), `conversation:N` (the conversation does), `off`.",
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
    _file: Path | None = PrivateAttr(default=None)
    _rules_file: Path | None = PrivateAttr(default=None)

    @field_validator("tool_search")
    @classmethod
    def _is_mode(cls, text: str) -> str:
        SearchMode.read(text)
        return text

    @model_validator(mode="wrap")
    @classmethod
    def _in_our_words(cls, values: Any, read: ModelWrapValidatorHandler[Self]) -> Self:  # noqa: ANN401
        """Raise `ConfigError` for what cannot be used, as for every setting of a file."""
        if isinstance(values, dict):
            _check_keys(cast("dict[str, Any]", values), cls, "Settings: ")
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


class SettingsFile(NamedTuple):
    """Where settings stand. One that is `named` has to be there, the user's own need not be."""

    path: Path
    named: bool

    def read(self) -> bytes:
        """What stands there; nothing, if that may be. Raises `ConfigError`."""
        try:
            return read_plain_file(self.path, LARGEST_FILE)
        except FileNotFoundError as error:
            if not self.named:
                return b""
            told = "there is no such settings file; create it, or leave the option out"
            raise ConfigError(f"{self.path}: {told}") from error
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be read: {error.strerror}") from error


def settings_file(environ: Mapping[str, str], file: Path | None = None) -> SettingsFile:
    """The file that is meant: `file`, else what the environment names, else the user's own."""
    named = file or (Path(environ[CONFIG]) if environ.get(CONFIG) else None)
    return SettingsFile(named or config_folder() / "config.toml", named is not None)


def load_settings(
    environ: Mapping[str, str], file: Path | None = None, content: bytes | None = None
) -> Settings:
    """The settings from a file and the environment. Raises `ConfigError`, which names the cause.

    `content` is what to take the file to say; None: what it says.
    """
    path, named = said = settings_file(environ, file)
    values = _toml(path, said.read() if content is None else content)
    try:
        settings = _checked(path, values, environ)
    except RecursionError:  # keys with many dots are as deep as lists in lists
        raise ConfigError(f"{path}: {TOO_DEEP}") from None
    settings = _with_own_servers(_with_key(settings, environ))
    return settings.read_from(path if named else None)


def _checked(path: Path, values: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """What a file says, and over it the environment. Raises `ConfigError`."""
    _check_keys(values, Settings, f"{path}: ")
    merged = _merged(_at_home(values, path.parent), _from_environment(environ))
    try:
        return Settings.model_validate(merged)
    except ConfigError as error:
        raise ConfigError(f"{error}; change it in {_place(error, path if values else None)}") from (
            error.__cause__
        )


def default_settings(environ: Mapping[str, str]) -> Settings:
    """The settings of a crib that is given none: nothing on disk, no file, no environment.

    But for when tools wait for a search: that is a matter of whom the tools are shown to.
    """
    return Settings.model_validate({"store": ":memory:", **_tool_search(environ)})


def config_folder() -> Path:
    """Where the user's settings are, and the servers that `toolcrib add` has written down."""
    return Path(platformdirs.user_config_dir("toolcrib"))


def cache_folder() -> Path:
    """Where things are kept that can be had again."""
    return Path(platformdirs.user_cache_dir("toolcrib"))


def own_servers_file() -> Path:
    """The file of `toolcrib add`; it need not be there."""
    return config_folder() / "servers.json"


def rules_file() -> Path:
    """The file of `toolcrib allow`, `ask` and `deny`; it need not be there."""
    return config_folder() / "rules.json"


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


def _toml(path: Path, content: bytes) -> dict[str, Any]:
    """What the content of this file says. Raises `ConfigError`."""
    try:
        return tomllib.loads(content.decode())
    except RecursionError:
        raise ConfigError(f"{path}: {TOO_DEEP}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{path}: not readable as TOML: {error}; correct it"
        raise ConfigError(message) from error


def _with_key(settings: Settings, environ: Mapping[str, str]) -> Settings:
    """The settings with the embedder's key, from the variable that they name."""
    key = environ.get(settings.embed.api_key_env)
    if settings.embed.api_key or not key:
        return settings
    embed = settings.embed.model_copy(update={"api_key": SecretStr(key)})
    return settings.model_copy(update={"embed": embed})


def _with_own_servers(settings: Settings) -> Settings:
    """The settings with the servers of `toolcrib add` before those of other files."""
    own = own_servers_file()
    if not own.exists() or own in settings.mcp_config:
        return settings
    return settings.model_copy(update={"mcp_config": (own, *settings.mcp_config)})


def _check_keys(
    values: Mapping[str, Any], model: type[BaseModel], where: str, section: str = ""
) -> None:
    """Refuse keys that are no settings, each with the nearest that is one."""
    for key, value in values.items():
        if key not in model.model_fields:
            if remedy := REMOVED.get(section + key):
                raise ConfigError(f"{where}{key!r} is no longer a setting: {remedy}")
            near = _nearest(key)
            raise ConfigError(f"{where}there is no setting {key!r}; the nearest is {near!r}")
        inner = model.model_fields[key].annotation
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, BaseModel):
            known = cast("dict[str, Any]", value)
            _check_keys(known, inner, f"{where}[{key}] ", f"{section}{key}.")


def _nearest(key: str) -> str:
    """The setting most alike by the last part of its key, or the section by its name."""
    by_name = {each.key.rpartition(".")[2]: each.key for each in documented()}
    by_name |= {name: name for name in Settings.model_fields}
    return by_name[get_close_matches(key, by_name, n=1, cutoff=0.0)[0]]


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """TOOLCRIB_SEARCH__LIMIT=8 as {"search": {"limit": "8"}}; lists are separated by commas."""
    values: dict[str, Any] = _tool_search(environ)
    for variable, text in sorted(environ.items()):
        if variable.startswith(PREFIX) and variable not in {*NOT_SETTINGS, TOOL_SEARCH}:
            section, _, key = variable.removeprefix(PREFIX).lower().rpartition("__")
            value = {key: _listed(section, key, text)}
            _check_keys({section: value} if section else value, Settings, f"{variable}: ")
            values = _merged(values, {section: value} if section else value)
    return values


def _tool_search(environ: Mapping[str, str]) -> dict[str, Any]:
    """The mode that the environment says. One that is none is `auto`, and the log says so.

    No error: the variable may be there for another program, with words of its own.
    """
    variable = TOOL_SEARCH if environ.get(TOOL_SEARCH) else SHARED_TOOL_SEARCH
    text = environ.get(variable)
    if not text:
        return {}
    try:
        SearchMode.read(text)
    except ValueError as error:
        _log.warning("%s: %s; `auto` is taken", variable, error)
        return {"tool_search": "auto"}
    return {"tool_search": text}


def _listed(section: str, key: str, text: str) -> object:
    """The text of a variable, taken apart where the setting is a list."""
    field = next((each for each in documented() if each.key == f"{section}.{key}".strip(".")), None)
    is_list = field is not None and field.default.startswith("[")
    return [part.strip() for part in text.split(",") if part.strip()] if is_list else text


def _at_home(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The values with relative paths taken from the folder of the file they stand in."""
    home = dict(values)
    for key in ("tools", "skills", "agents", "mcp_config", "glossaries", "file_roots"):
        if isinstance(home.get(key), list):
            home[key] = [_placed(path, folder) for path in home[key]]
    if isinstance(home.get("tool_modules"), list):
        home["tool_modules"] = [_placed_module(each, folder) for each in home["tool_modules"]]
    if isinstance(home.get("search"), dict):
        home["search"] = _at_home(home["search"], folder)
    if home.get("store") not in (None, "", ":memory:"):
        home["store"] = _placed(home["store"], folder)
    return home


def _placed(path: object, folder: Path) -> object:
    """The path, taken from the folder; what is none stays, for the check to refuse."""
    if not isinstance(path, str):
        return path
    try:
        return str(folder / Path(path).expanduser())
    except RuntimeError:  # nobody of this name has a home
        return str(folder / path)


def _placed_module(reference: object, folder: Path) -> object:
    """A module that is named by its file is placed; one that is named by its name stays."""
    is_file = isinstance(reference, str) and reference.endswith(".py")
    return _placed(reference, folder) if is_file else reference


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(under)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], cast("dict[str, Any]", value)) if both else value
    return merged


def _explained(error: PydanticError) -> str:
    """The first thing that is wrong, by its key."""
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"]))
    given = "" if key == "embed.api_key" else f", not {first['input']!r}"
    return f"setting {key}: {first['msg']}{given}"


def _place(error: ConfigError, path: Path | None) -> str:
    """Where the setting of an error may stand."""
    cause = cast("PydanticError", error.__cause__)
    variable = PREFIX + "__".join(map(str, cause.errors()[0]["loc"])).upper()
    return f"{path} or the environment ({variable})" if path else f"the environment ({variable})"
