import pytest

from tests.cli.conftest import Run


def test_a_search_shows_a_table_best_first(run: Run):
    ran = run("search", "read a file")
    head, first, *_ = ran.out.splitlines()
    assert ran.code == 0
    assert head.split() == ["name", "kind", "state", "permission", "score", "description"]
    assert first.split()[:5] == ["read_file", "tool", "ready", "read", "1.0000"]
    assert not ran.err


def test_a_search_in_chinese_shows_chinese(run: Run):
    assert "读取 UTF-8 文本文件" in run("search", "能不能帮我读文件").out


def test_a_search_as_json_is_the_whole_answer(run: Run):
    answer = run("search", "write_file", "--json").json
    assert answer["query"] == "write_file"
    [hit] = answer["hits"]
    assert (hit["name"], hit["permission_kind"]) == ("write_file", "write")
    assert hit["schema"]["type"] == "object"


def test_the_limit_is_kept(run: Run):
    assert len(run("search", "file", "--limit", "2", "--json").json["hits"]) == 2
    assert run("search", "file", "--limit", "0").code == 2


def test_only_the_kinds_asked_for_are_shown(run: Run, config: str):
    assert run("--config", config, "search", "forms", "--kind", "skill", "--json").json["hits"]
    only_tools = run("--config", config, "search", "forms", "--kind", "tool", "--kind", "agent")
    assert "skill_forms" not in only_tools.out
    assert run("search", "x", "--kind", "spoon").code == 2


def test_what_is_missing_is_named_with_the_nearest(run: Run):
    ran = run("search", "select:write_file,raed_file")
    assert "\nwrite_file " in ran.out
    assert "Not here: raed_file. Nearest: read_file" in ran.out


def test_a_search_that_finds_nothing_shows_the_way_on(run: Run):
    ran = run("search", "zzzqqq")
    assert ran.code == 0
    assert ran.out.startswith("Nothing fits.")
    assert "builtin (" in ran.out
    assert "read_file, " in ran.out


def test_an_empty_search_says_what_there_is(run: Run):
    ran = run("search", "")
    assert ran.out.startswith("Nothing was asked")
    assert "builtin (" in ran.out
    assert "read_file, " in ran.out


@pytest.mark.parametrize("query", ["\udcff", "a\0b", "\x1b[2J", "[bold]x[/bold]", "/(/"])
@pytest.mark.parametrize("option", [(), ("--json",)])
def test_no_query_breaks_it(run: Run, query: str, option: tuple[str, ...]):
    ran = run("search", query, *option)
    assert ran.code == 0
    assert "\x1b" not in ran.out


def test_a_problem_goes_to_standard_error_and_the_rest_is_searched(run: Run, tmp_path):
    config = tmp_path / "settings.toml"
    config.write_text('store = ":memory:"\nskills = ["nowhere"]', encoding="utf-8")
    ran = run("--config", str(config), "search", "write_file", "--json")
    assert ran.json["hits"][0]["name"] == "write_file"
    assert ran.err.startswith("toolcrib: warning: ")
    assert "nowhere" in ran.err
