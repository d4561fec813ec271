from collections import Counter
from importlib import resources

import pytest

from toolcrib.text import our_verbs
from toolcrib.text.verbs import OURS, inflections, parse_verbs


@pytest.mark.parametrize(
    ("form", "family"),
    [
        ("takes", "copy"),
        ("took", "copy"),
        ("booking", "book"),
        ("scheduled", "book"),
        ("studies", "read"),
        ("merged", "merge"),
        ("stopping", "stop"),
        ("figured out", "search"),
        ("订", "book"),
        ("总结", "read"),
        ("关掉", "close"),
    ],
)
def test_every_form_of_a_verb_is_known(form: str, family: str):
    assert our_verbs().verbs[form].family == family


def test_there_are_enough_verbs_in_both_languages():
    bases = [form for form, verb in our_verbs().verbs.items() if verb.base and not verb.hint]
    assert sum(map(str.isascii, bases)) >= 400
    assert sum(not form.isascii() for form in bases) >= 200


def test_opposites_are_families_and_go_both_ways_where_both_are_said():
    families = our_verbs().families
    said = {name: family.opposite for name, family in families.items() if family.opposite}
    assert set(said.values()) <= {*families, "upload", "uninstall"}


def test_no_verb_is_in_two_families():
    said: Counter[str] = Counter()
    for raw in _our_text().partition("[nouns]")[0].split("\n"):
        if raw[:1] not in ("#", "["):
            said.update(word.rstrip("~?") for word in raw.split())
    assert [word for word, times in said.items() if times > 1] == []


def test_the_longest_verb_at_a_word_wins():
    verbs = our_verbs()
    look_up = verbs.verb_at(["look", "up", "the", "price"], 0)
    assert look_up is not None
    assert (look_up.family, look_up.size) == ("search", 2)
    assert verbs.verb_at(["the", "price"], 0) is None


def test_a_particle_may_stand_behind_the_object():
    off = our_verbs().verb_at("turn the light in the hall off".split(), 0)
    assert off is not None
    assert off.family == "disable"


def test_single_characters_are_verbs_only_where_verbs_stand():
    def found(run: str) -> list[str]:
        return [verb.family for verb in our_verbs().verbs_in(run)]

    assert found("建个任务") == ["create"]
    assert found("给他建个任务") == ["create"]
    assert found("购物清单") == []


def test_a_list_is_read_by_its_format():
    verbs = parse_verbs("# note\n[go | stay | destroys]\nwalk fly~ 走\n[irregular]\nfly flew")
    assert verbs.families["go"] == ("stay", True)
    assert set(verbs.verbs) == {"walk", "walks", "walking", "walked", "fly", "flew", "走"}
    assert verbs.verbs["fly"].noun_like
    assert not verbs.verbs["flew"].base


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        ("save", ("saves", "saving", "saved")),
        ("copy", ("copies", "copying", "copied")),
        ("push", ("pushes", "pushing", "pushed")),
        ("play", ("plays", "playing", "played")),
    ],
)
def test_regular_verbs_go_by_rule(base: str, forms: tuple[str, ...]):
    assert tuple(inflections(base)) == forms


def _our_text() -> str:
    return (resources.files("toolcrib.text") / "wordlists" / OURS).read_text(encoding="utf-8")
