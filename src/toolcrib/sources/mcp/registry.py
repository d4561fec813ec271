"""The `server.json` of the MCP registry, and the entry of ours that runs what it describes.

It names distributions: packages (npm, PyPI, OCI, NuGet) and remote addresses, each with inputs that
a person fills in. Nothing is fetched or run here.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from toolcrib.errors import ConfigError
from toolcrib.model import Json, JsonObject
from toolcrib.sources.mcp.registry_inputs import (
    Object,
    RegistryInput,
    RegistryInputs,
    as_object,
    inner,
    listed_in,
    text_of,
)

DistributionKind = Literal["npm", "pypi", "oci", "nuget", "remote"]
DISTRIBUTION_KINDS: tuple[DistributionKind, ...] = ("npm", "pypi", "oci", "nuget", "remote")
_RUNS: Mapping[str, str] = {"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}
_HOMES: Mapping[str, frozenset[str]] = {
    "npm": frozenset({"", "https://registry.npmjs.org"}),
    "pypi": frozenset({"", "https://pypi.org"}),
    "oci": frozenset({"", "https://docker.io", "https://ghcr.io"}),
    "nuget": frozenset({"", "https://api.nuget.org", "https://api.nuget.org/v3/index.json"}),
}


@dataclass(frozen=True, slots=True)
class Distribution:
    """One way to have the server: what runs, or where it is."""

    kind: DistributionKind
    what: str
    package: Object = field(repr=False)
    where: str = ""


@dataclass(frozen=True, slots=True)
class RegistryServer:
    """A server as it was published. `ways` are those that can be used here, as they come.

    `others` are why the rest cannot.
    """

    name: str
    title: str
    description: str
    version: str
    ways: tuple[Distribution, ...]
    others: tuple[str, ...] = ()

    @property
    def short_name(self) -> str:
        """The last part of its name: `io.github.me/weather` is `weather`."""
        return re.sub(r"[^A-Za-z0-9_-]+", "-", self.name.rpartition("/")[2]).strip("-") or "server"


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """The entry, and what is still missing of it; `secrets` are variables of ours that it needs.

    `written` are the secrets that stand in it, because they were given.
    """

    entry: JsonObject
    missing: tuple[RegistryInput, ...] = ()
    secrets: tuple[RegistryInput, ...] = ()
    written: tuple[str, ...] = ()


def read_server_json(text: str, where: str) -> RegistryServer:
    """What a file says, or an answer of the registry, with a `server`. Raises `ConfigError`."""
    try:
        top: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: not JSON: {error}; correct it") from error
    server = as_object(top, where)
    if isinstance(server.get("server"), dict):
        server = as_object(server["server"], f"{where}: server")
    packages, remotes = (listed_in(server, key, where) for key in ("packages", "remotes"))
    if any("registry_name" in each or "registry_type" in each for each in packages):
        raise ConfigError(f"{where}: is of a format before 2025-09; get a newer `server.json`")
    if not isinstance(server.get("name"), str) or not (packages or remotes):
        raise ConfigError(
            f"{where}: is no `server.json`: it needs `name`, and `packages` or `remotes`"
        )
    ways: list[Distribution] = []
    others: list[str] = []
    for number, each in enumerate(packages):
        _sort(_package_way, each, f"packages[{number}]", ways, others)
    remotes = sorted(remotes, key=lambda each: each.get("type") == "sse")
    for number, each in enumerate(remotes):
        _sort(_remote_way, each, f"remotes[{number}]", ways, others)
    return RegistryServer(
        name=text_of(server, "name"),
        title=text_of(server, "title"),
        description=text_of(server, "description"),
        version=text_of(server, "version"),
        ways=tuple(ways),
        others=tuple(others),
    )


def fill_entry(way: Distribution, values: Mapping[str, str]) -> EntryDraft:
    """The entry for a way, with these values for its inputs. Raises `ConfigError`.

    What has a default need not be given. A secret that is not given becomes a reference to a
    variable of ours. A value that no input wants is an error.
    """
    inputs = RegistryInputs(way.where, values)
    entry = _remote(way, inputs) if way.kind == "remote" else _package(way, inputs)
    inputs.refuse_unknown()
    return EntryDraft(
        entry, tuple(inputs.missing.values()), tuple(inputs.secrets.values()), tuple(inputs.written)
    )


def _sort(
    read: Callable[[Object, str], Distribution | str],
    each: Object,
    where: str,
    ways: list[Distribution],
    others: list[str],
) -> None:
    way = read(each, where)
    if isinstance(way, Distribution):
        ways.append(way)
    else:
        others.append(f"{where}: {way}")


def _package_way(package: Object, where: str) -> Distribution | str:
    kind, identifier = text_of(package, "registryType"), text_of(package, "identifier")
    transport = package.get("transport", {"type": "stdio"})
    speaks = text_of(as_object(transport, f"{where}: transport"), "type")
    if kind not in _RUNS:
        return f"packages of the type {kind!r} cannot be run here"
    if not identifier or identifier.startswith("-") or any(sign.isspace() for sign in identifier):
        return "it has no usable `identifier`"
    if speaks != "stdio":
        return f"it is a server of its own ({speaks}): start it, then `toolcrib add --url`"
    if text_of(package, "registryBaseUrl").rstrip("/") not in _HOMES[kind]:
        return f"it comes from {text_of(package, 'registryBaseUrl')}, which is not one of the usual"
    return Distribution(
        cast("DistributionKind", kind),
        _versioned(kind, identifier, text_of(package, "version")),
        package,
        where,
    )


def _remote_way(remote: Object, where: str) -> Distribution | str:
    url = text_of(remote, "url")
    if text_of(remote, "type") not in ("streamable-http", "sse", "http"):
        return f"the transport {text_of(remote, 'type')!r} is not known here"
    return Distribution("remote", url, remote, where) if url else "it has no `url`"


def _versioned(kind: str, identifier: str, version: str) -> str:
    if not version or version == "latest":
        return identifier
    if kind == "oci":
        tagged = "@" in identifier or ":" in identifier.rpartition("/")[2]
        return identifier if tagged else f"{identifier}:{version}"
    return f"{identifier}@{version}"


def _package(way: Distribution, inputs: RegistryInputs) -> JsonObject:
    package, where = way.package, way.where
    env, handed_on = inputs.variables(listed_in(package, "environmentVariables", where))
    runtime = inputs.arguments(listed_in(package, "runtimeArguments", where))
    told = inputs.arguments(listed_in(package, "packageArguments", where))
    names = [*env, *handed_on]
    command = text_of(package, "runtimeHint") or _RUNS[way.kind]
    args = [*_before(way.kind, command, runtime, names), way.what, *_after(way.kind, told)]
    return (
        {"command": command, "args": [*args]}
        | ({"env": {**env}} if env else {})
        | ({"env_from": _as_written(handed_on)} if handed_on else {})
    )


def _before(
    kind: DistributionKind, command: str, runtime: Sequence[str], names: Sequence[str]
) -> list[str]:
    """What stands before the package."""
    if kind == "oci":
        run = [] if runtime[:1] == ["run"] else ["run"]
        usual = [flag for flag in ("-i", "--rm") if flag not in runtime]
        begin = [*runtime[:1], *usual, *runtime[1:]] if not run else [*run, *usual, *runtime]
        return [*begin, *(word for name in names for word in ("-e", name))]
    if command == "npx" and not {"-y", "--yes"} & {*runtime}:
        return ["-y", *runtime]
    return [*runtime]


def _after(kind: DistributionKind, told: Sequence[str]) -> list[str]:
    if kind != "nuget":
        return [*told]
    return ["--yes", *(["--", *told] if told else [])]


def _remote(way: Distribution, inputs: RegistryInputs) -> JsonObject:
    remote = way.package
    kind = "sse" if text_of(remote, "type") == "sse" else "http"
    url = inputs.template(text_of(remote, "url"), inner(remote, "variables"))
    headers = inputs.headers(listed_in(remote, "headers", way.where))
    return {"type": kind, "url": url or ""} | ({"headers": {**headers}} if headers else {})


def _as_written(handed_on: Mapping[str, str]) -> Json:
    same = all(name == ours for name, ours in handed_on.items())
    return [*handed_on] if same else {**handed_on}
