"""What prefetch brings on what people type: needs that are there before any search, and the price.

    python -m benchmarks.prefetch --bench-dir DIR [--set everyday] [--markdown PAGE]

Every request is the first message of a conversation with all tools deferred, and nothing but the
message is known. "Search first" is a model that searches with the user's words, which is more than
many models do. With prefetch, a need that is not there is searched for in the same way.

A turn is one request to the model before the first call can be made. Tokens are those of all tools
in all requests up to then: the search tool, note and summary, definitions, the search and its
answer. "Some wrong" are the messages for which a tool was shown that serves none of their needs,
"only wrong" those for which nothing else was shown, in per cent of all messages. The bar is the
confidence from which a hit is shown.
"""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from benchmarks.folder import NoBench, add_bench_dir, bench_dir, find_sets
from benchmarks.home import own_state
from benchmarks.markdown import NoMarks, put, table
from benchmarks.systems import servers
from toolcrib.crib import Crib
from toolcrib.evaluate import EvalSuite
from toolcrib.evaluate.cases import EvalCase
from toolcrib.model import Answer, Confidence, ToolInfo
from toolcrib.session import Session
from toolcrib.session.prefetch import MOST_A_NEED, SURE, plan_prefetch
from toolcrib.settings import Settings
from toolcrib.text import tool_definition
from toolcrib.text.tokens import Tokenizer

NAME = "prefetch"
SETTINGS = Settings(store=":memory:")
PATIENCE_S = 900.0
BARS: tuple[Confidence, ...] = ("high", "medium", "low")
ALL = "all"


@dataclass(frozen=True, slots=True)
class Shown:
    """One message: its needs, those that are there, what was shown unasked, and what it took."""

    split: str
    needs: int
    there: int
    after_search: int
    tools: int
    wrong: int
    unasked: int
    turns: int
    tokens: int

    @property
    def only_wrong(self) -> bool:
        """Whether something was shown, and nothing of it was right."""
        return bool(self.tools) and self.wrong == self.tools


@dataclass(frozen=True, slots=True)
class Pool:
    """The catalog of a set as a session has it."""

    crib: Crib
    ids: Mapping[str, str]
    count: Tokenizer

    def price(self, tools: Sequence[ToolInfo]) -> int:
        """The tokens of these definitions."""
        return sum(self.count.count(tool_definition(tool)) for tool in tools)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = ArgumentParser(prog="python -m benchmarks.prefetch", description=__doc__)
    add_bench_dir(parser)
    parser.add_argument("--set", default="everyday", help="another set of the kind")
    parser.add_argument("--markdown", type=Path, help="put the tables into this page too")
    said = parser.parse_args(arguments)
    try:
        [one] = find_sets(bench_dir(said.bench_dir, os.environ), [said.set]).sets
        text = report(measure(one.load()))
        print(text)
        if said.markdown:
            put(said.markdown, NAME, text)
    except (NoBench, NoMarks) as error:
        parser.error(str(error))


def measure(suite: EvalSuite) -> Mapping[str, Sequence[Shown]]:
    """Every message with each bar, and with a search first."""
    with own_state(), Crib(SETTINGS) as crib:
        crib.add_source(*servers(suite.tools))
        crib.search("anything")
        crib.index.embedded(PATIENCE_S)
        entries = crib.entries().values()
        ids = {entry.name: f"{entry.capability.source_id}::{entry.bare}" for entry in entries}
        pool = Pool(crib, ids, Tokenizer())
        cases = list(suite.cases.values())
        rows = {"search first": [_asked(pool, case, None) for case in cases]}
        for bar in BARS:
            mark = " (as it comes)" if bar == SURE else ""
            rows[f"prefetch from {bar}{mark}"] = [_asked(pool, case, bar) for case in cases]
            print(f"{bar}: {len(cases)} messages", file=sys.stderr)
        return rows


