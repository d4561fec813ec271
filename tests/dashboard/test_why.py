"""Why: the ranking as a picture, and the form that asks for it."""

import re
from dataclasses import replace

import pytest

from tests.dashboard.hostile import BAD, explanation, hostile_ranking, ranking
from tests.dashboard.test_screens import MOST_PAGE, Elements, view
from toolcrib.dashboard.operations import Overview
from toolcrib.dashboard.rankings import LONGEST_QUERY, RankingAnswer, RankingAsked, Rankings
from toolcrib.dashboard.screens.why import why_screen
from toolcrib.errors import ConfigError
from toolcrib.model import Json
from toolcrib.search import ALTERNATIVES, MOST_CANDIDATES, RankingExplanation

VIEW = view(Overview(has_gateway=True), path="/why")


def shown(*rankings: RankingExplanation, **asked: str) -> str:
    """The page of these rankings."""
    named = {"query": "send a mail", **asked}
    return str(why_screen(VIEW, RankingAnswer(RankingAsked(**named), rankings)))


def test_every_candidate_has_its_ranks_and_what_lifts_it():
    page = shown(ranking())
    rows = re.findall(r"<tr.*?</tr>", page, re.DOTALL)
    told = [Elements(row).text for row in rows if "mail_send1" in row]
    assert "rank 3 -1.25" in told[0]
    assert "rank 1 +2.50" in told[0]
    for part in ("+0.50", "+5.00", "+1.00", "1.000", "use +10%"):
        assert part in told[0]


def test_bars_are_as_long_as_what_they_stand_for():
    page = shown(ranking())
    widths = {
        kind: float(width)
        for kind, width in re.findall(
            r'<rect class="bar-([a-z0-9-]+)[^"]*"[^>]* width="([\d.]+)"', page
        )
    }
    assert widths["bonus"] == pytest.approx(2 * widths["vector"], abs=0.2)
    assert widths["bonus"] == pytest.approx(4 * widths["bm25"], abs=0.3)
    assert "style=" not in page


@pytest.mark.parametrize(
    ("cut_at", "limit", "lines"),
    [
        (2, 5, ["cut after 2"]),
        (3, 1, ["limit 1", "cut after 3"]),
        (2, 2, ["limit 2 · cut after 2"]),
        (0, 5, ["nothing is returned: most likely nothing fits"]),
    ],
)
def test_the_cut_and_the_limit_are_lines(cut_at: int, limit: int, lines: list[str]):
    page = shown(replace(ranking(size=4, cut_at=cut_at), limit=limit))
    assert re.findall(r'<tr class="line"><td[^>]*>(.*?)</td>', page) == lines
    assert page.count('<tr class="out">') == 4 - min(cut_at, limit)


def test_two_settings_are_side_by_side_with_what_has_moved():
    first, second = ranking(size=3), ranking(size=3)
    one, two, three = second.candidates
    second = replace(second, candidates=(two, one, replace(three, name="other")))
    page = Elements(shown(first, second, second="rrf")).text
    assert "Ranked as set" in page
    assert "Ranked fused by ranks (rrf)" in page
    assert "▲1 (1 places higher)" in page
    assert "▼1 (1 places lower)" in page
    assert "other new" in page


def test_by_keywords_the_bars_are_points_and_no_arm_has_ranks():
    plain = ranking(size=1)
    points = {"name": 6.0, "description": 1.0, "whole name": 100.0}
    [one] = plain.candidates
    told = replace(
        plain, fusion="keywords", candidates=(replace(one, ranks={}, contributions=points),)
    )
    page = Elements(shown(told)).text
    assert "+107.00" in page
    assert "Bars are points for the words of the query." in page
    assert "In bold" not in page
    assert "In bold" in Elements(shown(plain)).text


def test_it_says_what_the_query_was_read_as_and_how_sure_it_is():
    text = Elements(shown(ranking("lead"))).text
    for words in ("Corrected: lead", "plain words", "It asks for several things", "0.67", "medium"):
        assert words in text


def test_a_tool_that_was_not_found_is_told_why():
    verdicts = {
        "found at rank 9, below the cut after 2": "Found at rank 9, below the cut after 2.",
        "hidden from this caller: disabled": "if this filter were not there",
    }
    for summary, words in verdicts.items():
        hidden = "disabled" if "hidden" in summary else ""
        told = replace(explanation(summary=summary), hidden=hidden)
        page = shown(ranking().about([told], {"nix": "no tool 'nix' here"}), tool="mail_send")
        text = Elements(page).text
        assert words in text
        assert "no tool 'nix' here" in text
        assert "not found" in text  # by the like arm


def test_a_page_stays_small_whatever_it_is_about():
    long = hostile_ranking(BAD * 20, MOST_CANDIDATES)
    asked = RankingAsked('"' * 9_999, '"' * 999, "<" * 999, "as_set", "rrf").bounded()
    rankings = tuple(
        replace(each, variants=each.variants * 20, parts=each.parts * 20, corrections=(BAD,) * 50)
        for each in long.rankings
    )
    page = str(why_screen(VIEW, replace(long, asked=asked, rankings=rankings)))
    assert len(page.encode()) < MOST_PAGE


def test_the_form_has_a_closed_list_of_settings():
    page = Elements(shown(ranking()))
    options = [each["value"] for tag, each in page.tags if tag == "option"]
    assert options == [*ALTERNATIVES, "", *ALTERNATIVES]
    asked = RankingAsked("q" * 9_999, first="rm -rf", second="' OR 1").bounded()
    assert len(asked.query) == LONGEST_QUERY
    assert asked.alternatives == ["as_set"]
    labelled = ("text", None)
    fields = [each for tag, each in page.tags if tag in ("input", "select")]
    inputs = [each["name"] for each in fields if each.get("type") in labelled]
    assert inputs == list(RankingAsked._fields)


def test_without_a_query_nobody_is_asked():
    def ask(_do: str, /, **_more: Json) -> Json:
        raise AssertionError

    def crib() -> None:
        raise AssertionError

    assert Rankings(ask, crib).explain(RankingAsked("  ")).rankings == ()  # type: ignore[arg-type]


def test_a_gateway_that_cannot_say_is_told_of_and_a_crib_is_asked(library):
    def ask(_do: str, /, **_more: Json) -> Json:
        raise ConfigError("not one of: status")

    answer = Rankings(ask, library).explain(RankingAsked("read a file", "read_file"))
    assert answer.problem == "not one of: status"
    assert not answer.by_gateway
    assert answer.rankings[0].tools[0].name == "read_file"
    assert "not one of: status" in str(why_screen(VIEW, answer))
