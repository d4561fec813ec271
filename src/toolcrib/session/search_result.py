"""What a search gave a session, and the text of it that a model reads.

The text is read back too: an adapter that keeps no state of its own finds in the messages of a
conversation which tools were made callable.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass

from toolcrib.model import Answer, Confidence, Hit, JsonObject, ToolInfo
from toolcrib.session.capability_text import signature
from toolcrib.session.deferred_summary import listing
from toolcrib.text import most_tokens

CALLABLE_NOW = "You can call these now:"
ALSO = "Also found:"
CALLABLE_STATES = frozenset({"ready", "asleep"})
"""The states in which a tool can be called: one that is asleep wakes by itself."""
SCHEMAS = "Parameters in full:"
SURE = "Sure that one of these fits."
LIKELY = "One of these probably fits."
UNSURE = "Not sure that any of these fits: check what it does before you call it."
OFTEN_WITH = "Often used with "
READ = "`read: {name}` gives its text"
MORE = "(more than fits here; ask for less at a time)"
LONGEST_DESCRIPTION = 160
LISTING_TOKENS = 400
"""For the names of what there is, where nothing was found or asked for."""

_SIGNATURE = re.compile(r"^- ([A-Za-z0-9_-]+)\(", re.MULTILINE)
_HOW_SURE: Mapping[Confidence, str] = {
    "high": SURE,
    "medium": LIKELY,
    "low": UNSURE,
    "none": UNSURE,
}


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search gave: one answer a query, and what it did to the session.

    `revealed` are the names that are new in the session, best first. `tools` are all hits that the
    session has now, whether new or not.
    """

    answers: tuple[Answer, ...]
    revealed: tuple[str, ...]
    tools: tuple[ToolInfo, ...]

    def text(self, budget: int = 1_500, read: str = READ) -> str:
        """What a model reads, within a budget of tokens. `read` says how a skill is read.

        First how sure it is and what can be called now, then a line for each hit with signature,
        state and remedy, the way on where nothing was found, and last the full schemas of the
        best, as many as fit.
        """
        kept: list[str] = []
        for line in self._lines(read):
            if most_tokens("\n".join([*kept, line, MORE])) > budget:
                return "\n".join([*kept, MORE])
            kept.append(line)
        return "\n".join(kept + self._schemas(kept, budget))

    def unavailable(self) -> list[JsonObject]:
        """The servers that the queries may be about and whose tools cannot be had, each once."""
        every = (each for answer in self.answers for each in answer.unavailable)
        return [asdict(each) for each in dict.fromkeys(every)]

    def _lines(self, read: str) -> Iterator[str]:
        states = {hit.name: hit.state for answer in self.answers for hit in answer}
        usable = (tool for tool in self.tools if states.get(tool.name, "ready") in CALLABLE_STATES)
        by_name = {tool.name: tool for tool in usable}
        loaded = [CALLABLE_NOW] if by_name else []
        if len(self.answers) == 1:
            [only] = self.answers
            yield from [*_how_sure(only), *loaded, *_told(only, by_name, read)]
            return
        yield from loaded
        said: set[str] = set()
        for answer in self.answers:
            yield _asked(answer)
            yield from [*_how_sure(answer), *_told(answer, by_name, read, said)]
            said |= {hit.name for hit in answer}

    def _schemas(self, kept: list[str], budget: int) -> list[str]:
        """The schemas of the best hits; the first that does not fit ends them."""
        best = {hit.name for answer in self.answers for hit in answer if hit.schema}
        shown: list[str] = []
        for tool in self.tools:
            if tool.name in best:
                line = f"{tool.name}: {_compact(tool.parameters)}"
                shown = [*(shown or [SCHEMAS]), line]
                if most_tokens("\n".join([*kept, *shown])) > budget:
                    return shown[:-1] if len(shown) > 2 else []  # noqa: PLR2004 - header and one
        return shown


