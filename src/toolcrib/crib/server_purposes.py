"""What servers are for, by their words: stems of a name, a description, a package, an address.

A question is compared with them, to find servers whose tools cannot be searched.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from toolcrib.model import Entry, EntryGroups, EntryTraits
from toolcrib.pool import EntryTable
from toolcrib.sources import mcp
from toolcrib.text import Glossary, detect_language, stems, without_stopwords, words

if TYPE_CHECKING:
    from toolcrib.sources.mcp import McpSource, ServerConfig

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


Servers: TypeAlias = "Mapping[str, McpSource]"
ServersByStem: TypeAlias = Mapping[str, Sequence[str]]
Unreviewed: TypeAlias = Mapping[EntryTraits, Collection[str]]


class ServerPurposes:
    """The names of servers by each stem of their purpose. Safe to share.

    A purpose is worked out once for a configuration and the unreviewed tools of a server, not by
    every search; and a change works out those of the servers that it is about.
    """

    def __init__(self) -> None:
        self._last = KnownPurposes()

    def by_stem(self, servers: Servers, groups: EntryGroups) -> ServersByStem:
        """By the configuration of these servers, and by their tools that wait for a review."""
        last = self._last
        if last.servers is not servers or last.groups is not groups:
            self._last = last = last.updated(servers, groups)
        return last.by_stem


@dataclass(frozen=True, slots=True)
class KnownPurposes:
    """The purposes of `servers`, as they were configured and as their tools waited in `groups`."""

    servers: Servers = field(default_factory=dict)
    groups: EntryGroups | None = None
    waiting: Unreviewed = field(default_factory=dict[EntryTraits, Collection[str]])
    purposes: Mapping[str, tuple[ServerConfig, frozenset[str]]] = field(default_factory=dict)
    by_stem: ServersByStem = field(default_factory=dict[str, Sequence[str]])

    def updated(self, servers: Servers, groups: EntryGroups) -> KnownPurposes:
        """Those of these servers and groups."""
        waiting = self._waiting_in(groups)
        stale = set(self._stale(servers, waiting))
        if not stale:
            return replace(self, servers=servers, groups=groups, waiting=waiting)
        tools = _unreviewed_tools(waiting, groups.entries)
        purposes, by_stem = dict(self.purposes), dict(self.by_stem)
        for name in stale:
            _, old = purposes.pop(name, (None, frozenset[str]()))
            for stem in old:
                by_stem[stem] = [each for each in by_stem[stem] if each != name]
            if source := servers.get(name):
                new = purpose(source.config, tools.get(source.id or "", ()))
                purposes[name] = source.config, new
                for stem in new:
                    by_stem[stem] = [*by_stem.get(stem, ()), name]
        return KnownPurposes(servers, groups, waiting, purposes, by_stem)

    def _waiting_in(self, groups: EntryGroups) -> Unreviewed:
        """The names of what waits for a review, by traits. What did not change is not looked at."""
        before, entries = self.groups, groups.entries
        names = None
        if before and isinstance(entries, EntryTable):
            names = entries.changed_since(before.entries)
        if before is None or names is None:
            return {each: groups[each] for each in groups if each.state == "unreviewed"}
        touched = [each for each in before.touched(groups, names) if each.state == "unreviewed"]
        now = {**self.waiting, **{each: groups.get(each, ()) for each in touched}}
        return {traits: names for traits, names in now.items() if names} if touched else now

    def _stale(self, servers: Servers, waiting: Unreviewed) -> Iterator[str]:
        """The servers that came, went, are configured otherwise, or of which others wait."""
        if servers is not self.servers:
            yield from self.purposes.keys() - servers
            known = self.purposes
            for name, source in servers.items():
                if name not in known or known[name][0] is not source.config:
                    yield name
        differ = (t for t in {**self.waiting, **waiting} if self.waiting.get(t) != waiting.get(t))
        if ids := {traits.source_id for traits in differ}:
            yield from (name for name, source in servers.items() if source.id in ids)


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
    if not isinstance(transport, mcp.ServerCommand):
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
