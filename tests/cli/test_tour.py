from tests.cli.conftest import Run
from toolcrib.cli.tour import QUERIES


def test_the_tour_indexes_searches_explains_and_says_what_is_next(run: Run):
    ran = run("tour")
    assert ran.code == 0
    assert "capabilities indexed in" in ran.out
    for query in QUERIES:
        assert f'$ toolcrib search "{query}"' in ran.out
    assert '$ toolcrib why "read the contents of a file" read_file' in ran.out
    assert "returned at rank 1" in ran.out
    what_next = ran.out.partition("What to do next:")[2]
    assert "toolcrib --help" in what_next
    assert "from toolcrib import Crib" in what_next


def test_the_tour_as_json(run: Run):
    tour = run("tour", "--json").json
    assert [answer["query"] for answer in tour["answers"]] == list(QUERIES)
    assert [answer["hits"][0]["name"] for answer in tour["answers"]][:2] == ["read_file"] * 2
    assert tour["why"]["name"] == "read_file"
    assert tour["stats"]["capabilities"] > 20


def test_the_tour_of_a_pool_that_has_nothing_of_the_sort_goes_on(run: Run, config: str):
    ran = run("--config", config, "tour")
    assert ran.code == 0
    assert "What to do next:" in ran.out


def test_the_tour_can_be_taken_twice(run: Run):
    assert run("tour").code == run("tour").code == 0