def _asked(pool: Pool, case: EvalCase, bar: Confidence | None) -> Shown:
    """What a message shows, and what it takes until its first call can be made."""
    session = pool.crib.session(prefetch="on")
    shown = _prefetched(pool, session, case.query, bar) if bar else ()
    session.see(tool.name for tool in shown)
    base = session.token_estimate().deferred
    unasked, right = pool.price(shown), _right(pool, case, shown)
    tokens, turns, after = base + unasked, 1, right
    if not right or len(right) < len(set(case.relevant)):
        said = json.dumps({"query": case.query}, ensure_ascii=False)
        result = session.search(case.query)
        told = pool.count.count(said) + pool.count.count(result.text())
        revealed = session.revealed_tools()
        tokens, turns = tokens + base + pool.price(revealed) + told, 2
        after = _right(pool, case, revealed)
    needs, there = len(set(case.relevant)), len(right)
    wrong = sum(not _right(pool, case, [tool]) for tool in shown)
    return Shown(case.split, needs, there, len(after), len(shown), wrong, unasked, turns, tokens)


def _prefetched(
    pool: Pool, session: Session, message: str, bar: Confidence
) -> tuple[ToolInfo, ...]:
    search = partial(_search, pool.crib)
    waiting = {tool.name: tool for tool in session.deferred_tools()}
    tokens = SETTINGS.session.prefetch_tokens
    planned = plan_prefetch(message, search, waiting, most=24, tokens=tokens, bar=bar)
    return tuple(waiting[name] for name in planned.names)


def _search(crib: Crib, text: str) -> Answer:
    return crib.search(text, limit=MOST_A_NEED, kinds=["tool"])


def _right(pool: Pool, case: EvalCase, tools: Sequence[ToolInfo]) -> set[str]:
    """The needs that these tools serve."""
    found = (pool.ids[tool.name] for tool in tools)
    return set(case.relevant).intersection(case.equiv.get(id, id) for id in found)


def report(measured: Mapping[str, Sequence[Shown]]) -> str:
    """Both tables."""
    as_it_comes = next(rows for name, rows in measured.items() if "as it comes" in name)
    return f"{_overall(measured)}\n\n{_by_split(as_it_comes)}"


def _overall(measured: Mapping[str, Sequence[Shown]]) -> str:
    head = ["", ">needs there, 0 searches", ">after one search", ">messages shown something"]
    head += [">some wrong", ">only wrong", ">tokens shown unasked", ">turns"]
    head += [">tokens to the first call"]
    return table(head, [[name, *_figures(rows)] for name, rows in measured.items()])


def _figures(rows: Sequence[Shown]) -> list[str]:
    needs = sum(row.needs for row in rows)
    return [
        _per_cent(sum(row.there for row in rows), needs),
        _per_cent(sum(row.after_search for row in rows), needs),
        _per_cent(sum(bool(row.tools) for row in rows), len(rows)),
        _per_cent(sum(bool(row.wrong) for row in rows), len(rows)),
        _per_cent(sum(row.only_wrong for row in rows), len(rows)),
        f"{fmean(row.unasked for row in rows):.0f}",
        f"{fmean(row.turns for row in rows):.2f}",
        f"{fmean(row.tokens for row in rows):,.0f}",
    ]


def _by_split(rows: Sequence[Shown]) -> str:
    splits = sorted({row.split for row in rows}, key=lambda split: (split.startswith("zh"), split))
    head = ["as it comes", ">messages", ">needs there, 0 searches", ">after one search"]
    head += [">messages shown something", ">some wrong", ">only wrong", ">tokens shown unasked"]
    lines: list[list[str]] = []
    for split in (*splits, ALL):
        some = [row for row in rows if split in (row.split, ALL)]
        lines.append([split, str(len(some)), *_figures(some)[:6]])
    return table(head, lines)


def _per_cent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}" if whole else "–"


if __name__ == "__main__":
    main()
