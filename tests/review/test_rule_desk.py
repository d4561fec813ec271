"""How rules are written down: in the order in which they are tried, and none is lost."""

from functools import partial
from pathlib import Path

import pytest

from tests.racing import raced
from toolcrib.errors import ConfigError
from toolcrib.execute import MOST_RULES, Rule, read_rules
from toolcrib.review import drop_rule, put_rules
from toolcrib.review.rule_desk import rules_json


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "rules.json"


def test_rules_are_in_the_order_in_which_they_are_tried(file: Path):
    wanted = [
        Rule("deny", "gitlab/*"),
        Rule("deny", "github/delete_*"),
        Rule("allow", "git*/*", profile="agents"),
        Rule("allow", "github/get_issue"),
        Rule("ask", "*/rm"),
        Rule("ask", "github/create_*"),
        Rule("allow", "github/*", "read"),
        Rule("ask", "github/*"),
        Rule("allow"),
    ]
    for rule in reversed(wanted):
        put_rules(file, [rule])
    assert list(read_rules(file)) == wanted
    file.unlink()
    for rule in [*wanted[1:], wanted[0]]:
        put_rules(file, [rule])
    assert list(read_rules(file)) == wanted


def test_of_equals_the_newest_is_first_and_a_rule_takes_the_place_of_one_about_the_same(file: Path):
    for rule in (Rule("allow", "ab/*"), Rule("ask", "ba/*"), Rule("deny", "ab/*", "read")):
        put_rules(file, [rule])
    put_rules(file, [Rule("ask", "ab/*"), Rule("allow", "ab/*", "read")])
    assert read_rules(file) == (
        Rule("allow", "ab/*", "read"),
        Rule("ask", "ab/*"),
        Rule("ask", "ba/*"),
    )


def test_a_rule_is_taken_out(file: Path):
    put_rules(file, [Rule("deny", "a/*"), Rule("allow", "b/*")])
    assert drop_rule(file, Rule("deny", "a/*"))
    assert not drop_rule(file, Rule("deny", "a/*"))
    assert read_rules(file) == (Rule("allow", "b/*"),)


def test_the_file_is_for_the_user_alone_and_a_link_to_it_stays(file: Path, tmp_path: Path):
    file.parent.mkdir()
    real = tmp_path / "dotfiles.json"
    real.write_bytes(rules_json([]))
    file.symlink_to(real)
    put_rules(file, [Rule("allow")])
    assert file.is_symlink()
    assert read_rules(real) == (Rule("allow"),)
    assert real.stat().st_mode & 0o077 == 0


def test_what_cannot_be_read_is_not_written_over(file: Path):
    file.parent.mkdir()
    file.write_text("{")
    with pytest.raises(ConfigError, match="not JSON"):
        put_rules(file, [Rule("allow")])
    with pytest.raises(ConfigError, match="not JSON"):
        drop_rule(file, Rule("deny"))
    assert file.read_text() == "{"


def test_there_is_a_bound(file: Path):
    put_rules(file, [Rule("deny", f"a/{n}") for n in range(MOST_RULES)])
    with pytest.raises(ConfigError, match="rules already"):
        put_rules(file, [Rule("allow")])
    assert len(read_rules(file)) == MOST_RULES


def add_some(file: Path, number: int) -> None:
    for each in range(10):
        put_rules(file, [Rule("deny", f"server{number}/tool{each}")])


def test_processes_that_write_at_once_lose_nothing(file: Path):
    raced(*(partial(add_some, file, number) for number in range(3)))
    assert len(read_rules(file)) == 30
