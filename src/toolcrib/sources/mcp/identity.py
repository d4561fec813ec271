"""What makes a server the one it is: the hashes that its cache, approvals and rights are filed by.

    npx -y @modelcontextprotocol/server-filesystem /notes /pictures    TOKEN=abc  SCOPE=${SCOPE}
    └──────────── `program_hash` ────────────────┘
    └──────────── `config_hash` ─────────────────────────────────┘    └names┘ └ and references ┘
    └──────────── `entry_hash`: the values too ─────────────────────────────────────────────────┘

All are keyed by a secret of this installation, which no cache and no database has: whoever reads a
hash cannot try out values. Where program and arguments cannot be told apart, everything belongs to
the program.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from typing import NamedTuple

from toolcrib.sources.mcp.config.environment import LOADING, references
from toolcrib.sources.mcp.config.package_runner import CONTAINERS, PACKAGE_RUNNERS, command_name
from toolcrib.sources.mcp.config.server import ServerAddress, ServerCommand, ServerConfig, Transport

# Programs that run whatever their arguments say.
_RUN_ANYTHING = frozenset(
    {"sh", "ash", "bash", "dash", "zsh", "ksh", "csh", "tcsh", "fish", "cmd", "powershell", "pwsh"}
    | {"env", "sudo", "doas", "su", "nice", "nohup", "timeout", "xargs", "ssh", "wsl", "bwrap"}
    | {"firejail", "unshare", "nsenter", "chroot", "setsid", "stdbuf", "flock", "parallel", "op"}
    | {"osascript", "make", "just", "nix", "nix-shell", "direnv", "mise", "asdf", "conda", "poetry"}
    | {"deno", "bun", "go", "cargo", "dotnet", "java", "kubectl", "gh", "git", "busybox", "script"}
)
# Programs that run the file, or the module, that comes first.
_INTERPRETERS = re.compile(
    r"(?:python|pypy)[0-9.]*w?|node(?:js)?|ruby|perl|php|lua|tsx|ts-node|rscript"
)
_BARE = frozenset(  # options of theirs that have no value of their own
    {"-u", "-S", "-s", "-E", "-I", "-B", "-O", "-OO", "-q", "-v", "-m"}
    | {"--no-warnings", "--enable-source-maps", "--experimental-strip-types"}
)
_CODE = re.compile(  # an option behind which there may be code, or the name of some
    r"-[cCeEpPrR]|--?(?:eval|exec|execute|command|call|code|print|require|import|loader|preload|"
    r"plugin|script|run|shell|entrypoint|command-line)(?:=.*)?"
)
_SCRIPT = re.compile(r".+\.(?:py|pyz|js|mjs|cjs|ts|mts|sh|rb|pl|php|lua|jar|wasm|exe|dll|ps1|bat)")
# Options of package runners that may stand before the package, without and with a value.
_RUNNER_FLAGS = frozenset(
    {"-y", "--yes", "-q", "--quiet", "--offline", "--prefer-offline", "--isolated", "--no-cache"}
    | {"--bun", "--no-install", "--ignore-existing", "--frozen", "--locked", "--no-sync", "--"}
)
_RUNNER_OPTIONS = frozenset(
    {"-p", "--package", "--from", "--with", "--python", "--directory", "--project", "--index"}
    | {"--index-url", "--extra-index-url", "--default-index", "--registry", "--refresh-package"}
)
_CONTAINER_FLAGS = frozenset({"-i", "-t", "-it", "-d", "--rm", "--init", "--interactive", "--tty"})
_CONTAINER_OPTIONS = frozenset(
    {"--name", "--network", "--net", "-p", "--publish", "--env-file", "-w", "--workdir", "-u"}
    | {"--user", "--platform", "--entrypoint", "-l", "--label", "--memory", "--cpus", "--add-host"}
    | {"--pull"}
)
_CONTAINER_INPUTS = frozenset({"-e", "--env", "-v", "--volume", "--mount"})


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class ServerIdentity(NamedTuple):
    """The `hash` that a server's decisions are filed by.

    `former` is the hash that the same entry had in an earlier version; empty if there is none.
    `entry` covers all that was written of the server: what its callers have is bound to that.
    """

    hash: str
    former: str = ""
    entry: str = ""

    @property
    def config_hash(self) -> str:
        """That of the whole entry, by which its listing is filed."""
        return self.former or self.hash

    def call_pin(self, pin: str) -> str:
        """The pin that callers know a tool by: of its definition, under this very entry.

        Tickets, covers, sets, recipes and suspended programs hold it, so none of them is good for
        another entry of the same program.
        """
        return hashlib.sha256(f"{self.entry} {pin}".encode()).hexdigest() if self.entry else pin


def identity_of(config: ServerConfig, key: bytes) -> ServerIdentity:
    """In our own file the program identifies a server, in any other file its whole entry.

    Only the operator writes our own file, so that other arguments are their doing. In another file
    any word may have been changed by another hand.
    """
    whole, entry = config_hash(config.transport, key), entry_hash(config, key)
    if not config.is_own:
        return ServerIdentity(entry, whole, entry)
    return ServerIdentity(program_hash(config.transport, key), whole, entry)


def entry_hash(config: ServerConfig, key: bytes) -> str:
    """A keyed BLAKE2 over all that is written of a server, and that is more than a switch of ours.

    In a file of others their words count as well, and what they say of trust: without a key that
    made the server stricter it is not the entry that was approved.
    """
    words = {"about": config.description} if config.description else {}
    about = {} if config.is_own else {**words, **config.trust_keys()}
    return _hash({"server": [config.id, config.prefix], **about, **asdict(config.transport)}, key)


def config_hash(transport: Transport, key: bytes) -> str:
    """The same without the values of variables and headers: by it listings are kept."""
    facts = _command(transport) if isinstance(transport, ServerCommand) else _address(transport)
    return _hash(facts, key)


def program_hash(transport: Transport, key: bytes) -> str:
    """The same over which program runs, whatever its arguments are."""
    return _hash(program_facts(transport), key)


def _hash(facts: Mapping[str, object], key: bytes) -> str:
    return hashlib.blake2b(_canonical(facts).encode(), key=key, digest_size=32).hexdigest()


def _command(transport: ServerCommand) -> dict[str, object]:
    return {
        "transport": "stdio",
        "command": transport.command,
        "args": list(transport.args),
        "cwd": transport.cwd,
        "env": sorted(transport.env),
        "references": references(transport.env.values()),
        "env_from": sorted(transport.env_from.items()),
        **({"isolation": astuple(transport.isolation)} if transport.isolation else {}),
    }


def _address(transport: ServerAddress) -> dict[str, object]:
    oauth = transport.oauth
    client = {"oauth": [oauth.grant, oauth.client_id, oauth.issuer]} if oauth else {}
    return {
        "transport": transport.kind,
        "url": transport.url,
        "headers": sorted(transport.headers),
        "references": references(transport.headers.values()),
        **client,
    }


def program_facts(transport: Transport) -> Mapping[str, object]:
    """What says which program runs. Only variables count that decide which code is loaded."""
    if not isinstance(transport, ServerCommand):
        return {"program": transport.kind, "url": transport.url}
    loading = {name: value for name, value in transport.env.items() if LOADING.fullmatch(name)}
    inherited = {n: ours for n, ours in transport.env_from.items() if LOADING.fullmatch(n)}
    return {
        "program": program_words((transport.command, *transport.args)),
        "cwd": transport.cwd,
        "loading": [sorted(loading.items()), sorted(inherited.items())],
    }


def program_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command line that say which program runs, in order; all, if in doubt."""
    name, rest = command_name(words[0]), words[1:]
    for begin in PACKAGE_RUNNERS.get(name, ()):
        if tuple(rest[: len(begin)]) == tuple(begin):
            return (*words[: 1 + len(begin)], *_of_runner(rest[len(begin) :]))
    if name in CONTAINERS and rest[:1] == ("run",):
        return (*words[:2], *_of_container(rest[1:]))
    if name in _RUN_ANYTHING or name in CONTAINERS or name in PACKAGE_RUNNERS:
        return tuple(words)
    if any(_CODE.fullmatch(word) for word in rest):
        return tuple(words)
    if _INTERPRETERS.fullmatch(name):
        return _of_interpreter(words)
    return tuple(words[: 1 + _last_script(rest)])


