"""What a server's process gets to see of our environment: an allow-list, and what it was given."""

import os
from collections.abc import Mapping, Sequence

from toolcrib.errors import ConfigError
from toolcrib.sources.mcp.package_runner import package_runner
from toolcrib.sources.mcp.server import Command
from toolcrib.sources.mcp.variables import filled_all

ALLOWED = frozenset(
    {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ"}
    | {"USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}
)
CERTIFICATES = frozenset(
    {"CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA"}
    | {"REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE"}
)
PROXIES = frozenset({"ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"})
"""In either case."""
_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "npm": ("NPM_CONFIG_", "BUN_CONFIG_", "COREPACK_", "YARN_NPM_REGISTRY_"),
    "python": ("UV_", "PIP_", "PIPX_"),
}
"""How the names begin, in either case, that tell package managers where packages are."""
_PUBLISHING = "UV_PUBLISH_"
"""What lets one change packages: nobody needs that to fetch them."""
_ECOSYSTEMS: Mapping[str, str] = {
    **dict.fromkeys(("npx", "npm", "bun", "bunx", "pnpm", "pnpx", "yarn"), "npm"),
    **dict.fromkeys(("uv", "uvx", "pipx"), "python"),
}


def environment(
    command: Command, environ: Mapping[str, str] | None = None, inherits: Sequence[str] = ()
) -> dict[str, str]:
    """The whole environment of the process. Raises `ConfigError` for a variable that is not set.

    Of `inherits`, names that all servers are given, those that are not set are left out.
    """
    ours = os.environ if environ is None else environ
    missing = [name for name in command.env_from.values() if name not in ours]
    if missing:
        raise ConfigError(f"the variable {missing[0]} is not set; set it where Toolcrib is started")
    inherited = {name: value for name, value in ours.items() if name in ALLOWED}
    named = {name: ours[of_ours] for name, of_ours in command.env_from.items()}
    return inherited | handed_on(command, ours, inherits) | named | filled_all(command.env, ours)


def handed_on(
    command: Command, environ: Mapping[str, str], inherits: Sequence[str]
) -> dict[str, str]:
    """What the process gets unasked and what may hold a secret: the way to the network.

    Certificates and proxies; for a package runner where its packages are; and `inherits`.
    """
    runner = package_runner(command)
    packages = _PACKAGES.get(_ECOSYSTEMS.get(runner.name, ""), ()) if runner else ()

    def is_meant(name: str) -> bool:
        upper = name.upper()
        if name in CERTIFICATES or name in inherits:
            return True
        if upper in PROXIES:
            return True
        return any(map(upper.startswith, packages)) and not upper.startswith(_PUBLISHING)

    return {name: value for name, value in environ.items() if is_meant(name)}
