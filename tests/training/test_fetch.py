import io
import subprocess
import tarfile
import zipfile

import pytest

from training import fetch
from training.fetch import NotFetchedError, Package, fetch_all, packages

NPM = Package("npm", "@some/words", "1.2.3", "MIT", "_some_words")
PYPI = Package("pypi", "words", "4.5", "BSD-3-Clause", "words")


class Registry:
    """What stands in for npm and pip: puts an archive into the folder it is run in."""

    def __init__(self):
        self.asked = []
        self.gone = set()

    def __call__(self, command, *, cwd, **_):
        wanted = command[-1]
        self.asked.append(wanted)
        if wanted in self.gone:
            return subprocess.CompletedProcess(command, 1, "", "404: no such version\n")
        if command[0] == "npm":
            with tarfile.open(cwd / "words.tgz", "w:gz") as file:
                file.addfile(tarfile.TarInfo("package/i18n/zh.json"), io.BytesIO())
        else:
            with zipfile.ZipFile(cwd / "words.whl", "w") as file:
                file.writestr("locale/zh.po", "")
        return subprocess.CompletedProcess(command, 0, "", "")


@pytest.fixture
def registry(monkeypatch):
    registry = Registry()
    monkeypatch.setattr(fetch.subprocess, "run", registry)
    return registry


def test_packages_are_unpacked_each_into_its_folder(registry, tmp_path):
    fetch_all([NPM, PYPI], tmp_path)
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"npm/_some_words/package/i18n/zh.json", "pypi/words/locale/zh.po"}
    assert sorted(registry.asked) == ["@some/words@1.2.3", "words==4.5"]


def test_what_is_there_is_not_fetched_again(registry, tmp_path, capsys):
    fetch_all([NPM, PYPI], tmp_path)
    fetch_all([NPM, PYPI], tmp_path)
    assert len(registry.asked) == 2
    assert "fetch 2 of 2" in capsys.readouterr().err


def test_a_package_that_is_gone_is_named_and_tried_again_next_time(registry, tmp_path):
    registry.gone.add("words==4.5")
    with pytest.raises(NotFetchedError, match=r"1 of 2 .*\npypi words 4\.5: 404: no such version"):
        fetch_all([PYPI, NPM], tmp_path)
    assert NPM.place(tmp_path).exists()
    assert not PYPI.place(tmp_path).exists()
    registry.gone.clear()
    fetch_all([PYPI, NPM], tmp_path)
    assert PYPI.place(tmp_path).exists()
    assert registry.asked.count("words==4.5") == 2
    assert registry.asked.count("@some/words@1.2.3") == 1


def test_an_archive_that_is_broken_leaves_no_folder(registry, tmp_path, monkeypatch):
    def broken(_command, *, cwd, **_):
        (cwd / "words.whl").write_bytes(b"PK half of it")
        return subprocess.CompletedProcess([], 0, "", "")

    monkeypatch.setattr(fetch.subprocess, "run", broken)
    with pytest.raises(zipfile.BadZipFile):
        fetch_all([PYPI], tmp_path)
    assert not PYPI.place(tmp_path).exists()


def test_no_two_packages_share_a_folder():
    places = [(package.registry, package.folder) for package in packages()]
    assert len(set(places)) == len(places) > 200
