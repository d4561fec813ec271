"""What a search gave a session, and the text of it that a model reads.

The text is read back too: an adapter that keeps no state of its own finds in the messages of a
conversation which tools were made callable.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

from toolcrib.model import (
    ASKS,
    CALLABLE_STATES,
    Answer,
    Confidence,
    Hit,
    JsonObject,
    Outcome,
    ToolInfo,
)
from toolcrib.session.deferred_summary import listing
from toolcrib.session.reveals import round_robin
from toolcrib.text import most_tokens

CALLABLE_NOW = "You can call these now:"
ALSO = "Also found:"
SCHEMAS = "Parameters in full:"
SURE = "Sure that one of these fits."
LIKELY = "One of these probably fits."
UNSURE = "Weak matches; probably none fits."
OFTEN_WITH = "Often used with "
READ = "`read: {name}` gives its text"
MORE = "(more than fits here; ask for less at a time)"
LONGEST_DESCRIPTION = 160
MOST_PARAMETERS = 12
MOST_CHOICES = 6
LONGEST_CHOICES = 80
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

    @classmethod
    def of(
        cls,
        answers: tuple[Answer, ...],
        tool_named: Callable[[str], ToolInfo | None],
        revealed: tuple[str, ...] | None = None,
    ) -> "SearchResult":
        """The result with the tools of its hits, best first; None where one is not there.

        Without `revealed`, all of them are new.
        """
        tools = tuple(filter(None, (tool_named(hit.name) for hit in round_robin(answers))))
        new = tuple(tool.name for tool in tools) if revealed is None else revealed
        return cls(answers, new, tools)

    @property
    def hits(self) -> list[Hit]:
        """All hits of queries that probably have an answer, each once, the best of each first."""
        return round_robin(self.answers)

    def text(self, budget: int = 1_500, read: str = READ) -> str:
        """What a model reads, within a budget of tokens. `read` says how a skill is read.

        First how sure it is and what can be called now, then a line for each hit with signature,
        state and remedy, the way on where nothing was found, and last the full schemas of the
        best, as many as fit.
        """
        lines: list[str] = []
        for line in self._lines(read):
            if most_tokens("\n".join([*lines, line, MORE])) > budget:
                return "\n".join([*lines, MORE])
            lines.append(line)
        return "\n".join(lines + self._schemas(lines, budget))

    def outcome(self, budget: int) -> Outcome:
        """What the search tool of a session answers: the text, and the names for programs."""
        missing = self.unavailable()
        return Outcome(
            content=self.text(budget),
            structured={
                "tools": [tool.name for tool in self.tools],
                "revealed": list(self.revealed),
                **({"unavailable": missing} if missing else {}),
            },
        )

    def unavailable(self) -> list[JsonObject]:
        """The servers that the queries may be about and whose tools cannot be had, each once."""
        every = (each for answer in self.answers for each in answer.unavailable)
        return [asdict(each) for each in dict.fromkeys(every)]

    def _lines(self, read: str) -> Iterator[str]:
        states = {hit.name: hit.state for answer in self.answers for hit in answer}
        usable = (tool for tool in self.tools if states.get(tool.name, "ready") in CALLABLE_STATES)
        by_name = {tool.name: tool for tool in usable}
        header = [CALLABLE_NOW] if by_name else []
        if len(self.answers) == 1:
            [only] = self.answers
            yield from [*how_sure(only), *header, *_answer_lines(only, by_name, read, set())]
            return
        yield from header
        listed, said = set[str](), set[str]()
        for answer in self.answers:
            yield query_line(answer)
            yield from [*how_sure(answer), *_answer_lines(answer, by_name, read, said, listed)]
            listed |= {hit.name for hit in answer}

    def _schemas(self, before: list[str], budget: int) -> list[str]:
        """The schemas of the best hits; the first that does not fit ends them."""
        best = {hit.name for answer in self.answers for hit in answer if hit.schema}
        lines: list[str] = []
        for tool in self.tools:
            if tool.name in best:
                lines = [*(lines or [SCHEMAS]), _schema(tool)]
                if most_tokens("\n".join([*before, *lines])) > budget:
                    return lines[:-1] if len(lines) > 2 else []  # noqa: PLR2004 - header and one
        return lines


def callable_text(tools: Iterable[ToolInfo]) -> str:
    """That these can be called now, each with its signature and parameters; "" for none.

    For models that are shown no definitions, in the words of a search.
    """
    listed = list(tools)
    lines = [
        f"- {signature(tool.name, tool.parameters)} [{tool.permission_kind}]"
        f" {_one_line(tool.description)}".rstrip()
        for tool in listed
    ]
    return "\n".join([CALLABLE_NOW, *lines, SCHEMAS, *map(_schema, listed)]) if listed else ""


def revealed_in(text: str) -> tuple[str, ...]:
    """The names that a result of the search tool made callable, read back from its text.

    For adapters that derive a session from the messages of a conversation; see `Session.see`.
    """
    first, _, rest = text.partition("\n")
    hits = rest if first in _HOW_SURE.values() else text
    if not hits.startswith(CALLABLE_NOW):
        return ()
    return tuple(dict.fromkeys(_SIGNATURE.findall(hits)))


def remarks_in(text: str, *, hints: bool = True) -> str:
    """What a result of the search tool says besides the tools that it made callable.

    For wires on which those are not text: what was not loaded, what does not exist, and how sure
    the search is. Without `hints` only what a model must not miss. "" if nothing.
    """
    before, _, _ = text.partition(f"\n{SCHEMAS}\n")
    remarks: list[str] = []
    for line in before.splitlines():
        if line in {CALLABLE_NOW, ALSO, SURE} or _SIGNATURE.match(line):
            continue
        if not hints and (line == LIKELY or line.startswith(OFTEN_WITH)):
            continue
        if _is_query(line) and remarks and _is_query(remarks[-1]):
            remarks.pop()
        remarks.append(line)
    return "\n".join(remarks[:-1] if remarks and _is_query(remarks[-1]) else remarks)


def _schema(tool: ToolInfo) -> str:
    schema = json.dumps(tool.parameters, ensure_ascii=False, separators=(",", ":"))
    return f"{tool.name}: {schema}"


def query_line(answer: Answer) -> str:
    """The line before the hits of one query among several."""
    return f"{_one_line(answer.query)!r}:"


def _is_query(line: str) -> bool:
    """Whether the line names the query that the next ones are about; see `query_line`."""
    return line[:1] in {"'", '"'} and line.endswith(":")


def how_sure(answer: Answer) -> list[str]:
    """How sure it is that a hit fits; of what was found by name, nothing is said."""
    return [_HOW_SURE[answer.confidence]] if answer.hits and answer.chance < 1 else []


def _answer_lines(
    answer: Answer,
    tools: Mapping[str, ToolInfo],
    read: str,
    said: set[str],
    listed: Collection[str] = (),
) -> Iterator[str]:
    """One answer: its hits that are not `listed` yet, hints, and the way on: see `way_on`."""
    new = [hit for hit in answer if hit.name not in listed]
    callable_now = [hit for hit in new if hit.name in tools]
    others = [hit for hit in new if hit.name not in tools]
    yield from (hit_line(hit, tools[hit.name], read) for hit in callable_now)
    yield from [ALSO] if tools and others else []
    yield from (hit_line(hit, None, read) for hit in others)
    if not new and len(answer.hits) == 1:
        yield f"- {answer[0].name}, as above"
    yield from _often_with(answer)
    yield from way_on(answer, said)


def way_on(answer: Answer, said: set[str]) -> Sequence[str]:
    """What to do about what was not found: what is not `said` yet for another query, and now is."""
    lines = [line for line in _way_on(answer) if line not in said]
    said.update(lines)
    return lines


def _way_on(answer: Answer) -> Iterator[str]:
    for name, near in answer.missing.items():
        yield f"- no {_one_line(name)!r}; nearest: {', '.join(near) or 'none'}"
    if answer.names:
        counts = {name: len(some) for name, some in answer.names.items()}
        yield listing(counts, answer.names.__getitem__, LISTING_TOKENS, "What there is:")
    elif answer.namespaces:
        sizes = (f"{name} ({size})" for name, size in answer.namespaces.items())
        yield f"What there is: {', '.join(sizes)}"
    yield from answer.note.splitlines()
    yield from map(str, answer.unavailable)


def _often_with(answer: Answer) -> Iterator[str]:
    """What the hits are used with and the search has not found by itself, each once."""
    named = {hit.name for hit in answer}
    for hit in answer:
        if new := [name for name in hit.often_with if name not in named]:
            named.update(new)
            yield f"{OFTEN_WITH}{hit.name}: {', '.join(new)}"


def hit_line(hit: Hit, tool: ToolInfo | None, read: str) -> str:
    """One hit: its signature if there is a tool, what it is, what stands in its way."""
    head = signature(hit.name, tool.parameters) if tool else hit.name
    kind = hit.kind if hit.kind != "tool" else ""
    facts = [kind, hit.permission_kind, ASKS if hit.asks else "", _obstacle(hit, tool, read)]
    return f"- {head} [{', '.join(filter(None, facts))}] {_one_line(hit.description)}".rstrip()


def _obstacle(hit: Hit, tool: ToolInfo | None, read: str) -> str:
    """What has to be done before a hit can be used; "" if nothing."""
    if hit.state not in CALLABLE_STATES:
        return f"{hit.state}: {hit.remedy}"
    if hit.kind != "tool":
        return read.format(name=hit.name)
    return "" if tool else f"not loaded: `select:{hit.name}` loads it"


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_DESCRIPTION else line[: LONGEST_DESCRIPTION - 1] + "…"


def signature(name: str, schema: JsonObject) -> str:
    """`name(path: string, depth?: integer)`; what may be left out has a question mark."""
    properties = _object(schema.get("properties"))
    needed = schema.get("required")
    required = cast("list[object]", needed) if isinstance(needed, list) else []
    parameters = [
        f"{key}{'' if key in required else '?'}: {_type(_object(value))}"
        for key, value in sorted(properties.items(), key=lambda pair: pair[0] not in required)
    ]
    more = ["…"] if len(parameters) > MOST_PARAMETERS else []
    return f"{name}({', '.join(parameters[:MOST_PARAMETERS] + more)})"


def _type(schema: JsonObject) -> str:
    match schema:
        case {"enum": [*choices]}:
            return _choices(choices)
        case {"type": "array", "items": {**items}}:
            return f"{_type(items)}[]"
        case {"type": str(name)}:
            return name
        case {"type": [*names]}:
            return "|".join(str(name) for name in names)
        case {"anyOf": [*schemas]} | {"oneOf": [*schemas]}:
            return "|".join(dict.fromkeys(_type(_object(each)) for each in schemas))
        case _:
            return "any"


def _choices(choices: Sequence[object]) -> str:
    text = "|".join(repr(each) for each in choices[:MOST_CHOICES])
    if len(text) > LONGEST_CHOICES:
        return "choice"
    return text + ("|…" if len(choices) > MOST_CHOICES else "")


def _object(value: object) -> JsonObject:
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}
