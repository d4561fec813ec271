"""Which tools the words of a program may mean, as its caller.

    program → its words → groups and functions of these names → tools of this caller

Nothing of a program is read as code here, since it may be made to break whoever reads it. A program
that never writes a name cannot call the tool: so the words of its text are all that it may call,
and maybe a few more.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from toolcrib.access import why_barred
from toolcrib.execute import Caller, CallRefused, check_state
from toolcrib.model import Entry, EntryGroups, EntryTraits, ToolInfo
from toolcrib.program.identifiers import FUNCTIONS, distinct, group_name, identifiers
from toolcrib.program.signatures import ToolSignature

_WORD = re.compile(r"[^\W\d]\w*")

Source = tuple[str, str]
"""The kind and the id of where tools come from; without an id it is `FUNCTIONS`."""


@dataclass(frozen=True)
class ToolTable:
    """The tools of a pool at one moment, by their names in programs."""

    groups: EntryGroups
    caller: Caller

    def signature_of(self, name: str) -> ToolSignature | None:
        """The function that the tool of this name is; None if the caller may not have it."""
        entry = self.groups.entries.get(name)
        tool = entry.capability if entry and self._may_have(entry) else None
        if entry is None or not isinstance(tool, ToolInfo):
            return None
        source = _source(EntryTraits.of(entry))
        return ToolSignature(self._group_names[source], self._functions(source)[name], tool)

    def mentioned(self, program: str) -> "Mentioned":
        """What the words of a program may mean."""
        words = frozenset(_WORD.findall(program))
        found: list[ToolSignature] = []
        refused: dict[str, str] = {}
        groups = self._groups_among(words)
        for group, function, entry in self._functions_in(groups):
            if function not in words:
                continue
            try:
                found.append(ToolSignature(group, function, check_state(entry, "")))
            except CallRefused as refusal:
                refused[f"{group}.{function}"] = refusal.error.message
        return Mentioned(tuple(groups), tuple(sorted(found, key=_path)), refused)

    def functions_of(self, group: str) -> Sequence[str]:
        """The functions of a group that this caller may have; none for an unknown group."""
        return [function for _, function, _ in self._functions_in([group])]

    def group_names(self) -> Sequence[str]:
        """The groups in which there is anything for this caller."""
        return self._groups_among(self._group_names.values())

    def paths_of(self, function: str) -> Sequence[str]:
        """Where there is a function of this name: `github.create_issue`."""
        groups = self.group_names()
        return [f"{each}.{function}" for each in groups if function in self.functions_of(each)]

    def _may_have(self, entry: Entry) -> bool:
        return self.caller.may_call and not why_barred(entry, self.caller.scope)

    @cached_property
    def _sources(self) -> Mapping[Source, Collection[str]]:
        """The names of all tools by their source, whoever may have them."""
        found: dict[Source, list[str]] = {}
        for traits, names in self.groups.items():
            if traits.kind == "tool":
                found.setdefault(_source(traits), []).extend(names)
        return found

    @cached_property
    def _group_names(self) -> Mapping[Source, str]:
        ids = Counter(id for _, id in self._sources)
        named: dict[Source, tuple[str, str]] = {}
        for kind, id in self._sources:
            # A server and an app may share an id: the kind tells them apart, as in other names.
            stem = f"{kind}_" if ids[id] > 1 else ""
            named[kind, id] = stem + id, stem + (group_name(id) if id else FUNCTIONS)
        return distinct(named)

    def _groups_among(self, words: Collection[str]) -> Sequence[str]:
        named = [source for source, group in self._group_names.items() if group in words]
        has_any = [each for each in named if any(map(self._may_have, self._entries(each)))]
        return [self._group_names[source] for source in has_any]

    def _functions_in(self, groups: Collection[str]) -> Iterator[tuple[str, str, Entry]]:
        """The functions of groups for this caller: group, function, entry."""
        named = [source for source, group in self._group_names.items() if group in groups]
        for source in named:
            group = self._group_names[source]
            for name, function in self._functions(source).items():
                entry = self.groups.entries[name]
                if self._may_have(entry):
                    yield group, function, entry

    def _functions(self, source: Source) -> Mapping[str, str]:
        """The functions of a source, by the names of their tools in the pool."""
        bare = {entry.name: entry.bare for entry in self._entries(source)}
        functions = identifiers(bare.values())
        return {name: functions[own] for name, own in bare.items()}

    def _entries(self, source: Source) -> Iterator[Entry]:
        return (self.groups.entries[name] for name in self._sources[source])


class Mentioned(NamedTuple):
    """The groups and tools that a program may mean; and why it cannot call the others, by path."""

    groups: tuple[str, ...]
    tools: tuple[ToolSignature, ...]
    refused: Mapping[str, str]


def _source(traits: EntryTraits) -> Source:
    is_remote = traits.source in ("mcp", "sdk")
    return (traits.source, traits.source_id or "") if is_remote else ("", "")


def _path(signature: ToolSignature) -> str:
    return signature.path
