"""The `server.json` of the MCP registry, and the entry of ours that runs what it describes.

It names distributions: packages (npm, PyPI, OCI, NuGet) and remote addresses, each with inputs that
a person fills in. Nothing is fetched or run here.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, cast

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
_RUNS: Mapping[str, str] = {"npm": "npx", "pypi": "uvx", "oci": "docker", "nuget": "dnx"}
_HOMES: Mapping[str, frozenset[str]] = {
    "npm": frozenset({"", "https://registry.npmjs.org"}),
    "pypi": frozenset({"", "https://pypi.org"}),
    "oci": frozenset({"", "https://docker.io", "https://ghcr.io"}),
    "nuget": frozenset({"", "https://api.nuget.org", "https://api.nuget.org/v3/index.json"}),
}


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """An entry, and the inputs that are still missing. `secrets` are variables that it refers to.

    `written` are the secrets that stand in the entry itself, because they were given.
    """

    entry: JsonObject
    missing: tuple[RegistryInput, ...] = ()
    secrets: tuple[RegistryInput, ...] = ()
    written: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Distribution:
    """One way to have the server: a package to run, or an address. `what` says which."""

    KINDS: ClassVar[tuple[DistributionKind, ...]] = ("npm", "pypi", "oci", "nuget", "remote")

    kind: DistributionKind
    what: str
    package: Object = field(repr=False)
    where: str = ""

    @property
    def command(self) -> str:
        """The program that runs it; that of an address means nothing."""
        return text_of(self.package, "runtimeHint") or _RUNS.get(self.kind, "")

    def fill(self, values: Mapping[str, str]) -> EntryDraft:
        """The entry, with these values for its inputs. Raises `ConfigError`.

        An input with a default need not be given. A secret that is not given becomes a reference to
        a variable of ours. A value for which there is no input is an error, and so is a published
        text that refers to a variable of ours: only the person may say what a stranger is sent.
        """
        inputs = RegistryInputs(self.where, values)
        entry = _remote(self, inputs) if self.kind == "remote" else _package(self, inputs)
        inputs.refuse_unknown()
        missing, secrets = tuple(inputs.missing.values()), tuple(inputs.secrets.values())
        return EntryDraft(entry, missing, secrets, tuple(inputs.written))


@dataclass(frozen=True, slots=True)
class RegistryServer:
    """A server as it was published. `distributions` are those that can be used here, in order.

    `unusable` says of each of the others why it cannot.
    """

    name: str
    title: str
    description: str
    version: str
    distributions: tuple[Distribution, ...]
    unusable: tuple[str, ...] = ()

    @property
    def short_name(self) -> str:
        """The last part of its name: `io.github.me/weather` is `weather`."""
        return re.sub(r"[^A-Za-z0-9_-]+", "-", self.name.rpartition("/")[2]).strip("-") or "server"

    @classmethod
    def read(cls, text: str, where: str) -> Self:
        """Of a `server.json`, or of an answer of the registry, which has it under `server`.

        Raises `ConfigError`.
        """
        server = _server_object(text, where)
        packages, remotes = (listed_in(server, key, where) for key in ("packages", "remotes"))
        if any("registry_name" in each or "registry_type" in each for each in packages):
            raise ConfigError(f"{where}: is of a format before 2025-09; get a newer `server.json`")
        if not isinstance(server.get("name"), str) or not (packages or remotes):
            raise ConfigError(
                f"{where}: is no `server.json`: it needs `name`, and `packages` or `remotes`"
            )
        remotes = sorted(remotes, key=lambda each: each.get("type") == "sse")
        read = [_package_distribution(each, f"packages[{at}]") for at, each in enumerate(packages)]
        read += [_remote_distribution(each, f"remotes[{at}]") for at, each in enumerate(remotes)]
        return cls(
            name=text_of(server, "name"),
            title=text_of(server, "title"),
            description=text_of(server, "description"),
            version=text_of(server, "version"),
            distributions=tuple(each for each in read if isinstance(each, Distribution)),
            unusable=tuple(each for each in read if isinstance(each, str)),
        )


def _server_object(text: str, where: str) -> Object:
    try:
        top: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{where}: not JSON: {error}; correct it") from error
    server = as_object(top, where)
    if isinstance(server.get("server"), dict):
        return as_object(server["server"], f"{where}: server")
    return server


def _package_distribution(package: Object, where: str) -> Distribution | str:
    """How to run it, or why that is not possible here."""
    kind, identifier = text_of(package, "registryType"), text_of(package, "identifier")
    transport = package.get("transport", {"type": "stdio"})
    speaks = text_of(as_object(transport, f"{where}: transport"), "type")
    if kind not in _RUNS:
        return f"{where}: packages of the type {kind!r} cannot be run here"
    if not identifier or identifier.startswith("-") or any(sign.isspace() for sign in identifier):
        return f"{where}: it has no usable `identifier`"
    if speaks != "stdio":
        return f"{where}: it is a server of its own ({speaks}): start it, then `toolcrib add --url`"
    if text_of(package, "registryBaseUrl").rstrip("/") not in _HOMES[kind]:
        source = text_of(package, "registryBaseUrl")
        return f"{where}: it comes from {source}, which is not one of the usual"
    return Distribution(
        cast("DistributionKind", kind),
        _versioned(kind, identifier, text_of(package, "version")),
        package,
        where,
    )


def _remote_distribution(remote: Object, where: str) -> Distribution | str:
    url = text_of(remote, "url")
    if text_of(remote, "type") not in ("streamable-http", "sse", "http"):
        return f"{where}: the transport {text_of(remote, 'type')!r} is not known here"
    return Distribution("remote", url, remote, where) if url else f"{where}: it has no `url`"


def _versioned(kind: str, identifier: str, version: str) -> str:
    if not version or version == "latest":
        return identifier
    if kind == "oci":
        tagged = "@" in identifier or ":" in identifier.rpartition("/")[2]
        return identifier if tagged else f"{identifier}:{version}"
    return f"{identifier}@{version}"


def _package(distribution: Distribution, inputs: RegistryInputs) -> JsonObject:
    package, where = distribution.package, distribution.where
    env, handed_on = inputs.variables(listed_in(package, "environmentVariables", where))
    runtime = inputs.arguments(listed_in(package, "runtimeArguments", where))
    arguments = inputs.arguments(listed_in(package, "packageArguments", where))
    kind = distribution.kind
    command = distribution.command
    before = _before(kind, command, runtime, [*env, *handed_on])
    args = [*before, distribution.what, *_after(kind, arguments)]
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


def _after(kind: DistributionKind, arguments: Sequence[str]) -> list[str]:
    if kind != "nuget":
        return [*arguments]
    return ["--yes", *(["--", *arguments] if arguments else [])]


def _remote(distribution: Distribution, inputs: RegistryInputs) -> JsonObject:
    remote = distribution.package
    kind = "sse" if text_of(remote, "type") == "sse" else "http"
    url = inputs.template("url", text_of(remote, "url"), inner(remote, "variables"))
    headers = inputs.headers(listed_in(remote, "headers", distribution.where))
    return {"type": kind, "url": url or ""} | ({"headers": {**headers}} if headers else {})


def _as_written(handed_on: Mapping[str, str]) -> Json:
    same = all(name == ours for name, ours in handed_on.items())
    return [*handed_on] if same else {**handed_on}
