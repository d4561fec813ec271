"""The environment of a server's process: `${NAME}` references, and what it inherits of ours.

A process inherits a short list of names, certificates and proxies, and what its entry names.
References are `${NAME}`, `${NAME:-default}` and VS Code's `${env:NAME}`: a file names its secrets
without holding them.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from toolcrib.errors import ConfigError
from toolcrib.sources.mcp.config.package_runner import package_runner
from toolcrib.sources.mcp.config.server import ServerAddress, ServerCommand, Transport

_REFERENCE = re.compile(r"\$\{(?:env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")
# Variables that decide which code is loaded, or where a package comes from.
LOADING = re.compile(
    r"PATH|LD_.*|DYLD_.*|NODE_OPTIONS|NODE_PATH|PYTHON(?:PATH|HOME|STARTUP|USERBASE)|RUBY(?:OPT|LIB)"
    r"|PERL5(?:OPT|LIB|DB)|JAVA_TOOL_OPTIONS|CLASSPATH|BASH_ENV|ENV|SHELL|npm_config_.*|UV_.*|PIP_.*"
    r"|DOCKER_.*|CONTAINER_HOST",
    re.IGNORECASE,
)
ALLOWED = frozenset(
    {"HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ"}
    | {"USER", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}
)
CERTIFICATES = frozenset(
    {"CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA"}
    | {"REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE"}
)
PROXIES = frozenset({"ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"})
"""In upper or lower case."""
_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "npm": ("NPM_CONFIG_", "BUN_CONFIG_", "COREPACK_", "YARN_NPM_REGISTRY_"),
    "python": ("UV_", "PIP_", "PIPX_"),
}
"""Prefixes of the variables that tell package managers where packages are, in either case."""
_PUBLISHING = "UV_PUBLISH_"
"""Credentials for publishing: nobody needs them to fetch packages."""
_ECOSYSTEMS: Mapping[str, str] = {
    **dict.fromkeys(("npx", "npm", "bun", "bunx", "pnpm", "pnpx", "yarn"), "npm"),
    **dict.fromkeys(("uv", "uvx", "pipx"), "python"),
}


def references(texts: Iterable[str]) -> tuple[str, ...]:
    """The references in the texts as they are written, sorted, each once."""
    return tuple(sorted({found[0] for text in texts for found in _REFERENCE.finditer(text)}))


def referenced_values(texts: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that the texts refer to and that are set, with their values."""
    names = {found["name"] for text in texts for found in _REFERENCE.finditer(text)}
    return {name: environ[name] for name in sorted(names) if environ.get(name)}


def unset_variables(texts: Iterable[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that the texts refer to without a default and that are not set, each once."""
    found = (each for text in texts for each in _REFERENCE.finditer(text))
    named = (each["name"] for each in found if each["default"] is None)
    return tuple(dict.fromkeys(name for name in named if not environ.get(name)))


def expandable_texts(transport: Transport) -> tuple[str, ...]:
    """All texts of a server's entry in which references are replaced."""
    if isinstance(transport, ServerCommand):
        return tuple(transport.env.values())
    secret = transport.oauth.client_secret if transport.oauth else ""
    return transport.url, *transport.headers.values(), secret


def variables_read(
    transport: Transport, environ: Mapping[str, str], inherits: Sequence[str] = ()
) -> tuple[str, ...]:
    """The names of our variables that a server is given besides those in `ALLOWED`, each once."""
    texts = expandable_texts(transport)
    names = [found["name"] for text in texts for found in _REFERENCE.finditer(text)]
    if isinstance(transport, ServerCommand):
        names += transport.env_from.values()
        names += inherited_variables(transport, environ, inherits)
    return tuple(dict.fromkeys(names))


def expand(text: str, environ: Mapping[str, str]) -> str:
    """The text with its references replaced. Raises `ConfigError` for a variable that is not set.

    Other text with a `$` stays as it is: a program may have references of its own.
    """

    def value(found: re.Match[str]) -> str:
        name, default = found["name"], found["default"]
        if not environ.get(name) and default is None:
            raise ConfigError(f"the variable {name} is not set; set it where Toolcrib is started")
        return environ.get(name) or default

    return _REFERENCE.sub(value, text)


def expand_all(texts: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    return {key: expand(text, environ) for key, text in texts.items()}


def server_environment(
    command: ServerCommand, environ: Mapping[str, str] | None = None, inherits: Sequence[str] = ()
) -> dict[str, str]:
    """The whole environment of the process. Raises `ConfigError` for a variable that is not set.

    `inherits` are names that all servers are given; those that are not set are left out.
    """
    ours = os.environ if environ is None else environ
    missing = [name for name in command.env_from.values() if name not in ours]
    if missing:
        raise ConfigError(f"the variable {missing[0]} is not set; set it where Toolcrib is started")
    inherited = {name: value for name, value in ours.items() if name in ALLOWED}
    named = {theirs: ours[name] for theirs, name in command.env_from.items()}
    return (
        inherited
        | inherited_variables(command, ours, inherits)
        | named
        | expand_all(command.env, ours)
    )


def inherited_variables(
    command: ServerCommand, environ: Mapping[str, str], inherits: Sequence[str]
) -> dict[str, str]:
    """What the process inherits without its entry naming it, and what may hold a secret.

    These are certificates and proxies; for a package runner, where its packages are; and
    `inherits`.
    """
    runner = package_runner(command)
    packages = _PACKAGES.get(_ECOSYSTEMS.get(runner.name, ""), ()) if runner else ()

    def is_inherited(name: str) -> bool:
        upper = name.upper()
        if name in CERTIFICATES or name in inherits:
            return True
        if upper in PROXIES:
            return True
        return any(map(upper.startswith, packages)) and not upper.startswith(_PUBLISHING)

    return {name: value for name, value in environ.items() if is_inherited(name)}


def expanded_address(address: ServerAddress) -> ServerAddress:
    """The address with its references replaced. Raises `ConfigError`."""
    oauth = address.oauth
    if oauth:
        oauth = replace(oauth, client_secret=expand(oauth.client_secret, os.environ))
    headers = expand_all(address.headers, os.environ)
    return replace(address, url=expand(address.url, os.environ), headers=headers, oauth=oauth)