def revealed_in(text: str) -> tuple[str, ...]:
    """The names that a result of the search tool made callable, read back from its text.

    For adapters that derive a session from the messages of a conversation; see `Session.see`.
    """
    first, _, rest = text.partition("\n")
    listed = rest if first in _HOW_SURE.values() else text
    return (
        tuple(dict.fromkeys(_SIGNATURE.findall(listed))) if listed.startswith(CALLABLE_NOW) else ()
    )


def remarks_in(text: str, *, hints: bool = True) -> str:
    """What a result of the search tool says besides the tools that it made callable.

    For wires on which those are no text: what was not loaded, what there is not, and how sure it
    is where it is not quite. Without `hints` only what a model must not miss. "" if nothing.
    """
    before, _, _ = text.partition(f"\n{SCHEMAS}\n")
    kept: list[str] = []
    for line in before.splitlines():
        if line in {CALLABLE_NOW, ALSO, SURE} or _SIGNATURE.match(line):
            continue
        if not hints and (line == LIKELY or line.startswith(OFTEN_WITH)):
            continue
        if _is_query(line) and kept and _is_query(kept[-1]):
            kept.pop()
        kept.append(line)
    return "\n".join(kept[:-1] if kept and _is_query(kept[-1]) else kept)


def _asked(answer: Answer) -> str:
    return f"{_one_line(answer.query)!r}:"


def _is_query(line: str) -> bool:
    """Whether the line names the query that the next ones are about; see `_asked`."""
    return line[:1] in {"'", '"'} and line.endswith(":")


def _how_sure(answer: Answer) -> list[str]:
    """How sure it is that a hit fits; whatever was named fits without a word."""
    return [_HOW_SURE[answer.confidence]] if answer.hits and answer.chance < 1 else []


def _told(
    answer: Answer, tools: Mapping[str, ToolInfo], read: str, said: Collection[str] = ()
) -> Iterator[str]:
    new = [hit for hit in answer if hit.name not in said]
    callable_now = [hit for hit in new if hit.name in tools]
    others = [hit for hit in new if hit.name not in tools]
    yield from (_hit(hit, tools[hit.name], read) for hit in callable_now)
    yield from [ALSO] if tools and others else []
    yield from (_hit(hit, None, read) for hit in others)
    if not new and len(answer.hits) == 1:
        yield f"- {answer[0].name}, as above"
    yield from _often_with(answer)
    for name, near in answer.missing.items():
        yield f"- no {_one_line(name)!r}; nearest: {', '.join(near) or 'none'}"
    if answer.nearest:
        yield f"Nearest names: {', '.join(answer.nearest)}"
    if answer.names:
        yield listing(answer.names, LISTING_TOKENS, "What there is:")
    elif answer.namespaces:
        sizes = (f"{name} ({size})" for name, size in answer.namespaces.items())
        yield f"What there is: {', '.join(sizes)}"
    if answer.note:
        yield answer.note
    yield from map(str, answer.unavailable)


def _often_with(answer: Answer) -> Iterator[str]:
    """What the hits are used with and a search has not found by itself, each once."""
    said = {hit.name for hit in answer}
    for hit in answer:
        if new := [name for name in hit.often_with if name not in said]:
            said.update(new)
            yield f"{OFTEN_WITH}{hit.name}: {', '.join(new)}"


def _hit(hit: Hit, tool: ToolInfo | None, read: str) -> str:
    shown = signature(hit.name, tool.parameters) if tool else hit.name
    kind = hit.kind if hit.kind != "tool" else ""
    facts = [kind, hit.permission_kind, _standing(hit, tool, read)]
    return f"- {shown} [{', '.join(filter(None, facts))}] {_one_line(hit.description)}".rstrip()


def _standing(hit: Hit, tool: ToolInfo | None, read: str) -> str:
    """What stands between a hit and a use of it."""
    if hit.state not in CALLABLE_STATES:
        return f"{hit.state}: {hit.remedy}"
    if hit.kind != "tool":
        return read.format(name=hit.name)
    return "" if tool else f"not loaded: `select:{hit.name}` loads it"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_DESCRIPTION else line[: LONGEST_DESCRIPTION - 1] + "…"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
