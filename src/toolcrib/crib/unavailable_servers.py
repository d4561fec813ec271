"""The configured servers whose tools cannot be had, found by what somebody asked for.

By name and purpose: the words of the server's name and description, of the package or the program
that it is, of its address, and of the tools that it listed and that nobody has approved yet.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TypeAlias
from urllib.parse import urlsplit

from toolcrib.access import Scope, why_barred
from toolcrib.model import Entry, ToolInfo, UnavailableServer
from toolcrib.names import Origin
from toolcrib.sources.mcp import LISTING, McpSource, ServerCommand, ServerConfig, unusable_entry
from toolcrib.text import Glossary, detect_language, stems, without_stopwords, words

MOST_SERVERS = 3
SHORTEST = 3
MOST_ARGUMENTS = 64
LONGEST_WORDS = 200
MOST_TOOLS = 200
_RUNNERS = frozenset(
    {"bash", "bun", "bunx", "cmd", "deno", "dlx", "docker", "exec", "node", "npm", "npx", "pipx"}
    | {"pnpm", "podman", "python", "python3", "run", "sh", "tool", "uv", "uvx", "yarn"}
)
_GENERIC = frozenset(
    {"api", "app", "bin", "build", "cli", "com", "context", "dev", "dist", "exe", "http", "https"}
    | {"index", "latest", "lib", "local", "localhost", "main", "mcp", "model", "net", "org", "out"}
    | {"modelcontextprotocol", "protocol", "remote", "server", "servers", "src", "sse", "stdio"}
    | {"tool", "tools", "www"}
)
Servers: TypeAlias = Mapping[str, McpSource]

_SCRIPT = re.compile(r".*\.(?:py|[cm]?[jt]s|sh|jar|exe)", re.DOTALL)


class ServerPurposes:
    """What servers are for: their names by each root of it. Safe to share.

    Looked through once for these very servers and entries, not by every search.
    """

    def __init__(self) -> None:
        self._known: tuple[Servers, Mapping[str, Entry], Mapping[str, Sequence[str]]] = {}, {}, {}

    def of(self, servers: Servers, entries: Mapping[str, Entry]) -> Mapping[str, Sequence[str]]:
        """As these servers are configured, and by those of their tools that wait for a review."""
        of_servers, of_entries, known = self._known
        if of_servers is not servers or of_entries is not entries:
            known = _by_root(servers, _unreviewed_tools(entries.values()))
            self._known = servers, entries, known
        return known


def _by_root(
    servers: Servers, unreviewed: Mapping[str, Sequence[str]]
) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for name, source in servers.items():
        for root in purpose(source.config, unreviewed.get(source.id or "", ())):
            found.setdefault(root, []).append(name)
    return found


def _unreviewed_tools(entries: Iterable[Entry]) -> Mapping[str, Sequence[str]]:
    """The own names of the tools that nobody has approved yet, by the ids of their sources."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        if entry.state == "unreviewed":
            found.setdefault(entry.capability.source_id or "", []).append(entry.bare)
    return found


def matching_servers(
    asked: frozenset[str],
    servers: Servers,
    broken: Iterable[str],
    purposes: Mapping[str, Sequence[str]],
) -> Iterator[tuple[Origin, UnavailableServer]]:
    """Those that somebody may ask for by these roots, whoever fits best first; without any, all.

    `purposes` are those of these servers; see `ServerPurposes`.
    """
    found: list[tuple[int, str, Origin, UnavailableServer]] = []
    fits = Counter(name for root in asked for name in purposes.get(root, ()))
    for name in fits if asked else servers:
        fit, source = fits[name], servers[name]
        why = source.status().unavailable
        if why and why.code != LISTING:  # the note of the answer names all of those
            found.append((-fit, name, _origin(source), why))
    for name in broken:
        fit = len(asked & _useful([name]))
        if fit or not asked:
            found.append((-fit, name, Origin("mcp", name, ""), unusable_entry(name)))
    return ((origin, why) for _, _, origin, why in sorted(found, key=lambda each: each[:2]))


def server_of_name(
    name: str, servers: Servers, broken: Iterable[str]
) -> tuple[Origin, UnavailableServer] | None:
    """The server that a name of a tool spells out, if its tools cannot be had."""
    origins = [*map(_origin, servers.values()), *(Origin("mcp", each, "") for each in broken)]
    meant = [each for each in origins if name.startswith((each.stem, *each.spellings().stems))]
    if not meant:
        return None
    origin = max(meant, key=lambda each: len(each.stem))
    by_origin = {_origin(source): source for source in servers.values()}
    source = by_origin.get(origin)
    why = source.status().unavailable if source else unusable_entry(origin.source_id)
    return (origin, why) if why else None


def may_see_server(scope: Scope, origin: Origin) -> bool:
    """Whether a caller may hear of a server: if they may have a tool of it, whichever it is."""
    any_tool = ToolInfo(
        name="any", description="", source="mcp", source_id=origin.source_id, permission_kind="read"
    )
    return not why_barred(Entry(f"{origin.stem}any", "any", any_tool), scope)


def purpose(config: ServerConfig, tools: Iterable[str] = ()) -> frozenset[str]:
    """The roots of the words that say what a server is for, as far as its entry tells."""
    texts = [config.id, config.prefix, config.description, *_of_transport(config)]
    return _useful([*texts, *list(tools)[:MOST_TOOLS]])


def _of_transport(config: ServerConfig) -> Sequence[str]:
    transport = config.transport
    if not isinstance(transport, ServerCommand):
        return [urlsplit(transport.url).hostname or ""]
    if (program := PurePosixPath(transport.command).stem) not in _RUNNERS:
        return [program]
    return [package_of(transport.args)]


def package_of(arguments: Sequence[str]) -> str:
    """What a runner is told to run: a package, an image, a module, or the end of a script's path.

    The first argument that is neither an option, nor a word of the runner's, nor a folder.
    """
    for each in arguments[:MOST_ARGUMENTS]:
        if _SCRIPT.fullmatch(each):
            return " ".join(PurePosixPath(each.replace("\\", "/")).parts[-3:])
        if not each.startswith(("-", "/", "~", ".")) and each not in _RUNNERS:
            return each
    return ""


def _useful(texts: Iterable[str]) -> frozenset[str]:
    return _roots_of(tuple(texts))


@lru_cache(maxsize=1 << 12)
def _roots_of(texts: tuple[str, ...]) -> frozenset[str]:
    every = (word for text in texts for word in words(text[:LONGEST_WORDS]))
    told = (word for word in every if len(word) >= SHORTEST or not word.isascii())
    return frozenset(stems(word for word in told if word not in _GENERIC and not word.isdigit()))


def query_stems(query: str, glossary: Glossary) -> frozenset[str]:
    """The roots of what is asked, and of what it means in English."""
    text = query[: 10 * LONGEST_WORDS]
    own = detect_language(text)
    meant = glossary.lexicon(own, "en").glosses(text) if own != "en" else ()
    return _useful(
        [" ".join(without_stopwords(words(text))), *(each for some in meant for each in some)]
    )


def _origin(source: McpSource) -> Origin:
    return Origin("mcp", source.id or source.server, "")
