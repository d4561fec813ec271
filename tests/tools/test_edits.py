import pytest

from toolcrib.tools.edits import delete_file, edit_file, move_file, write_file


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("one two two\n")
    return path


def test_a_new_file_gets_its_folders(tmp_path):
    place = tmp_path / "a" / "b" / "c.txt"
    assert "6 bytes" in write_file(str(place), "文字")
    assert place.read_text(encoding="utf-8") == "文字"


def test_a_file_is_replaced_only_when_the_call_says_so(path):
    with pytest.raises(FileExistsError, match="overwrite"):
        write_file(str(path), "new")
    assert path.read_text() == "one two two\n"
    write_file(str(path), "new", overwrite=True)
    assert path.read_text() == "new"


def test_a_dangling_link_counts_as_something_there(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "gone")
    with pytest.raises(FileExistsError):
        write_file(str(link), "x")


def test_what_a_link_leads_to_is_written_and_the_link_stays(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    write_file(str(link), "new", overwrite=True)
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_a_folder_is_never_written_over(tmp_path):
    with pytest.raises(IsADirectoryError):
        write_file(str(tmp_path), "x", overwrite=True)


def test_one_passage_is_replaced(path):
    assert edit_file(str(path), "one", "1").startswith("replaced 1 passage in")
    assert path.read_text() == "1 two two\n"


def test_a_passage_that_occurs_twice_is_replaced_only_everywhere(path):
    with pytest.raises(ValueError, match="2 times"):
        edit_file(str(path), "two", "2")
    assert "2 passages" in edit_file(str(path), "two", "2", every=True)
    assert path.read_text() == "one 2 2\n"


@pytest.mark.parametrize("old", ["three", ""])
def test_a_passage_that_is_not_there_changes_nothing(path, old):
    with pytest.raises(ValueError, match="does not contain"):
        edit_file(str(path), old, "3")
    assert path.read_text() == "one two two\n"


def test_line_ends_stay_as_they_are(path):
    path.write_bytes(b"a\r\nb\r\n")
    edit_file(str(path), "b", "c")
    assert path.read_bytes() == b"a\r\nc\r\n"


def test_a_file_is_moved_to_a_path_or_into_a_folder(path, tmp_path):
    move_file(str(path), str(tmp_path / "new" / "name.txt"))
    assert (tmp_path / "new" / "name.txt").exists()
    (tmp_path / "folder").mkdir()
    move_file(str(tmp_path / "new" / "name.txt"), str(tmp_path / "folder"))
    assert (tmp_path / "folder" / "name.txt").exists()
    assert not (tmp_path / "new" / "name.txt").exists()


def test_moving_replaces_only_when_the_call_says_so(path, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("other")
    with pytest.raises(FileExistsError):
        move_file(str(path), str(other))
    move_file(str(path), str(other), overwrite=True)
    assert other.read_text() == "one two two\n"


def test_one_file_is_deleted_and_a_folder_never(path, tmp_path):
    delete_file(str(path))
    assert not path.exists()
    with pytest.raises(FileNotFoundError, match="list its folder"):
        delete_file(str(path))
    with pytest.raises(IsADirectoryError, match="not deleted"):
        delete_file(str(tmp_path))


def test_deleting_a_link_leaves_what_it_points_at(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    delete_file(str(link))
    assert path.exists()
    assert not link.is_symlink()
