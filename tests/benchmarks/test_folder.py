"""A benchmark finds its sets, or says clearly what is missing."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.folder import VARIABLE, NoBench, bench_dir, find_sets
from benchmarks.held_out import held_out


def test_what_is_said_goes_before_the_environment(bench: Path, tmp_path: Path):
    assert bench_dir(bench, {VARIABLE: str(tmp_path)}) == bench
    assert bench_dir(None, {VARIABLE: str(bench)}) == bench


@pytest.mark.parametrize("environ", [{}, {VARIABLE: ""}])
def test_no_folder_said_is_an_error_that_names_both_ways_to_say_it(environ: dict[str, str]):
    with pytest.raises(NoBench, match=f"--bench-dir or {VARIABLE}"):
        bench_dir(None, environ)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(NoBench, match=r"there is no folder .*nowhere"):
        bench_dir(tmp_path / "nowhere", {})


def test_sets_are_found_in_order_and_the_rest_is_named(bench: Path):
    found = find_sets(bench)
    assert [each.name for each in found.sets] == ["mcp_big", "mcp_big_names"]
    assert found.skipped == ("pairs",)


def test_names_use_the_catalog_of_the_big_set(bench: Path):
    (names,) = find_sets(bench, ["mcp_big_names"]).sets
    assert names.catalog == bench / "mcp_big" / "catalog.jsonl"


def test_a_set_that_is_not_there_is_an_error_with_those_that_are(bench: Path):
    with pytest.raises(NoBench, match=r"no set 'other'.*mcp_big, mcp_big_names"):
        find_sets(bench, ["other"])


def test_a_folder_without_any_set_is_an_error(tmp_path: Path):
    with pytest.raises(NoBench, match="no set in"):
        find_sets(tmp_path)


def test_the_order_of_a_catalog_is_not_that_of_its_file_but_always_the_same(bench: Path):
    (big,) = find_sets(bench, ["mcp_big"]).sets
    lines = [f'{{"id": "{number:02}", "name": "tool"}}' for number in range(20)]
    big.catalog.write_text("\n".join(lines), encoding="utf-8")
    big.queries.write_text('{"id": "1", "query": "x", "relevant": []}', encoding="utf-8")
    loaded = list(big.load().tools)
    assert loaded != sorted(loaded)
    assert loaded == list(big.load().tools)


def test_queries_that_the_model_has_learned_from_do_not_judge_it(bench: Path):
    (big,) = find_sets(bench, ["mcp_big"]).sets
    big.catalog.write_text('{"id": "a", "name": "tool"}', encoding="utf-8")
    learned = {"relevant": ["a"], "split": "train"}
    rows = [{"id": str(number), "query": f"ask {number}", **learned} for number in range(99)]
    rows.append({"id": "none", "query": "hello", "relevant": [], "split": "no_tool"})
    big.queries.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert len(big.load().cases) == 100
    kept = replace(big, name="metatool").load().cases
    assert "none" in kept
    assert 1 < len(kept) < 25
    assert all(held_out(case.query) for case in kept.values() if case.relevant)
