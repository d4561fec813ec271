"""What a search gave a session, and the text of it that a model reads."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from toolcrib.model import Answer, Hit, ToolInfo
from toolcrib.session.signature import signature
from toolcrib.text.tokens import most_tokens

LOADED = "You can call these now:"
SCHEMAS = "Parameters in full:"
MORE = "(more than fits here; ask for less at a time)"
LONGEST_DESCRIPTION = 160

_SIGNATURE = re.compile(r"^- ([A-Za-z0-9_-]+)\(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Found:
    """What a search gave: one answer a query, and what it did to the session.

    `revealed` are the names that are new in the session, best first. `tools` are all hits that the
    session has now, whether new or not.
    """

    answers: tuple[Answer, ...]
    revealed: tuple[str, ...]
    tools: tuple[ToolInfo, ...]

    def text(self, budget: int = 1_500) -> str:
        """What a model reads, within a budget of tokens.

        First what it can call now, then a line for each hit with signature, state and remedy, the
        way on where nothing was found, and last the full schemas of the best, as many as fit.
        """
        kept: list[str] = []
        for line in self._lines():
            if most_tokens("\n".join([*kept, line, MORE])) > budget:
                return "\n".join([*kept, MORE])
            kept.append(line)
        return "\n".join(kept + self._schemas(kept, budget))

    def _lines(self) -> Iterator[str]:
        if self.tools:
            yield LOADED
        by_name = {tool.name: tool for tool in self.tools}
        said: set[str] = set()
        for answer in self.answers:
            if len(self.answers) > 1:
                yield f"{_one_line(answer.query)!r}:"
            yield from _told(answer, by_name, said)

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
    return tuple(dict.fromkeys(_SIGNATURE.findall(text))) if text.startswith(LOADED) else ()


def _told(answer: Answer, tools: Mapping[str, ToolInfo], said: set[str]) -> Iterator[str]:
    for hit in answer:
        if hit.name not in said:
            yield _hit(hit, tools.get(hit.name))
        elif len(answer.hits) == 1:
            yield f"- {hit.name}, as above"
        said.add(hit.name)
    for name, near in answer.missing.items():
        yield f"- no {_one_line(name)!r}; nearest: {', '.join(near) or 'none'}"
    if answer.nearest:
        yield f"Nearest names: {', '.join(answer.nearest)}"
    if answer.namespaces:
        sizes = (f"{name} ({size})" for name, size in answer.namespaces.items())
        yield f"There is: {', '.join(sizes)}"
    if answer.note:
        yield answer.note


def _hit(hit: Hit, tool: ToolInfo | None) -> str:
    shown = signature(hit.name, tool.parameters) if tool else hit.name
    facts = [hit.kind if hit.kind != "tool" else "", hit.permission_kind, _standing(hit, tool)]
    return f"- {shown} [{', '.join(filter(None, facts))}] {_one_line(hit.description)}".rstrip()


def _standing(hit: Hit, tool: ToolInfo | None) -> str:
    """What stands between a hit and a call of it. One that is asleep wakes by itself."""
    if hit.state not in {"ready", "asleep"}:
        return f"{hit.state}: {hit.remedy}"
    return f"not loaded: `select:{hit.name}` loads it" if hit.kind == "tool" and not tool else ""


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_DESCRIPTION else line[: LONGEST_DESCRIPTION - 1] + "…"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
