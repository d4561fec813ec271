import pytest

from toolcrib.tools import notes
from toolcrib.tools.notes import delete_note, read_note, save_note, search_notes


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(notes, "user_data_path", lambda name: tmp_path / name)
    return tmp_path / "toolcrib" / "notes"


def titles(text=""):
    return [note["title"] for note in search_notes(text)]


def test_a_saved_note_is_read_back(folder):
    save_note("Shopping 购物", "milk\n\n# eggs\n")
    assert read_note("Shopping 购物") == {"title": "Shopping 购物", "text": "milk\n\n# eggs\n"}
    (path,) = folder.iterdir()
    assert path.read_text(encoding="utf-8").startswith("# Shopping 购物\n\nmilk")


def test_notes_are_found_by_all_their_words():
    save_note("Trip", "Buy TICKETS for the train")
    save_note("Dinner", "Buy bread")
    assert titles() == ["Dinner", "Trip"]
    assert titles("buy tickets") == ["Trip"]
    assert titles("dinner") == ["Dinner"]
    assert titles("cinema") == []


def test_an_excerpt_is_the_beginning():
    save_note("Long", "x" * 1000)
    (note,) = search_notes("long")
    assert note["text"] == "x" * notes.LONGEST_EXCERPT


def test_a_note_is_replaced_only_when_the_call_says_so():
    save_note("A", "old")
    with pytest.raises(FileExistsError, match="overwrite"):
        save_note("A", "new")
    save_note("A", "new", overwrite=True)
    assert read_note("A")["text"] == "new"


def test_a_deleted_note_is_gone():
    save_note("A", "text")
    delete_note("A")
    assert titles() == []
    with pytest.raises(FileNotFoundError, match="no note 'A'"):
        read_note("A")


def test_a_missing_note_is_answered_with_the_nearest_titles():
    save_note("Shopping list", "")
    with pytest.raises(FileNotFoundError, match="there is: Shopping list"):
        read_note("Shoping list")


@pytest.mark.parametrize("title", ["../../escape", "/etc/passwd", "a/b", "CON", "x" * 200])
def test_no_title_leads_out_of_the_folder(folder, title):
    save_note(title, "text")
    assert [path.parent for path in folder.rglob("*")] == [folder]
    assert read_note(title)["text"] == "text"
