"""Names that are kept while origins come and go are those that anybody would work out anew."""

from random import Random

from hypothesis import example, given
from hypothesis import strategies as st

from tests.names.test_origin import ORIGINS
from tests.pool.from_scratch import names_from_scratch, overlaps_from_scratch
from toolcrib.names import NameBook, Origin, SourceStems, name_all

SOURCES = st.builds(
    Origin, st.sampled_from(["mcp", "sdk"]), st.text("aB_.-é", max_size=3), st.just("")
)


CROWD = [Origin("", "0", ""), Origin("", "", ""), Origin("", "B", ""), Origin("", "", "BB")]


@given(st.lists(ORIGINS, max_size=12), st.lists(ORIGINS, max_size=6), st.integers())
@example([*CROWD[:3], CROWD[1], CROWD[3]], [], 1063)  # one is renamed and gets its name back
def test_any_history_leads_to_the_same_names(first, second, seed: int):
    book, here, chance = NameBook(), dict[Origin, None](), Random(seed)
    clash = [Origin("", "", each.hashed_name()) for each in first[:3]]
    for origin in (*first, *clash, *second):
        book.put(origin)
        here[origin] = None
        if chance.random() < 0.4:
            gone = chance.choice(list(here))
            book.drop(gone)
            del here[gone]
        before = dict(book.names)
        renamed = book.settle()
        assert book.names == names_from_scratch(here) == name_all(here)
        assert renamed == {o: n for o, n in book.names.items() if before.get(o) != n}


@given(st.lists(ORIGINS, max_size=8), st.lists(SOURCES, max_size=8), st.integers())
def test_any_history_of_sources_leads_to_the_same_overlaps(origins, sources, seed: int):
    stems, here, chance = SourceStems(), list[Origin](), Random(seed)
    for source in sources:
        stems.add(source)
        here.append(source)
        if chance.random() < 0.4:
            here.remove(gone := chance.choice(here))
            stems.remove(gone)
        for origin in (*origins, *(each._replace(own_name="a_B_") for each in here)):
            assert stems.overlaps(origin) == overlaps_from_scratch(origin, here)


def test_a_name_that_is_not_known_yet_is_asked_for_when_another_wants_it():
    asked: list[str] = []
    known, other = Origin("mcp", "a_b", "c"), Origin("mcp", "a", "b_c")

    def wanted(name: str) -> None:
        asked.append(name)
        if name == "mcp_a_b_c":
            book.enter(known, name)

    book = NameBook(wanted)
    book.put(other)
    assert book.settle() == {known: known.hashed_name(), other: other.hashed_name()}
    book.drop(other)
    assert book.settle() == {known: "mcp_a_b_c"}
    assert "mcp_a_b_c" in asked
