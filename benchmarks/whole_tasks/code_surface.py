"""What a model sees in code mode: a search that gives typed functions, and a run."""

from collections import Counter

from toolcrib import Crib
from toolcrib.adapters.wire.outcome_text import outcome_text
from toolcrib.crib import signatures_in
from toolcrib.execute import Caller
from toolcrib.program import ProgramOutcome
from toolcrib.session import CODE_SEARCH_TOOL, RUN_TOOL, SearchResult, stub_text

CODE_TOOLS = (CODE_SEARCH_TOOL, RUN_TOOL)
RUN = RUN_TOOL.name
CODE_NOTE = (
    f"This server stands for many tools. 1. `{CODE_SEARCH_TOOL.name}` with what you need: it gives"
    f" typed Python functions. 2. `{RUN}` runs a short program that calls them: do several calls in"
    " one, and return only what you need. Do not guess names or arguments."
)
"""The flow, in the words of the gateway's instructions."""


def found_text(found: SearchResult, crib: Crib) -> str:
    """What was found, as typed functions."""
    names = [hit.name for answer in found.answers for hit in answer]
    return stub_text(found, signatures_in(crib, names, Caller("host")))


def run_text(outcome: ProgramOutcome) -> str:
    """What a program gave back, and what became of its calls, as the gateway tells it."""
    counts = Counter((call.tool, call.effect) for call in outcome.calls)
    calls = [
        f"{tool} {effect}{f' x{count}' if count > 1 else ''}"
        for (tool, effect), count in counts.items()
    ]
    return f"{outcome_text(outcome)}\n[calls: {', '.join(calls)}]"
