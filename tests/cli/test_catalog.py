"""`toolcrib list` and its option `--kind`."""

from typing import get_args

from tests.cli.conftest import Run
from toolcrib.cli.catalog import KindName, kinds_of
from toolcrib.model import Kind


def test_the_list_has_everything_and_what_it_costs(run: Run):
    rows = run("list", "--json").json
    assert len(rows) > 20
    assert [row["name"] for row in rows] == sorted(row["name"] for row in rows)
    [row] = [row for row in rows if row["name"] == "read_file"]
    assert row | {"tokens": 0} == {
        "name": "read_file",
        "source": "builtin",
        "kind": "tool",
        "state": "ready",
        "rules": "allow",
        "deferral": "waits: tool_search is on",
        "tokens": 0,
        "flags": [],
    }
    assert 50 < row["tokens"] < 500


def test_the_totals_below_the_table_are_those_of_its_rows(run: Run):
    rows = run("list", "--json").json
    total = sum(row["tokens"] for row in rows)
    *_, last = run("list").out.splitlines()
    assert last.startswith(f"{len(rows)} capabilities. All {len(rows)} tools that a model")
    assert f" {total:,} tokens, counted with " in last


def test_what_no_model_is_sent_is_in_no_sum(run: Run, config: str):
    [skill] = run("--config", config, "list", "--json").json
    assert skill["tokens"] == 0
    assert "All 0 tools" in run("--config", config, "list").out


def test_the_table_has_a_line_for_each(run: Run):
    head, *lines, _ = run("list").out.splitlines()
    assert head.split() == ["name", "kind", "state", "shown", "tokens", "source", "about"]
    assert "rules: ask" in next(each for each in lines if each.startswith("write_file"))
    assert "rules:" not in next(each for each in lines if each.startswith("read_file"))
    assert len(lines) == len(run("list", "--json").json)


def test_only_the_kinds_asked_for_are_listed(run: Run, config: str):
    [row] = run("--config", config, "list", "--kind", "skill", "--json").json
    assert (row["name"], row["source"], row["deferral"]) == ("skill_forms", "files", "-")
    assert run("--config", config, "list", "--kind", "tool", "--json").json == []
    assert run("--config", config, "list", "--kind", "tool").out.splitlines()[-1].startswith("0 ")


def test_what_no_model_gets_to_see_is_listed_too(run: Run, tmp_path):
    (tmp_path / "tools.yaml").write_text(
        "split: {function: 'posixpath:normpath', available: false}\n", encoding="utf-8"
    )
    config = tmp_path / "settings.toml"
    config.write_text(
        'store = ":memory:"\ntools = ["tools.yaml"]\nbuiltin_tools = false\nplugins = false\n',
        encoding="utf-8",
    )
    [row] = run("--config", str(config), "list", "--json").json
    assert (row["name"], row["state"]) == ("split", "disabled")


def test_the_words_on_the_command_line_are_the_kinds_there_are():
    assert [each.value for each in KindName] == list(get_args(Kind))


def test_none_chosen_means_every_kind():
    assert kinds_of(None) == kinds_of([]) == frozenset()
    assert kinds_of([KindName.skill, KindName.agent]) == {"skill", "agent"}
