"""What servers are for, by their words: stems of a name, a description, a package, an address.

A question is compared with them, to find servers whose tools cannot be searched.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TypeAlias
from urllib.parse import urlsplit

from toolcrib.model import Entry, EntryGroups, EntryTraits
from toolcrib.sources.mcp import McpSource, ServerCommand, ServerConfig
from toolcrib.text import Glossary, detect_language, stems, without_stopwords, words

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
_SCRIPT = re.compile(r".*\.(?:py|[cm]?[jt]s|sh|jar|exe)", re.DOTALL)


Servers: TypeAlias = Mapping[str, McpSource]
ServersByStem: TypeAlias = Mapping[str, Sequence[str]]
Unreviewed: TypeAlias = Mapping[EntryTraits, Collection[str]]


class ServerPurposes:
    """The names of servers by each stem of their purpose. Safe to share.

    Worked out once for these very servers and unreviewed tools, not by every search.
    """

    def __init__(self) -> None:
        self._last: tuple[Servers, Unreviewed, ServersByStem] = {}, {}, {}
        self._groups: EntryGroups | None = None

    def by_stem(self, servers: Servers, groups: EntryGroups) -> ServersByStem:
        """By the configuration of these servers, and by their tools that wait for a review."""
        last_servers, last_waiting, found = self._last
        if last_servers is servers and self._groups is groups:
            return found
        waiting = {each: groups[each] for each in groups if each.state == "unreviewed"}
        if last_servers is not servers or last_waiting != waiting:
            found = _by_stem(servers, _unreviewed_tools(waiting, groups.entries))
            self._last = servers, waiting, found
        self._groups = groups
        return found


def _by_stem(servers: Servers, unreviewed: Mapping[str, Sequence[str]]) -> ServersByStem:
    found: dict[str, list[str]] = {}
    for name, source in servers.items():
        for stem in purpose(source.config, unreviewed.get(source.id or "", ())):
            found.setdefault(stem, []).append(name)
    return found


def _unreviewed_tools(
    waiting: Unreviewed, entries: Mapping[str, Entry]
) -> Mapping[str, Sequence[str]]:
    """The own names of the tools that nobody has approved yet, by the ids of their sources."""
    found: dict[str, list[str]] = {}
    for traits, names in waiting.items():
        found.setdefault(traits.source_id or "", []).extend(sorted(names))
    return {id: [entries[name].bare for name in names] for id, names in found.items()}


def purpose(config: ServerConfig, tools: Iterable[str] = ()) -> frozenset[str]:
    """The stems of the words that say what a server is for, as far as its entry tells."""
    texts = [config.id, config.prefix, config.description, *_of_transport(config)]
    return word_stems([*texts, *list(tools)[:MOST_TOOLS]])


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


def word_stems(texts: Iterable[str]) -> frozenset[str]:
    """The stems of all words that may tell one server from another."""
    return _cached_stems(tuple(texts))


@lru_cache(maxsize=1 << 12)
def _cached_stems(texts: tuple[str, ...]) -> frozenset[str]:
    every = (word for text in texts for word in words(text[:LONGEST_WORDS]))
    long = (word for word in every if len(word) >= SHORTEST or not word.isascii())
    return frozenset(stems(word for word in long if word not in _GENERIC and not word.isdigit()))


def query_stems(query: str, glossary: Glossary) -> frozenset[str]:
    """The stems of a query, and of what it means in English."""
    text = query[: 10 * LONGEST_WORDS]
    own = detect_language(text)
    glosses = glossary.lexicon(own, "en").glosses(text) if own != "en" else ()
    return word_stems(
        [" ".join(without_stopwords(words(text))), *(each for some in glosses for each in some)]
    )
