"""Where the files of the user's configuration and cache are on this system."""

from pathlib import Path

import platformdirs


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
