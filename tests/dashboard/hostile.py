"""What strangers may write, as badly as they can, in every field that a screen shows."""

import numpy as np

from toolcrib.dashboard.rankings import RankingAnswer, RankingAsked
from toolcrib.dashboard.tool_catalog import (
    MapView,
    NearTool,
    ToolDetails,
    ToolFilter,
    ToolPage,
    ToolRow,
    ToolUse,
)
from toolcrib.dashboard.tool_map import ToolMap
from toolcrib.lint import LintFinding
from toolcrib.model import Entry, ToolInfo
from toolcrib.search import (
    Candidate,
    Explanation,
    RankingExplanation,
    SearchedPart,
    SearchedVariant,
    Wording,
)

EVIL = '"><img src=x onerror=alert(1)></pre><script>alert(2)</script><a href="javascript:x">'
HIDDEN = "a\u202eb\u200bc\u2066d\x1b[2Je\x00f\u2028g"
BAD = f"{HIDDEN}{EVIL}' onmouseover='x"
CONTRIBUTIONS = {"like": 0.5, "bm25": -1.25, "vector": 2.5, "name": 5.0, "look": 1.0}


def explanation(name: str = "mail_send", summary: str = "returned at rank 1") -> Explanation:
    """What became of one tool."""
    ranks = {"like": None, "bm25": 3, "vector": 1}
    scores = {"like": 0.0, "bm25": 0.25, "vector": 0.5}
    wording = Wording(name, "as written", 0.7, ranks, scores, 0.1, 2, 0.5)  # type: ignore[arg-type]
    return Explanation(
        query=name,
        name=name,
        state="asleep",
        hidden="",
        wordings=(wording,),
        rank=1,
        score=0.5,
        cut_at=2,
        limit=5,
        best=(name, 0.7),
        summary=summary,
        contributions=CONTRIBUTIONS,
        best_contributions=CONTRIBUTIONS,
    )


def ranking(name: str = "mail_send", size: int = 3, cut_at: int = 2) -> RankingExplanation:
    """How a search ranks some tools that are called alike."""
    ranks = {"like": None, "bm25": 3, "vector": 1}
    candidates = tuple(
        Candidate(f"{name}{place}", name, 1 / place, ranks, CONTRIBUTIONS, 0.1, name)
        for place in range(1, size + 1)
    )
    return RankingExplanation(
        query=name,
        candidates=candidates,
        found=size + 7,
        cut_at=cut_at,
        limit=5,
        fusion="zscore",
        confidence="medium",
        chance=0.67,
        variants=(SearchedVariant(name, name, 0.7), SearchedVariant(name, "plain words", 1.0)),
        parts=(SearchedPart(name, 0.4),),
        corrections=(name,),
    )


def hostile_ranking(text: str = BAD, size: int = 3) -> RankingAnswer:
    """A ranking in which every word is hostile, by two settings, with tools and without."""
    told = ranking(text, size).about(
        [explanation(text, text), explanation(f"{text}2", f"hidden from this caller: {text}")],
        {text: text},
    )
    asked = RankingAsked(text, text, f"{text}2", "as_set", "rrf")
    return RankingAnswer(asked, (told, told), is_ready=False, problem=text)


def hostile_entry(text: str = BAD) -> Entry:
    """A tool of which every word is hostile."""
    tool = ToolInfo(
        name=text,
        description=text,
        source="mcp",
        source_id=text,
        title=text,
        flags=(text,),
        parameters={text: {text: [text]}},
        annotations={text: text},
        schema_problem=text,
        pin=text,
    )
    return Entry(text, text, tool, "changed", text)


def hostile_tool(text: str = BAD) -> ToolDetails:
    """The same, with all that is said about it."""
    near = [NearTool(f"{text}{place}", text, 0.5) for place in range(10)]
    finding = LintFinding(text, text, "warning", "near-identical", text, text)
    use = ToolUse(3, 1, 0.6)
    return ToolDetails(hostile_entry(text), 120, "counted", [finding] * 20, near, near, use)


def hostile_list(text: str = BAD, size: int = 3) -> ToolPage:
    """A list of such tools."""
    rows = tuple(
        ToolRow(f"{text}{place}", text, "ready", "waits", "write", 120, 2) for place in range(size)
    )
    return ToolPage(ToolFilter(text=text), rows, size, size, True, (text,) * size, is_linted=False)


def hostile_map(text: str = BAD) -> MapView:
    """A map of such tools."""
    names = (text, f"{text}2")
    drawn = ToolMap(names, np.zeros((2, 2)), np.array([[1], [0]]), np.ones((2, 1), np.float32))
    return MapView(drawn, (text,), (0, 0), frozenset(names[:1]), 3)
