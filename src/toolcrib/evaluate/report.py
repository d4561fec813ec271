"""A result as a page to look at: one HTML file that needs nothing else and runs nothing.

All text of cases and tools is escaped, and what is hidden in it is written out. The page's own
policy lets a browser load nothing, run nothing and send nothing; its filters are CSS.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib import resources
from typing import NamedTuple

from toolcrib.evaluate.calibration import SHOWN, Forecast, forecasts, reliability
from toolcrib.evaluate.cases import EvalCase
from toolcrib.evaluate.chart import reliability_chart
from toolcrib.evaluate.comparison import outcome
from toolcrib.evaluate.evaluation import EvalFound, EvalResult
from toolcrib.evaluate.measures import EvalScores, counted, need_ranks
from toolcrib.text import LANGUAGE_NAMES, detect_language, printable

FEW_FORECASTS = 100
SURE = 0.6
LONGEST_TEXT = 400
MOST_OPEN = 10
MOST_RANKED = 10
"""So many hits of a case that differs are shown; of others, so many as an answer has."""
NOTHING = "–"


class ReportSide(NamedTuple):
    """One result, and what the settings behind it are called."""

    label: str
    result: EvalResult


@dataclass(frozen=True, slots=True)
class Report:
    """What a page shows: the cases, one result or two, and how to describe a tool by its id.

    `about` is a sentence on what was measured, and when.
    """

    about: str
    cases: Mapping[str, EvalCase]
    describe: Callable[[str], str]
    side: ReportSide
    against: ReportSide | None = None

    def html(self) -> str:
        """The page."""
        style = (
            resources.files("toolcrib.evaluate").joinpath("report.css").read_text(encoding="utf-8")
        )
        digest = b64encode(sha256(style.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'"
        return "\n".join(
            [
                "<!doctype html>",
                '<html lang="en"><head><meta charset="utf-8">',
                f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                '<meta name="referrer" content="no-referrer">',
                f"<title>Toolcrib: search, measured</title><style>{style}</style></head>",
                "<body><main>",
                *self._body(),
                "</main></body></html>\n",
            ]
        )

    def _body(self) -> Iterator[str]:
        yield "<h1>How well search finds the tools</h1>"
        yield f'<p class="dim">{_text(self.about)}</p>'
        if self.against:
            now, then = _text(self.side.label), _text(self.against.label)
            yield f'<p class="dim"><b class="own">Now</b>: {now}. '
            yield f'<b class="other">Then</b>: {then}.</p>'
        yield from _tiles(self)
        yield from _groups("By group", [each.result.splits for each in self.sides()], self)
        yield from _groups("By language", [each.result.languages for each in self.sides()], self)
        yield from _charts(self)
        yield from _cases(self)
        yield '<footer class="dim"><p>Written by <code>toolcrib eval run --html</code>. '
        yield "Rankings are not cut; <code>toolcrib help eval</code> says what each measure "
        yield "means.</p></footer>"

    def sides(self) -> Sequence[ReportSide]:
        """The one, or the two."""
        return [self.side, self.against] if self.against else [self.side]


def _tiles(report: Report) -> Iterator[str]:
    """The figures that matter, each with what the other settings give."""
    measures: Sequence[tuple[str, Callable[[EvalScores], float | None], int]] = [
        ("first hit right", lambda scores: scores.hit_1, 1),
        ("found within 5", lambda scores: scores.recall_5, 1),
        ("found within 10", lambda scores: scores.recall_10, 1),
        ("nothing fits, left empty", lambda scores: scores.left_empty, 1),
        ("wrongly left empty", lambda scores: scores.wrongly_empty, -1),
    ]
    yield '<dl class="tiles">'
    for name, measure, direction in measures:
        yield _tile(name, [measure(each.result.total) for each in report.sides()], direction)
    yield _tile("calibration error", [_calibration_error(report, e) for e in report.sides()], -1)
    yield "</dl>"


def _tile(name: str, values: Sequence[float | None], direction: int) -> str:
    now, *others = values
    versus = "".join(_versus(now, other, direction) for other in others)
    return f'<div class="tile"><dt>{name}</dt><dd>{_per_cent(now)}{versus}</dd></div>'


def _versus(now: float | None, other: float | None, direction: int) -> str:
    if now is None or other is None:
        return ""
    change = 100 * (other - now)
    kind = "" if abs(change) < 0.05 else "up" if change * direction > 0 else "down"  # noqa: PLR2004 - as shown
    return f'<span class="versus">{_per_cent(other)} <b class="{kind}">{change:+.1f}</b></span>'


def _calibration_error(report: Report, side: ReportSide) -> float | None:
    return reliability(each for _, each in _forecasts(report, side)).error


def _forecasts(report: Report, side: ReportSide) -> list[tuple[EvalCase, Forecast]]:
    return list(forecasts(report.cases.values(), side.result.found))


def _groups(
    title: str, groups: Sequence[Mapping[str, EvalScores]], report: Report
) -> Iterator[str]:
    """A table of the measures, a row a group and one for all; nothing if there is one group."""
    if len(groups[0]) < 2:  # noqa: PLR2004 - as it says
        return
    head = ["per cent", "cases", "first hit", "R@1", "R@5", *["then"] * (len(groups) - 1)]
    head += ["R@10", "MRR", "nothing fits", "left empty"]
    yield f'<h2>{title}</h2><div class="scroll"><table>'
    yield f"<tr>{''.join(f'<th>{each}</th>' for each in head)}</tr>"
    for name in groups[0]:
        yield _row(name or "(none)", [each[name] for each in groups])
    yield _row("all", [each.result.total for each in report.sides()], "all")
    yield "</table></div>"


def _row(name: str, sides: Sequence[EvalScores], kind: str = "") -> str:
    scores, *others = sides
    means = (scores.hit_1, scores.recall_1, scores.recall_5, *(each.recall_5 for each in others))
    cells = [_text(name), str(scores.answerable)]
    cells += map(_number, (*means, scores.recall_10, scores.mrr))
    cells += [str(scores.unanswerable), _number(scores.left_empty)]
    return f'<tr class="{kind}">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'


def _charts(report: Report) -> Iterator[str]:
    """Predicted against observed: of all, and of each language if there are several."""
    every = [_forecasts(report, side) for side in report.sides()]
    languages = sorted({_language(case) for case, _ in every[0]})
    yield "<h2>Is it sure when it is right?</h2>"
    yield "<p>A dot gathers answers of about the same chance. On the dashed line the chance that "
    yield f"was given is the share that was right: one of the first {SHOWN} is a tool that fits. "
    yield "Below the line search is too sure, above it too modest.</p>"
    yield '<div class="charts">'
    for name in ["all", *(languages if len(languages) > 1 else [])]:
        yield _chart(name, [[e for c, e in f if name in ("all", _language(c))] for f in every])
    yield "</div>"


def _chart(name: str, every: Sequence[Sequence[Forecast]]) -> str:
    curves = [reliability(each) for each in every]
    errors = " against ".join(_per_cent(each.error) for each in curves)
    few = "; too few to say much" if len(every[0]) < FEW_FORECASTS else ""
    caption = f"<b>{name}</b>: {len(every[0])} cases{few}. Calibration error {errors}."
    return f"<figure>{reliability_chart(curves)}<figcaption>{caption}</figcaption></figure>"


def _cases(report: Report) -> Iterator[str]:
    every = (_CaseView(report, case) for case in report.cases.values())
    rendered = sorted(every, key=lambda each: each.change)  # the worst loss first
    rendered = [*_differing(rendered), *(each for each in rendered if not each.change)]
    filters = {
        "differs": "not the same with both",
        "all": "all",
        "wrong": f"not within {SHOWN}, or found in vain",
        "second": "first hit wrong, found later",
        "sure": "sure and wrong",
        "better": "better then",
        "worse": "worse then",
    }
    first = "differs" if any(each.change for each in rendered) else "all"
    yield '<h2>The cases</h2><div class="filters">'
    for name, label in filters.items():
        count = sum(name == "all" or name in each.kinds for each in rendered)
        if count or name == "all":
            checked = " checked" if name == first else ""
            yield f'<input type="radio" name="show" id="show-{name}"{checked}>'
            yield f'<label for="show-{name}">{label} · {count}</label>'
    yield '<div class="cases">'
    opened = {id(each) for each in _differing(rendered)[:MOST_OPEN]}
    for each in rendered:
        yield from each.lines(is_open=id(each) in opened)
    yield "</div></div>"


def _differing(cases: Sequence["_CaseView"]) -> list["_CaseView"]:
    return [each for each in cases if each.change]


class _CaseView:
    """One case on the page."""

    def __init__(self, report: Report, case: EvalCase) -> None:
        self._report, self._case = report, case
        self._found = [each.result.found[case.id] for each in report.sides()]
        gains = [outcome(case, each.ranked).gain for each in self._found]
        self._verdict, kind = _verdict(case, self._found[0].ranked)
        sure = kind == "wrong" and self._found[0].chance >= SURE and self._found[0].ranked
        self.change = gains[-1] - gains[0]
        moved = [] if not self.change else ["differs", "better" if self.change > 0 else "worse"]
        self._most = MOST_RANKED if self.change and case.relevant else SHOWN
        self.kinds = [kind, *(["sure"] if sure else []), *moved]

    def lines(self, *, is_open: bool) -> Iterator[str]:
        case = self._case
        chance = f"{self._found[0].chance:.0%} sure"
        split = f"{case.split} · " if case.split else ""
        shown = " open" if is_open else ""
        yield f'<details class="{" ".join(self.kinds)}"{shown}><summary>'
        yield f'<span class="verdict">{self._verdict}</span>'
        yield f'<span class="query" dir="auto">{_text(case.query)}</span>'
        yield f'<span class="facts">{_text(split)}{chance}</span></summary>'
        yield '<div class="inside">'
        yield from self._wanted()
        for side, found in zip(self._report.sides(), self._found, strict=True):
            yield from self._hits(side, found)
        yield "</div></details>"

    def _wanted(self) -> Iterator[str]:
        """The tools that should be found, with their places."""
        yield "<div><h3>should find</h3>"
        if not self._case.relevant:
            yield "<p>nothing</p></div>"
            return
        yield "<ul>"
        every = [need_ranks(self._case, each.ranked) for each in self._found]
        for id in every[0]:
            places = " → ".join(_place(ranks[id]) for ranks in every)
            also = sum(canonical == id for canonical in self._case.equiv.values())
            others = f", or one of {also} others" if also else ""
            yield self._tool(id, f"{places}{others}")
        yield "</ul></div>"

    def _hits(self, side: ReportSide, found: EvalFound) -> Iterator[str]:
        title = f"found with {_text(side.label)}" if self._report.against else "found"
        yield f"<div><h3>{title}</h3>"
        if not found.ranked:
            yield f"<p>nothing: {found.chance:.0%} sure that something fits</p>"
        yield "<ol>"
        before = self._found[0].ranked
        for place, id in enumerate(found.ranked[: self._most]):
            right = self._case.equiv.get(id, id) in self._case.relevant
            moved = "" if found is self._found[0] else _moved(place, before, id)
            yield self._tool(id, f"{moved}{self._report.describe(id)}", "hit" if right else "")
        yield "</ol></div>"

    def _tool(self, id: str, about: str, kind: str = "") -> str:
        name = f'<bdi class="name">{_text(id)}</bdi>'
        return f'<li class="{kind}">{name}<small dir="auto">{_text(about)}</small></li>'


def _moved(place: int, before: Sequence[str], id: str) -> str:
    """How a hit stands against the first settings; places count from 0."""
    if id not in before:
        return "▲ new. " if before else ""
    change = before.index(id) - place
    if not change:
        return ""
    return f"{'▲' if change > 0 else '▼'} from place {place + change + 1}. "


def _verdict(case: EvalCase, ranked: Sequence[str]) -> tuple[str, str]:
    """What became of a case, in a few words; and whether that is right, second best or wrong."""
    if not case.relevant:
        return ("found in vain", "wrong") if ranked else ("left empty ✓", "right")
    ranks = need_ranks(case, ranked).values()
    needed = 1 if case.relevance == "any" else len(ranks)
    within = sum(rank is not None and rank <= SHOWN for rank in ranks)
    if within < needed:
        best = min((rank for rank in ranks if rank), default=None)
        part = f"{within} of {needed}" if within else _place(best)
        return ("left empty" if not ranked else part), "wrong"
    first = set(counted(case, ranked)[:1]) <= set(case.relevant)
    return ("first ✓", "right") if first else (_place(min(filter(None, ranks))), "second")


def _place(rank: int | None) -> str:
    return "not found" if rank is None else f"place {rank}"


def _language(case: EvalCase) -> str:
    return LANGUAGE_NAMES[detect_language(case.query)]


def _per_cent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f}&nbsp;%"


def _number(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f}"


def _text(text: str) -> str:
    """A text from elsewhere, as a page may hold it."""
    short = text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}…"
    return escape(printable(short))
