"""What a model sees that writes programs: a search that gives typed functions, and a run."""

import re
from collections import Counter
from collections.abc import Iterator

from toolcrib import Crib
from toolcrib.adapters.wire.outcome_text import outcome_text
from toolcrib.model import ToolInfo
from toolcrib.program import ProgramOutcome
from toolcrib.session import SearchResult, define_search_tool
from toolcrib.text import most_tokens

RUN = "tool_run"
BUDGET = 1_500

CODE_TOOLS = (
    define_search_tool(
        f", as typed Python functions for `{RUN}`. Search before you say that something cannot be"
        " done.",
        "A skill or an agent is not called: `read` gives its text.",
        queries="What you need, in any language. None shows what there is.",
        read={
            "type": "string",
            "description": "A skill or agent by name; `name/path` is a file of a skill.",
        },
    ),
    ToolInfo(
        name=RUN,
        description=(
            "Run a short Python program that calls tools by the signatures that a search gave:"
            ' `await github.create_issue(title="x")`, arguments by name. Do several calls in one'
            " program, with loops and conditions; `asyncio.gather` makes them side by side. What it"
            " prints and its last expression come back, nothing else: filter results in the"
            " program. There is no `return`, no file and no network. A failed call raises"
            " RuntimeError. The program is type-checked first: if it does not fit, nothing is"
            " called, and the error has the lines and the right signatures. If a person has to"
            " approve a call, the program waits, and the answer has a `handle`: give that instead"
            " of a program to go on."
        ),
        parameters={
            "type": "object",
            "properties": {
                "program": {"type": "string", "description": "Python, without a fence."},
                "handle": {"type": "string", "description": "Of a program that waits."},
            },
            "additionalProperties": False,
        },
    ),
)
CODE_NOTE = (
    "This server stands for many tools. 1. `tool_search` with what you need: it gives typed Python"
    f" functions. 2. `{RUN}` runs a short program that calls them: do several calls in one, and"
    " return only what you need. Do not guess names or arguments."
)
_LINE = re.compile(r"^async def .*(?=:$)", re.MULTILINE)


def stub_text(found: SearchResult, crib: Crib) -> str:
    """What was found, as typed functions; what does not fit the budget whole, by its signature."""
    shown: list[str] = []
    for text in _stubs(found, crib):
        line = _LINE.search(text)
        for each in (text, f"{line[0]}: ..." if line else text):
            if most_tokens("\n".join([*shown, each])) <= BUDGET:
                shown.append(each)
                break
    return "\n".join(shown)


def _stubs(found: SearchResult, crib: Crib) -> Iterator[str]:
    listed: set[str] = set()
    for answer in found.answers:
        yield f"{answer.query!r}:"
        for hit in answer:
            if hit.name not in listed:
                kind = "" if hit.permission_kind == "read" else f"# [{hit.permission_kind}]\n"
                yield f"{kind}{crib.signature(hit.name)}"
        listed |= {hit.name for hit in answer}


def run_text(outcome: ProgramOutcome) -> str:
    """What a program gave back, and what became of its calls."""
    counts = Counter((call.tool, call.effect) for call in outcome.calls)
    calls = [f"{tool} {effect} x{count}" for (tool, effect), count in counts.items()]
    return f"{outcome_text(outcome)}\n[calls: {', '.join(calls)}]"
