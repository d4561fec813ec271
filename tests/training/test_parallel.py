import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from training.clean import alike, plain
from training.parallel import load, pairs, write
from training.translations import read_modules

ROOT = Path(__file__).parents[2]


@pytest.fixture
def package(tmp_path):
    texts = {
        "i18n/en.json": {"open": "Open {name}", "nested": {"save": "Save the file"}, "same": "OK"},
        "i18n/zh-CN.json": {"open": "打开 {name}", "nested": {"save": "保存文件"}, "same": "OK"},
        "i18n/de.json": {"nested": {"save": "Datei speichern"}, "more": "Nur hier"},
    }
    for name, value in texts.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value), encoding="utf-8")
    catalog = tmp_path / "locale/zh_CN/LC_MESSAGES/app.po"
    catalog.parent.mkdir(parents=True)
    catalog.write_text(
        'msgid ""\nmsgstr "x"\n\nmsgid "Delete user"\nmsgstr "删除用户"\n\n'
        '#, fuzzy\nmsgid "Wrong guess"\nmsgstr "猜错"\n',
        encoding="utf-8",
    )
    return tmp_path


def test_what_says_the_same_is_paired_by_its_key(package, tmp_path):
    found = {(pair.english, pair.other, pair.language) for pair in pairs(package, "p")}
    assert found == {
        ("Open", "打开", "zh"),
        ("Save the file", "保存文件", "zh"),
        ("Save the file", "Datei speichern", "de"),
        ("Delete user", "删除用户", "zh"),
    }
    assert write(pairs(package, "p"), tmp_path / "out") == 4
    assert {pair[:3] for pair in load(tmp_path / "out")} == found


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("<b>Open</b> %s…", "Open"),
        ("&File:", "File"),
        ("Save {count} files", "Save files"),
        ("see https://example.com now", "see now"),
    ],
)
def test_markup_and_holes_go(text, cleaned):
    assert plain(text) == cleaned


@pytest.mark.parametrize(
    ("english", "other", "language", "expected"),
    [
        ("Open file", "打开文件", "zh", True),
        ("Open file", "Open file", "zh", False),
        ("Open file", "open the file", "zh", False),
        ("Yes", "这是一个非常非常非常非常非常非常长的句子而不是翻译", "zh", False),
        ("打开", "打开", "zh", False),
        ("Delete", "Löschen", "de", True),
    ],
)
def test_a_pair_is_usable_if_each_side_speaks_its_language(english, other, language, expected):
    assert alike(english, other, language) is expected


def test_packages_are_read_on_every_core_in_their_order(package, tmp_path):
    """In a process of its own: it has children, and other tests have threads."""
    code = (
        "import sys; from pathlib import Path; from training.parallel import gather\n"
        "for pair in gather({'b': Path(sys.argv[1]), 'a': Path(sys.argv[1])}): print(pair.package)"
    )
    command = [sys.executable, "-c", code, str(package)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["b"] * 4 + ["a"] * 4
    assert done.stderr.splitlines() == ["gather 1 of 2: b, 4 pairs", "gather 2 of 2: a, 4 pairs"]


@pytest.mark.skipif(not shutil.which("node"), reason="no node: it reads the modules")
def test_modules_are_read_by_node_and_one_that_ends_it_is_no_silence(tmp_path):
    (tmp_path / "de.mjs").write_text('console.log("hello"); export default {open: "Öffnen"}')
    (tmp_path / "fr.mjs").write_text("throw new Error()")
    (tmp_path / "it.mjs").write_text("process.exit(0)")
    german, french, italian = (tmp_path / f"{name}.mjs" for name in ("de", "fr", "it"))
    assert read_modules([german, french]) == {german: {"open": "Öffnen"}, french: {}}
    with pytest.raises(ValueError, match="shorter"):
        read_modules([german, italian])
