"""The settings of one tenant of a shared store: a document over those of the gateway.

    settings of the gateway (file, environment)  <  `settings.toml` of the tenant

A tenant says what its own people meet: how they search, what needs approval, its profiles, its
limits. What is about the process or the machine stays the gateway's: addresses, TLS, paths, models,
code, variables. A key of that kind is refused.
"""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from toolcrib.errors import ConfigError
from toolcrib.settings.paths import config_folder, tenant_folder
from toolcrib.settings.schema import Settings, check_keys
from toolcrib.settings.section import Section
from toolcrib.system import read_plain_file

TENANT_DOCUMENT = "settings.toml"
LARGEST = 1024 * 1024
OF_A_TENANT = frozenset(
    """
    tool_search search call approval session mcp.warm_up mcp.always_load observe.keep_queries
    observe.days observe.rows gateway.mode gateway.rate gateway.at_once gateway.tenant_rate
    gateway.tenant_at_once gateway.profiles gateway.oauth.groups
    """.split()
)
"""What a tenant may set: single keys, and whole sections."""
NOT_OF_A_TENANT = frozenset({"search.glossaries"})
"""Within those sections, what is of the machine."""


def tenant_document_file(tenant: str) -> Path:
    """Where a replica keeps its copy of a tenant's settings; it need not be there."""
    return tenant_folder(config_folder(), tenant) / TENANT_DOCUMENT


def with_tenant_document(settings: Settings) -> Settings:
    """The settings with what their tenant says, as the copy of this machine has it.

    Raises `ConfigError`.
    """
    path = tenant_document_file(settings.tenant)
    try:
        content = read_plain_file(path, LARGEST)
    except FileNotFoundError:
        return settings
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    over = _over(settings, read_tenant_document(content, settings.tenant))
    return over.model_copy(update={"_under": settings})


def read_tenant_document(content: bytes, tenant: str) -> Settings:
    """What a document says, alone. Raises `ConfigError` that names the tenant and the key."""
    where = f"the settings of the tenant {tenant!r}: "
    try:
        values = tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"{where}not readable as TOML: {error}; correct it") from error
    check_keys(values, Settings, where)
    for key in _set_keys(values, Settings):
        if not _is_of_a_tenant(key):
            todo = "write it into the settings of the gateway"
            raise ConfigError(f"{where}`{key}` is no setting of a tenant; {todo}")
    try:
        return Settings.model_validate(values)
    except ConfigError as error:
        todo = f"change it: `toolcrib tenants edit {tenant}`"
        raise ConfigError(f"{where}{error}; {todo}") from error


def _over(under: Any, over: Any) -> Any:  # noqa: ANN401 - a section of whatever type, twice
    """The first with all that the second has set; profiles and groups go by their names."""
    update: dict[str, object] = {}
    for key in over.given:
        new, old = getattr(over, key), getattr(under, key)
        if isinstance(new, Section):
            update[key] = _over(old, new)
        elif isinstance(new, Mapping):
            update[key] = {**old, **new}
        else:
            update[key] = new
    return under.model_copy(update=update)


def _set_keys(values: Mapping[str, Any], section: type[Section], inside: str = "") -> Iterator[str]:
    """Every key that is set, with its sections before it."""
    for key, value in values.items():
        inner = section.keys[key].type
        if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, Section):
            yield from _set_keys(cast("dict[str, Any]", value), inner, f"{inside}{key}.")
        else:
            yield f"{inside}{key}"


def _is_of_a_tenant(key: str) -> bool:
    section = key.partition(".")[0]
    return bool({key, section} & OF_A_TENANT) and key not in NOT_OF_A_TENANT