def _of_interpreter(words: Sequence[str]) -> tuple[str, ...]:
    """Up to the file or module, which comes first after options that have no value."""
    at = next((at for at, word in enumerate(words[1:], 1) if not word.startswith("-")), 0)
    if not at or not _BARE.issuperset(words[1:at]):
        return tuple(words)
    return tuple(words[: max(at + 1, 1 + _last_script(words[1:]))])


def _of_runner(words: Sequence[str]) -> tuple[str, ...]:
    """Up to the package; further, if the package runs programs itself."""
    at = _first(words, _RUNNER_FLAGS, _RUNNER_OPTIONS)
    if at is None:
        return tuple(words)
    package = re.sub(r"(?<=.)(?:@|==|\[|>|<|~).*", "", words[at])
    inner = program_words((package, *words[at + 1 :]))
    return (*words[: at + 1], *inner[1:])


def _of_container(words: Sequence[str]) -> tuple[str, ...]:
    """All but the variables and folders that are handed in, as far as these can be recognised."""
    at = _first(words, _CONTAINER_FLAGS, _CONTAINER_OPTIONS | _CONTAINER_INPUTS)
    if at is None:
        return tuple(words)
    rest: list[str] = []
    before = iter(words[:at])
    for word in before:
        if word in _CONTAINER_INPUTS:
            next(before, None)
        elif word.partition("=")[0] not in _CONTAINER_INPUTS:
            rest.append(word)
    return (*rest, *words[at:])


def _first(words: Sequence[str], flags: frozenset[str], options: frozenset[str]) -> int | None:
    """The place of the first word that is no option and no value of one; None if unknown."""
    at = 0
    while at < len(words):
        word, sign, _ = words[at].partition("=")
        if not word.startswith("-"):
            return at
        if word in options and not sign:
            at += 1
        elif word not in flags and word not in options:
            return None
        at += 1
    return None


def _last_script(words: Sequence[str]) -> int:
    """How many words there are up to the last one that names a file of code; 0 if none does."""
    found = [at for at, word in enumerate(words, 1) if _SCRIPT.fullmatch(word)]
    return found[-1] if found else 0
