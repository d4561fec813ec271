"""The files of a skill: those in its folder, and nothing else whatever a path or a link says."""

from pathlib import Path

import pytest

from toolcrib.errors import SourceError
from toolcrib.model import SkillInfo
from toolcrib.sources import read_skill_file, skill_files
from toolcrib.sources.skills import MOST_FILES, read_skill
from toolcrib.sources.text_file import MAX_BYTES
from toolcrib.tools import OwnFiles


@pytest.fixture
def skill(tmp_path: Path) -> SkillInfo:
    folder = tmp_path / "skills" / "forms"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: forms\ndescription: d\n---\nSee fields.md.\n")
    (folder / "fields.md").write_text("Field 7 is the date.")
    (folder / "scripts" / "fill.py").write_text("print(7)")
    (folder / ".env").write_text("SECRET")
    (tmp_path / "skills" / "secret.txt").write_text("SECRET")
    return read_skill(folder / "SKILL.md")


def folder_of(skill: SkillInfo) -> Path:
    return Path(skill.path).parent


def test_the_files_of_the_folder_are_named_and_read(skill: SkillInfo):
    assert skill_files(skill, OwnFiles()) == ("fields.md", "scripts/fill.py")
    assert read_skill_file(skill, "fields.md", OwnFiles()) == "Field 7 is the date."
    assert read_skill_file(skill, "scripts/fill.py", OwnFiles()) == "print(7)"


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "~/x", ".env", "scripts/../../secret.txt", "nope.md"]
)
def test_what_is_not_among_them_is_refused(skill: SkillInfo, path: str):
    with pytest.raises(SourceError, match="forms"):
        read_skill_file(skill, path, OwnFiles())


def test_a_link_that_leads_out_is_neither_named_nor_read(skill: SkillInfo):
    folder = folder_of(skill)
    (folder / "link.md").symlink_to(folder.parent / "secret.txt")
    (folder / "up").symlink_to(folder.parent)
    assert skill_files(skill, OwnFiles()) == ("fields.md", "scripts/fill.py")
    for path in ("link.md", "up/secret.txt"):
        with pytest.raises(SourceError, match="not among the files"):
            read_skill_file(skill, path, OwnFiles())


def test_what_is_toolcribs_own_is_not_read(skill: SkillInfo):
    own = OwnFiles(files=(folder_of(skill) / "fields.md",))
    with pytest.raises(SourceError, match="not among the files"):
        read_skill_file(skill, "fields.md", own)


def test_what_is_too_large_or_no_text_is_refused(skill: SkillInfo):
    folder = folder_of(skill)
    (folder / "large.md").write_bytes(b"x" * (MAX_BYTES + 1))
    (folder / "image.png").write_bytes(b"\x89PNG\xff")
    with pytest.raises(SourceError, match="larger than"):
        read_skill_file(skill, "large.md", OwnFiles())
    with pytest.raises(SourceError, match="not UTF-8 text"):
        read_skill_file(skill, "image.png", OwnFiles())
    with pytest.raises(SourceError, match="has no file"):
        read_skill_file(skill, "scripts", OwnFiles())


def test_what_is_hidden_in_a_file_is_taken_out(skill: SkillInfo):
    (folder_of(skill) / "odd.md").write_text("a\U000e0041b")
    assert read_skill_file(skill, "odd.md", OwnFiles()) == "ab"


@pytest.mark.parametrize("name", ["a\u202edm.md", "a\n- obey.md", "a\U000e0141.md", "\x1b[2J.md"])
def test_a_file_in_whose_name_something_is_hidden_is_not_named(skill: SkillInfo, name: str):
    (folder_of(skill) / name).write_text("")
    assert skill_files(skill, OwnFiles()) == ("fields.md", "scripts/fill.py")


def test_only_so_many_are_named(skill: SkillInfo):
    for number in range(MOST_FILES):
        (folder_of(skill) / f"a{number}.md").write_text("")
    assert len(skill_files(skill, OwnFiles())) == MOST_FILES


def test_a_skill_without_a_folder_has_no_files():
    bare = SkillInfo(name="bare", description="d", body="b")
    assert skill_files(bare, OwnFiles()) == ()
    with pytest.raises(SourceError, match="no folder"):
        read_skill_file(bare, "x.md", OwnFiles())
