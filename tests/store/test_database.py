from toolcrib.store.database import make_private


def test_a_new_file_and_its_folders_are_ours_alone(tmp_path):
    path = tmp_path / "a" / "b" / "file"
    make_private(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert {each.stat().st_mode & 0o777 for each in (tmp_path / "a", path.parent)} == {0o700}


def test_what_is_there_stays(tmp_path):
    (tmp_path / "file").write_text("here")
    make_private(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "here"
