"""Settings: frozen, read once, from one TOML file and the environment.

    defaults  <  settings file  <  TOOLCRIB_* in the environment  <  the tenant of a shared store

The file is the one named by TOOLCRIB_CONFIG, else `config.toml` in the user's configuration
folder. None is read from the working directory: settings name code to import, and a cloned
repository must not get to choose that. A section's key is written with two underscores in the
environment: TOOLCRIB_SEARCH__LIMIT=8. ENABLE_TOOL_SEARCH, which other programs read too, stands in
for TOOLCRIB_TOOL_SEARCH where that is not set.
"""

import logging
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from toolcrib.errors import ConfigError
from toolcrib.model import DeferralTrigger
from toolcrib.settings.address import is_address
from toolcrib.settings.paths import CONFIG_VARIABLE, config_folder, own_servers_file, tenant_folder
from toolcrib.settings.schema import Settings, check_keys, documented
from toolcrib.settings.section import Secret
from toolcrib.settings.tenant_document import with_tenant_document
from toolcrib.system import read_plain_file

if TYPE_CHECKING:
    from pydantic import ValidationError as PydanticError

PREFIX = "TOOLCRIB_"
TOOL_SEARCH = "TOOLCRIB_TOOL_SEARCH"
SHARED_TOOL_SEARCH = "ENABLE_TOOL_SEARCH"
LARGEST_FILE = 4 * 1024 * 1024
TOO_DEEP = "it is nested too deep to be read; write it out flat"
# Variables that are ours and no settings.
NOT_SETTINGS = frozenset(
    {
        CONFIG_VARIABLE,
        "TOOLCRIB_APPS_FILE",
        "TOOLCRIB_BENCH_DIR",
        "TOOLCRIB_KEY",
        "TOOLCRIB_LAUNCHED",
    }
    | {"TOOLCRIB_RUN_FOLDER", "TOOLCRIB_TENANT"}
)


_log = logging.getLogger(__name__)


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
            problem = "there is no such settings file; create it, or leave the option out"
            raise ConfigError(f"{self.path}: {problem}") from error
        except OSError as error:
            raise ConfigError(f"{self.path}: cannot be read: {error.strerror}") from error


def settings_file(environ: Mapping[str, str], file: Path | None = None) -> SettingsFile:
    """The file that is meant: `file`, else what the environment names, else the user's own."""
    named = file or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    return SettingsFile(named or config_folder() / "config.toml", named is not None)


def load_settings(
    environ: Mapping[str, str], file: Path | None = None, content: bytes | None = None
) -> Settings:
    """The settings from a file and the environment. Raises `ConfigError`, which names the cause.

    `content` is what to take the file to say; None: what it says.
    """
    path, named = source = settings_file(environ, file)
    values = _toml(path, source.read() if content is None else content)
    try:
        settings = _checked(path, values, environ)
    except RecursionError:  # keys with many dots are as deep as lists in lists
        raise ConfigError(f"{path}: {TOO_DEEP}") from None
    settings = with_own_servers(_with_key(settings, environ))
    settings = settings.read_from(path if named else None)
    return with_tenant_document(settings) if settings.database else settings


def _checked(path: Path, values: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """What a file says, and over it the environment. Raises `ConfigError`."""
    check_keys(values, Settings, f"{path}: ")
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
    embed = settings.embed.model_copy(update={"api_key": Secret(key)})
    return settings.model_copy(update={"embed": embed})


def with_own_servers(settings: Settings) -> Settings:
    """The settings with the servers of `toolcrib add` before those of other files.

    As the file is there now: that of a shared store may come later than the settings.
    """
    own = tenant_folder(config_folder(), settings.tenant) / own_servers_file().name
    if not own.exists() or own in settings.mcp_config:
        return settings
    return settings.model_copy(update={"mcp_config": (own, *settings.mcp_config)})


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """TOOLCRIB_SEARCH__LIMIT=8 as {"search": {"limit": "8"}}; lists are separated by commas."""
    values: dict[str, Any] = _tool_search(environ)
    for variable, text in sorted(environ.items()):
        if variable.startswith(PREFIX) and variable not in {*NOT_SETTINGS, TOOL_SEARCH}:
            section, _, key = variable.removeprefix(PREFIX).lower().rpartition("__")
            value = {key: _listed(section, key, text)}
            check_keys({section: value} if section else value, Settings, f"{variable}: ")
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
        DeferralTrigger.read(text)
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
    for section in ("search", "gateway"):
        if isinstance(home.get(section), dict):
            home[section] = _at_home(home[section], folder)
    if home.get("store") not in (None, "", ":memory:") and not is_address(home["store"]):
        home["store"] = _placed(home["store"], folder)
    for key in ("install_key_file", "tls_certificate", "tls_key"):
        if home.get(key):
            home[key] = _placed(home[key], folder)
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


def _place(error: ConfigError, path: Path | None) -> str:
    """Where the setting of an error may stand."""
    cause = cast("PydanticError", error.__cause__)
    variable = PREFIX + "__".join(map(str, cause.errors()[0]["loc"])).upper()
    return f"{path} or the environment ({variable})" if path else f"the environment ({variable})"
