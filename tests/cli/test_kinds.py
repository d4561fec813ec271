from typing import get_args

from toolcrib.cli.catalog import KindName, kinds_of
from toolcrib.model import Kind


def test_the_words_on_the_command_line_are_the_kinds_there_are():
    assert [each.value for each in KindName] == list(get_args(Kind))


def test_none_chosen_means_every_kind():
    assert kinds_of(None) == kinds_of([]) == frozenset()
    assert kinds_of([KindName.skill, KindName.agent]) == {"skill", "agent"}
