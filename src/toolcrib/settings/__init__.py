"""Settings: what can be set, and how it is read. Frozen, read once.

    defaults  <  settings file  <  TOOLCRIB_* in the environment  →  Settings

`sections`  what can be set, section by section: each key with its type, its default and what it
            does. A default stands here and nowhere else.
`schema`    `Settings`: all sections as one value. Checks keys, and names the nearest for one that
            is none.
`loading`   `load_settings`: one TOML file and the environment become `Settings`.
`tenant_document`  what one tenant of a shared store may set over them.
`section`   what a section is: keys with their `declaration`. It takes plain values as they are, and
            has pydantic judge the rest (`validation`), which is loaded then.
`paths`     where the user's files are on this system.

Read them once, at the start, and hand them on:

    settings = load_settings(os.environ)
    crib = Crib.from_settings(settings)

No stage reads settings by itself. `toolcrib.wiring` hands each stage what it needs of them, in
the stage's own words; that is where a new setting is connected. `default_settings` is for a crib
that is given none: it reads no file, and keeps nothing on disk.

What is wrong in a file or a variable is a `ConfigError` that names the key, the value and the
place. `docs/settings.md` is written from the descriptions in `sections`.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.settings.address import is_address
    from toolcrib.settings.declaration import Setting
    from toolcrib.settings.loading import (
        CONFIG_VARIABLE,
        SettingsFile,
        default_settings,
        load_settings,
        settings_file,
        with_own_servers,
    )
    from toolcrib.settings.oauth_section import OAuthSettings
    from toolcrib.settings.paths import (
        DEFAULT_TENANT,
        cache_folder,
        checked_tenant,
        config_folder,
        is_own_servers_file,
        own_servers_file,
        rules_file,
        tenant_folder,
    )
    from toolcrib.settings.schema import Settings, documented
    from toolcrib.settings.section import Secret, Section
    from toolcrib.settings.sections import (
        ApprovalRule,
        ApprovalSettings,
        AppSettings,
        CallSettings,
        DashboardSettings,
        EmbedSettings,
        GatewayMode,
        GatewaySettings,
        McpSettings,
        ObserveSettings,
        ProfileSettings,
        ProgramSettings,
        SearchSettings,
        ServerApproval,
        SessionSettings,
    )
    from toolcrib.settings.tenant_document import (
        read_tenant_document,
        tenant_document_file,
        with_tenant_document,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "address": ("is_address",),
            "declaration": ("Setting",),
            "loading": (
                "CONFIG_VARIABLE",
                "SettingsFile",
                "default_settings",
                "load_settings",
                "with_own_servers",
                "settings_file",
            ),
            "oauth_section": ("OAuthSettings",),
            "paths": (
                "DEFAULT_TENANT",
                "cache_folder",
                "checked_tenant",
                "config_folder",
                "is_own_servers_file",
                "own_servers_file",
                "rules_file",
                "tenant_folder",
            ),
            "schema": ("Settings", "documented"),
            "section": ("Secret", "Section"),
            "sections": (
                "AppSettings",
                "ApprovalRule",
                "ApprovalSettings",
                "CallSettings",
                "DashboardSettings",
                "EmbedSettings",
                "GatewayMode",
                "GatewaySettings",
                "McpSettings",
                "ObserveSettings",
                "ProfileSettings",
                "ProgramSettings",
                "SearchSettings",
                "ServerApproval",
                "SessionSettings",
            ),
            "tenant_document": (
                "read_tenant_document",
                "tenant_document_file",
                "with_tenant_document",
            ),
        },
    )
