import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.text import did_you_mean, list_nearest, nearest_names, typos

NAMES = ("read_file", "write_file", "send_message")


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("serach", ["search"]),  # two neighbours swapped
        ("serch", ["search"]),  # one less
        ("searchh", ["search"]),  # one more
        ("saarch", ["search"]),  # another
        ("sarchh", []),  # two edits are too many for a short word
        ("filesytsm", ["filesystem"]),  # but not for a long one
        ("search", []),  # a word is no typo of itself
    ],
)
def test_typos_are_a_slip_away(word: str, found: list[str]):
    assert typos(word, ["search", "filesystem"]) == found


def test_the_nearest_typo_comes_first():
    assert typos("notebooks", ["notebokks", "notebook", "nutebokks"])[-1] == "nutebokks"


@pytest.mark.parametrize("spelling", ["writefile", "Write-File", "write_fiel"])
def test_the_nearest_name_comes_first(spelling: str):
    assert nearest_names(spelling, NAMES)[0] == "write_file"


def test_names_that_are_unlike_are_not_near():
    assert nearest_names("zzz", NAMES) == ()
    assert nearest_names("anything", []) == ()


def test_ties_come_in_alphabetical_order_and_the_limit_holds():
    same = ["read file", "read-file", "read_file", "readFile"]
    assert nearest_names("read_file", same, limit=3) == tuple(sorted(same)[:3])


@given(st.text(max_size=30), st.lists(st.text(max_size=12), max_size=6))
def test_no_name_is_too_odd(name: str, names: list[str]):
    assert set(nearest_names(name, names)) <= set(names)


def test_a_message_ends_with_the_nearest_names_or_none():
    assert list_nearest("write_fiel", NAMES) == "write_file, read_file"
    assert list_nearest("zzz", NAMES) == "none"


def test_a_message_asks_for_the_nearest_name_alone():
    assert did_you_mean("write_fiel", NAMES) == "did you mean 'write_file'?"
    assert did_you_mean("zzz", NAMES) == ""
    assert did_you_mean("write_fiel", NAMES, at_least=99) == ""
