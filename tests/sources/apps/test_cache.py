import os
import stat

import pytest

from toolcrib.errors import SourceError
from toolcrib.sources.apps import KnownApp, SDKToolsCache, cache

APP = KnownApp("calendar", "1", ("python3", "/a b.py"), ({"name": "add", "inputSchema": {}},))


@pytest.fixture
def apps(tmp_path) -> SDKToolsCache:
    return SDKToolsCache(tmp_path / "known")


def test_an_app_is_remembered_whole_and_for_nobody_else_to_read(apps):
    apps.write(APP)
    assert apps.read_all() == ((APP,), ())
    assert stat.S_IMODE(apps.path("calendar").stat().st_mode) == 0o600


def test_no_name_leads_out_of_the_folder(apps, tmp_path):
    assert apps.path("../../x").parent == tmp_path / "known"


def test_without_a_folder_nothing_is_known(apps):
    assert apps.read_all() == ((), ())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\xff",
        b'{"checksum":"' + b"0" * 64 + b'","app":{}}\n',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_is_set_aside_and_costs_no_other(apps, content):
    apps.write(APP)
    bad = apps.path("other")
    bad.write_bytes(content)
    known, problems = apps.read_all()
    assert known == (APP,)
    assert len(problems) == 1
    assert str(bad.with_suffix(".bad")) in problems[0]
    assert apps.read_all() == ((APP,), ())


def test_every_cut_and_every_flipped_byte_is_noticed(apps):
    apps.write(APP)
    path = apps.path("calendar")
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        for content in (whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]):
            path.write_bytes(content)
            assert apps.read_all()[0] == ()


def test_the_file_of_another_app_is_not_taken(apps):
    apps.write(APP)
    apps.path("calendar").rename(apps.path("mail"))
    assert apps.read_all()[0] == ()


def test_links_and_pipes_are_not_read(apps, tmp_path):
    apps.write(APP)
    target = apps.path("calendar").rename(tmp_path / "target")
    apps.path("calendar").symlink_to(target)
    os.mkfifo(apps.path("pipe"))
    known, problems = apps.read_all()
    assert known == ()
    assert len(problems) == 2


def test_what_is_too_large_is_not_written(apps, monkeypatch):
    apps.write(APP)
    monkeypatch.setattr(cache, "MOST_BYTES", 300)
    with pytest.raises(SourceError, match="bytes of tools"):
        apps.write(KnownApp("calendar", tools=({"name": "x" * 300},)))


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "known").write_text("a file")
    with pytest.raises(SourceError, match="cannot be written"):
        SDKToolsCache(tmp_path / "known").write(APP)
