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
from typing import Any, Literal, NamedTuple, cast

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    field_validator,
)
from pydantic import ValidationError as PydanticError

from toolcrib.errors import ConfigError
from toolcrib.model import PermissionKind, SearchMode

PREFIX = "TOOLCRIB_"
CONFIG = "TOOLCRIB_CONFIG"
TOOL_SEARCH = "TOOLCRIB_TOOL_SEARCH"
SHARED_TOOL_SEARCH = "ENABLE_TOOL_SEARCH"
# Variables that are ours and no settings.
NOT_SETTINGS = frozenset(
    {CONFIG, "TOOLCRIB_APPS_FILE", "TOOLCRIB_BENCH_DIR", "TOOLCRIB_KEY", "TOOLCRIB_RUN_FOLDER"}
)

GatewayMode = Literal["auto", "search", "reveal", "direct", "passthrough"]

_log = logging.getLogger(__name__)


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SearchSettings(_Section):
    """How a question becomes a short ranked list."""

    limit: PositiveInt = Field(
        default=5, description="How many hits an answer has at most, unless the query says."
    )
    most: PositiveInt = Field(
        default=8, description="How many hits an answer may have at all, whatever the query says."
    )
    schemas: int = Field(
        default=3, ge=0, description="How many of the best hits carry their full schema."
    )
    depth: PositiveInt = Field(
        default=30, description="How many matches each arm gives to the fusion."
    )
    fusion: Literal["lifts", "rrf"] = Field(
        default="lifts",
        description="`lifts`: by how far each arm lifts a tool above the others. `rrf`: by two"
        " levels of reciprocal rank fusion.",
    )
    weight_like: NonNegativeFloat = Field(
        default=0.4, description="lifts: how much the like arm counts."
    )
    weight_bm25: NonNegativeFloat = Field(
        default=1.0, description="lifts: how much the bm25 arm counts."
    )
    weight_vector: NonNegativeFloat = Field(
        default=1.2, description="lifts: how much the vector arm counts."
    )
    abstain: bool = Field(
        default=True,
        description="Whether an answer that is most likely beside the point names no tool.",
    )
    k: PositiveInt = Field(
        default=60, description="rrf: the constant of both levels of reciprocal rank fusion."
    )
    exact_name_bonus: NonNegativeFloat = Field(
        default=1.0,
        description="Added for a name given verbatim; half if spelt otherwise, a quarter in text.",
    )
    intent_boost: NonNegativeFloat = Field(
        default=0.0002,
        description="Added where query and name have verbs of one family: breaks near ties.",
    )
    weight_as_written: NonNegativeFloat = Field(
        default=0.7, description="Weight of the variant that keeps the query's spelling."
    )
    weight_plain: NonNegativeFloat = Field(
        default=1.0, description="Weight of the variant without wrapping and stop words, by roots."
    )
    weight_intent: NonNegativeFloat = Field(
        default=0.05, description="rrf: weight of each variant that is one of several intents."
    )
    weight_translated: NonNegativeFloat = Field(
        default=2.0,
        description="Weight of the variant in another language, where all tools are in that one;"
        " it falls with their share.",
    )
    glossaries: tuple[Path, ...] = Field(
        default=(), description="Glossary files of your own, over the one that comes along."
    )
    cut: Literal["autocut", "top_band", "none"] = Field(
        default="autocut",
        description="Where an answer ends: at a drop in scores, below half the best, at the limit.",
    )
    cut_ratio: float = Field(
        default=2.0,
        gt=1,
        description="autocut: cut where a score is more than this many times the next.",
    )
    band_share: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="top_band: keep what has at least this share of the best score.",
    )
    internal: tuple[str, ...] = Field(
        default=(), description="Names or patterns of plumbing that no search returns."
    )
    learn: bool = Field(
        default=False,
        description="Whether a query that led to a call raises that tool for queries like it.",
    )
    learn_boost: float = Field(
        default=0.1, ge=0, le=0.25, description="The largest share by which it raises a score."
    )
    learn_half_life_days: PositiveFloat = Field(
        default=30.0, description="After so many days without use it raises half as much."
    )


