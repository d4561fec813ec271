"""What `DocumentStore` promises, on every engine."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.contracts.conftest import Engine
from toolcrib.errors import StoreError
from toolcrib.store import DocumentChanged, DocumentName, DocumentStore

NAMES: tuple[DocumentName, ...] = ("servers.json", "rules.json", "settings.toml")
TEXT = '{"mcpServers": {"ü": {}}}\n'.encode()


@pytest.fixture
def documents(engine: Engine) -> DocumentStore:
    return engine.open().documents


@pytest.mark.parametrize("name", NAMES)
def test_a_document_is_read_as_it_was_written(documents: DocumentStore, name: DocumentName):
    assert documents.document(name) is None
    written = documents.put_document(name, TEXT, None)
    assert written.content == TEXT
    assert documents.document(name) == written
    others: list[DocumentName] = [each for each in NAMES if each != name]
    assert [documents.document(each) for each in others] == [None, None]


def test_a_document_may_be_empty_and_is_not_missing_then(documents: DocumentStore):
    documents.put_document("rules.json", b"", None)
    found = documents.document("rules.json")
    assert found
    assert found.content == b""


def test_another_content_is_another_version(documents: DocumentStore):
    first = documents.put_document("rules.json", b"1", None)
    second = documents.put_document("rules.json", b"2", first.version)
    assert first.version != second.version
    assert documents.document("rules.json") == second


def test_what_somebody_else_has_written_is_not_written_over(documents: DocumentStore):
    first = documents.put_document("rules.json", b"1", None)
    second = documents.put_document("rules.json", b"2", first.version)
    for over in (first.version, None, "nonsense"):
        with pytest.raises(DocumentChanged):
            documents.put_document("rules.json", b"3", over)
    with pytest.raises(DocumentChanged):
        documents.put_document("servers.json", b"3", first.version)
    assert documents.document("rules.json") == second
    assert documents.document("servers.json") is None
    assert issubclass(DocumentChanged, StoreError)


def test_two_processes_have_the_same_and_a_restart_ends_nothing(engine: Engine):
    one, other = engine.open(), engine.open()
    written = one.documents.put_document("servers.json", TEXT, None)
    assert other.documents.document("servers.json") == written
    one.close()
    other.close()
    assert engine.open().documents.document("servers.json") == written


def test_of_many_who_write_over_one_version_one_succeeds(engine: Engine):
    places = [engine.open().documents for _ in range(4)]
    version = places[0].put_document("rules.json", b"0", None).version

    def write(number: int) -> bool:
        try:
            places[number % 4].put_document("rules.json", b"by %d" % number, version)
        except DocumentChanged:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        done = [*threads.map(write, range(8))]
    assert done.count(True) == 1
    found = places[0].document("rules.json")
    assert found
    assert found.content == b"by %d" % done.index(True)
