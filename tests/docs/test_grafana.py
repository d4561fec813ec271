"""The dashboard for Grafana: whole, over metrics that there are, and over all of them."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from toolcrib.observe import METRICS

FOLDER = Path(__file__).parents[2] / "docs" / "grafana"
BOARD: dict[str, Any] = json.loads((FOLDER / "toolcrib.json").read_text("utf-8"))
PANELS: list[dict[str, Any]] = BOARD["panels"]
KNOWN = {metric.name: metric for metric in METRICS}
WIDTH = 24


def expressions() -> list[str]:
    return [target["expr"] for panel in PANELS for target in panel["targets"]]


def metric_of(name: str) -> str:
    """The metric that a name in an expression means."""
    return name if name in KNOWN else re.sub(r"_(bucket|count|sum)$", "", name)


def test_every_metric_that_it_names_is_one_of_ours():
    for expr in expressions():
        for name in re.findall(r"toolcrib_\w+", expr):
            assert metric_of(name) in KNOWN, name


def test_every_metric_of_ours_is_in_it():
    every = re.findall(r"toolcrib_\w+", " ".join(expressions()))
    assert set(map(metric_of, every)) == KNOWN.keys()


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_labels_that_an_expression_goes_by_are_those_of_its_metrics(panel: dict[str, Any]):
    for target in panel["targets"]:
        names = re.findall(r"toolcrib_\w+", target["expr"])
        has = {"le", "job"}.union(*(KNOWN[metric_of(name)].labels for name in names))
        by = ", ".join(re.findall(r"by \((.*?)\)", target["expr"])).split(", ")
        matched = re.findall(r"(\w+)(?:=~|!=|=)\"", target["expr"])
        shown = re.findall(r"{{(\w+)}}", target["legendFormat"])
        assert {*by, *matched, *shown} - {""} <= has
        assert target["expr"].count("(") == target["expr"].count(")")
        if "_bucket" in target["expr"]:
            assert "histogram_quantile" in target["expr"]
            assert "le" in by


def test_only_what_counts_up_has_a_rate():
    for expr in expressions():
        for name, window in re.findall(r"(toolcrib_\w+){[^}]*}(\[[^]]+\])?", expr):
            assert bool(window) == (KNOWN[metric_of(name)].kind != "gauge"), expr


def test_no_two_panels_are_in_one_place_and_none_is_outside():
    def cells(panel: dict[str, Any]) -> set[tuple[int, int]]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= WIDTH
        return {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }

    for one, other in combinations(PANELS, 2):
        assert not cells(one) & cells(other), (one["title"], other["title"])
        assert one["id"] != other["id"]


def test_it_brings_no_address_of_anybody():
    assert not re.search(r"https?://", json.dumps(BOARD))
    assert {panel["datasource"]["uid"] for panel in PANELS} == {"${datasource}"}
    assert [each["name"] for each in BOARD["templating"]["list"]] == ["datasource", "job"]


def test_the_picture_shows_every_panel_and_says_what_it_is():
    picture = (FOLDER / "toolcrib.svg").read_text("utf-8")
    for panel in PANELS:
        assert f">{panel['title']}<" in picture
    assert "Not a screenshot" in picture
