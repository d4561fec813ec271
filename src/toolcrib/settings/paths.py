"""Where the files of the user's configuration and cache are on this system.

Of a shared store each tenant has its own: `TOOLCRIB_TENANT` names the one that commands are for.
"""

import os
import re
from pathlib import Path

import platformdirs

from toolcrib.errors import ConfigError

CONFIG_VARIABLE = "TOOLCRIB_CONFIG"
TENANT_VARIABLE = "TOOLCRIB_TENANT"
DEFAULT_TENANT = "default"
_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def current_tenant() -> str:
    """The tenant that this process is for. Raises `ConfigError` for what is no name."""
    return checked_tenant(os.environ.get(TENANT_VARIABLE) or DEFAULT_TENANT)


def checked_tenant(name: str) -> str:
    """The name itself. Raises `ConfigError` if a tenant cannot be called so."""
    if not _TENANT.fullmatch(name):
        remedy = "take up to 64 letters, digits, dots, dashes and underscores"
        raise ConfigError(f"{name!r} is not a name for a tenant; {remedy}")
    return name


def tenant_folder(folder: Path, tenant: str) -> Path:
    """The folder of a tenant within one of ours; the default tenant has that itself."""
    return folder if tenant == DEFAULT_TENANT else folder / "tenants" / tenant


def config_folder() -> Path:
    """Where the user's settings are, and the servers that `toolcrib add` has written down."""
    return Path(platformdirs.user_config_dir("toolcrib"))


def cache_folder() -> Path:
    """Where things are kept that can be had again."""
    return Path(platformdirs.user_cache_dir("toolcrib"))


def own_servers_file() -> Path:
    """The file of `toolcrib add`; it need not be there."""
    return tenant_folder(config_folder(), current_tenant()) / "servers.json"


def is_own_servers_file(path: Path) -> bool:
    """Whether it is the file of `toolcrib add`, of whatever tenant.

    Or the one beside the settings that `TOOLCRIB_CONFIG` names, as a container has it: whoever can
    write there can write the settings.
    """
    folder, own = path.absolute().parent, config_folder()
    named = os.environ.get(CONFIG_VARIABLE)
    ours = [own, *([Path(named).absolute().parent] if named else [])]
    return path.name == "servers.json" and (folder in ours or folder.parent == own / "tenants")


def rules_file() -> Path:
    """The file of `toolcrib allow`, `ask` and `deny`; it need not be there."""
    return tenant_folder(config_folder(), current_tenant()) / "rules.json"