class WeightSettings(_Section):
    """How much one occurrence of a term counts in the bm25 arm, by field."""

    name: PositiveFloat = Field(default=4.0, description="In the name.")
    label: PositiveFloat = Field(
        default=2.0, description="In titles, tags, category, search hint, source."
    )
    description: PositiveFloat = Field(
        default=1.0, description="In the description, in any language."
    )
    detail: PositiveFloat = Field(
        default=1.0, description="In parameters, a skill's knowledge, an agent's skills."
    )


class EmbedSettings(_Section):
    """Who turns text into vectors. With `none`, search works on two arms."""

    embedder: Literal[
        "none", "bundled", "openai", "sentence-transformers", "model2vec", "fastembed"
    ] = Field(
        default="bundled",
        description="`bundled`: the model that comes with Toolcrib, in the background. `openai`:"
        " any endpoint that speaks its protocol. Others: optional extras.",
    )
    model: str = Field(
        default="", description="The model's name, or its folder; `bundled` needs none."
    )
    url: str = Field(
        default="https://api.openai.com/v1", description="Base address of the endpoint."
    )
    api_key_env: str = Field(
        default="OPENAI_API_KEY", description="Name of the environment variable that holds the key."
    )
    api_key: SecretStr | None = Field(
        default=None, description="The key itself, if it is in no variable."
    )
    wait_s: NonNegativeFloat = Field(
        default=1.0,
        description="How long the first search after a change waits for the bundled model; then"
        " words alone serve until it is ready.",
    )
    dimensions: PositiveInt | None = Field(
        default=None, description="Shorter vectors; `bundled` can do with 256 or 128 of its 384."
    )
    batch: PositiveInt = Field(default=96, description="Texts sent to the endpoint at a time.")
    timeout_s: PositiveFloat = Field(
        default=30.0,
        description="Longest that embedding one batch of texts may take, retries included.",
    )
    retries: int = Field(default=3, ge=0, description="How often a failed request is tried again.")


class ApprovalRule(_Section):
    """One rule: what it is about, by name or kind or both, and its verdict."""

    verdict: Literal["allow", "ask", "deny"]
    pattern: str = "*"
    kind: PermissionKind | None = None


class ApprovalSettings(_Section):
    """Which calls need a person's leave."""

    rules: tuple[ApprovalRule, ...] = Field(
        default=(),
        description="Tables with `verdict` (`allow`, `ask`, `deny`) and `pattern` or `kind` or"
        " both. The first that matches decides; else `read` is allowed and the rest asked for.",
    )


class CallSettings(_Section):
    """The bounds of every call."""

    timeout_s: PositiveFloat = Field(
        default=60.0, description="Longest that a tool may take, unless the call says."
    )
    result_bytes: PositiveInt = Field(
        default=1024 * 1024,
        description="Largest result that is given whole; of a larger one there is a handle.",
    )


class AuditSettings(_Section):
    """The log of calls, beside the catalog file."""

    enabled: bool = Field(
        default=True,
        description="Whether calls are logged: who, what, how it ended; never an argument.",
    )
    days: PositiveFloat = Field(default=30.0, description="How long a call stays in it.")
    rows: PositiveInt = Field(default=100_000, description="How many calls it holds at most.")


class AppSettings(_Section):
    """Programs that register their tools by themselves."""

    enabled: bool = Field(
        default=True, description="Whether tools of apps that have registered are in the pool."
    )
    launch: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict[str, tuple[str, ...]],
        description="The command of each app, as a list. Else what it said when first seen.",
    )
    trusted: tuple[str, ...] = Field(
        default=(), description="Apps whose word that a tool only reads is taken."
    )
    start_timeout_s: PositiveFloat = Field(
        default=20.0, description="Longest that a launched app may take to register its tools."
    )
    idle_timeout_s: PositiveFloat = Field(
        default=300.0, description="An app that was launched is ended after so long without a call."
    )


class McpSettings(_Section):
    """MCP servers, beyond what stands in their own files."""

    warm_up: bool = Field(
        default=False,
        description="Whether a search starts the sleeping server of its best hit meanwhile.",
    )


class SessionSettings(_Section):
    """What one conversation sees. When tools wait for a search at all says `tool_search`."""

    threshold: int = Field(
        default=15, ge=0, description="Below so many tools none waits, but those that always do."
    )
    never_defer: tuple[str, ...] = Field(
        default=(), description="Names or patterns of tools that are always shown whole."
    )
    style: Literal["hidden", "stub"] = Field(
        default="hidden",
        description="A deferred tool: not listed, or listed by name and description alone.",
    )
    auto_reveal: bool = Field(
        default=False,
        description="Whether a deferred tool may be called unrevealed, if its arguments fit.",
    )
    reveal_tokens: PositiveInt = Field(
        default=800,
        description="What a query may add to the tools of a session, in tokens, beside its best"
        " hit and what it selects by name.",
    )
    context_window: PositiveInt = Field(
        default=200_000, description="Tokens of the model's window, unless the session says."
    )
    summary_tokens: PositiveInt = Field(
        default=200, description="Largest summary of what is deferred, in tokens."
    )
    answer_tokens: PositiveInt = Field(
        default=1_500, description="Largest answer of the search tool, in tokens."
    )


class ProfileSettings(_Section):
    """A part of the pool under a name, for some clients of the gateway.

    Where nothing is said, everything is in it; an empty list lets nothing through.
    """

    servers: tuple[str, ...] | None = Field(
        default=None,
        description="Sources, by id or pattern; those without an id by their kind (`builtin`).",
    )
    tools: tuple[str, ...] | None = Field(
        default=None, description="Names or patterns of what is in it."
    )
    exclude: tuple[str, ...] = Field(
        default=(), description="Names or patterns of what is not, whatever else is said."
    )
    kinds: tuple[PermissionKind, ...] | None = Field(
        default=None, description="Permission kinds that are in it."
    )
    pins: tuple[str, ...] = Field(
        default=(), description="Names or patterns of tools that are always listed."
    )
    mode: GatewayMode = Field(default="auto", description="As `gateway.mode`, for this profile.")


class GatewaySettings(_Section):
    """The MCP server in front of all others: `toolcrib serve`."""

    port: int = Field(
        default=0, ge=0, le=65535, description="Loopback port of HTTP; 0 takes a free one."
    )
    mode: GatewayMode = Field(
        default="auto",
        description="What clients are shown: `search`, `reveal`, `direct`, `passthrough`, or `auto`"
        " by the size of the catalog and the name of the client.",
    )
    hosts: tuple[str, ...] = Field(
        default=(), description="Further values of the Host header that HTTP is served under."
    )
    origins: tuple[str, ...] = Field(
        default=(), description="Values of the Origin header that HTTP is served to; none else."
    )
    body_bytes: PositiveInt = Field(
        default=4 * 1024 * 1024, description="Largest body of an HTTP request."
    )
    idle_exit_s: PositiveFloat = Field(
        default=1800.0,
        description="A gateway that `toolcrib connect` has started ends after so long without"
        " a client.",
    )
    profiles: dict[str, ProfileSettings] = Field(
        default_factory=dict[str, ProfileSettings],
        description="Named parts of the pool: `[gateway.profiles.NAME]`, served at `/mcp/NAME`.",
    )


class Settings(_Section):
    """Everything that can be set."""

    store: str = Field(
        default="",
        description="The catalog file, or `:memory:`. Empty: `catalog.db` in the data folder.",
    )
    index: Literal["auto", "memory", "sqlite"] = Field(
        default="auto",
        description="The engine. `auto`: memory for `toolcrib serve`; for all else the stored index"
        " if it is of just this pool, else memory.",
    )
    builtin_tools: bool = Field(
        default=True, description="Whether the tools that come with Toolcrib are in the pool."
    )
    plugins: bool = Field(
        default=True,
        description="Whether installed packages may add tools (entry points `toolcrib.plugins`).",
    )
    tools: tuple[Path, ...] = Field(
        default=(), description="tools.yaml files that declare Python functions."
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
    weights: WeightSettings = Field(default_factory=WeightSettings, description="")
    embed: EmbedSettings = Field(default_factory=EmbedSettings, description="")
    call: CallSettings = Field(default_factory=CallSettings, description="")
    approval: ApprovalSettings = Field(default_factory=ApprovalSettings, description="")
    mcp: McpSettings = Field(default_factory=McpSettings, description="")
    audit: AuditSettings = Field(default_factory=AuditSettings, description="")
    apps: AppSettings = Field(default_factory=AppSettings, description="")
    session: SessionSettings = Field(default_factory=SessionSettings, description="")
    gateway: GatewaySettings = Field(default_factory=GatewaySettings, description="")

    @field_validator("tool_search")
    @classmethod
    def _is_mode(cls, text: str) -> str:
        SearchMode.read(text)
        return text

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
    def state_folder(self) -> Path:
        """Where lies what is remembered between runs: caches, our key, what was decided."""
        return Path(platformdirs.user_state_dir("toolcrib"))


def load_settings(environ: Mapping[str, str], file: Path | None = None) -> Settings:
    """The settings from a file and the environment. Raises `ConfigError`, which names the cause.

    A file that is named has to be there; the one in the configuration folder need not be.
    """
    named = file or (Path(environ[CONFIG]) if environ.get(CONFIG) else None)
    path = named or config_folder() / "config.toml"
    values = _read(path) if named or path.exists() else {}
    _check_keys(values, Settings, f"{path}: ")
    merged = _merged(_at_home(values, path.parent), _from_environment(environ))
    try:
        return _with_own_servers(_with_key(Settings.model_validate(merged), environ))
    except PydanticError as error:
        raise ConfigError(_explained(error, path if values else None)) from error


def config_folder() -> Path:
    """Where the user's settings are, and the servers that `toolcrib add` has written down."""
    return Path(platformdirs.user_config_dir("toolcrib"))


def own_servers_file() -> Path:
    """The file of `toolcrib add`; it need not be there."""
    return config_folder() / "servers.json"


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


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        message = f"{path}: there is no such settings file; create it, or leave the option out"
        raise ConfigError(message) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{path}: not readable as TOML: {error}"
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


def _check_keys(values: Mapping[str, Any], model: type[BaseModel], where: str) -> None:
    """Refuse keys that are no settings, each with the nearest that is one."""
    for key, value in values.items():
        if key not in model.model_fields:
            near = _nearest(key)
            raise ConfigError(f"{where}there is no setting {key!r}; the nearest is {near!r}")
        section = model.model_fields[key].annotation
        if isinstance(value, dict) and isinstance(section, type) and issubclass(section, BaseModel):
            _check_keys(cast("dict[str, Any]", value), section, f"{where}[{key}] ")


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
    for key in ("tools", "skills", "agents", "mcp_config", "glossaries"):
        if isinstance(home.get(key), list):
            home[key] = [_placed(path, folder) for path in home[key]]
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


def _merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(under)
    for key, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], cast("dict[str, Any]", value)) if both else value
    return merged


def _explained(error: PydanticError, path: Path | None) -> str:
    """The first thing that is wrong, by its key, with where it may stand."""
    first = error.errors()[0]
    key = ".".join(map(str, first["loc"]))
    variable = PREFIX + key.replace(".", "__").upper()
    where = f"{path} or the environment ({variable})" if path else f"the environment ({variable})"
    given = "" if key == "embed.api_key" else f", not {first['input']!r}"
    return f"setting {key}: {first['msg']}{given}; change it in {where}"
