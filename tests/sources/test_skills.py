import asyncio
import os

import pytest

from tests.workshop import soon
from toolcrib.errors import SourceError, UnknownTool
from toolcrib.model import Call, SkillInfo
from toolcrib.sources.skills import SkillSource


def write_skill(folder, name, *, head="", body="Do this."):
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name}\ndescription: About {name}\n{head}---\n{body}\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")


def test_a_skill_is_what_its_file_says(tmp_path):
    write_skill(tmp_path / "pdf", "PDF Forms", head="tags: [pdf, forms]\nlicense: MIT\n")
    (skill,) = SkillSource(tmp_path).capabilities()
    assert skill == SkillInfo(
        name="PDF Forms",
        description="About PDF Forms",
        source="files",
        permission_kind="read",
        tags=("pdf", "forms"),
        body="Do this.",
        path=str(tmp_path / "pdf" / "SKILL.md"),
    )


def test_metadata_may_hold_category_and_tags(tmp_path):
    head = "metadata:\n  category: office\n  tags: a, b\n  version: 1.0\n"
    write_skill(tmp_path / "x", "x", head=head)
    (skill,) = SkillSource(tmp_path).capabilities()
    assert (skill.category, skill.tags) == ("office", ("a", "b"))


def test_skills_are_found_a_few_folders_deep_in_the_order_of_their_paths(tmp_path):
    write_skill(tmp_path / "b", "second")
    write_skill(tmp_path / "a" / "deep" / "er", "first")
    write_skill(tmp_path / "1" / "2" / "3" / "4" / "5", "too deep")
    write_skill(tmp_path / ".hidden" / "x", "hidden")
    assert [skill.name for skill in SkillSource(tmp_path).capabilities()] == ["first", "second"]


def test_the_folder_may_be_one_skill(tmp_path):
    write_skill(tmp_path, "only")
    assert [skill.name for skill in SkillSource(tmp_path).capabilities()] == ["only"]


def test_a_bad_skill_is_a_problem_and_hides_no_other(tmp_path):
    write_skill(tmp_path / "good", "good")
    write_skill(tmp_path / "bad", "a: b")
    source = SkillSource(tmp_path)
    assert [problem.partition(": ")[0] for problem in source.problems] == [
        f"{tmp_path / 'bad' / 'SKILL.md'}:2"
    ]
    assert [skill.name for skill in source.capabilities()] == ["good"]


def test_the_second_skill_of_a_name_is_a_problem(tmp_path):
    write_skill(tmp_path / "a", "same", body="first")
    write_skill(tmp_path / "b", "same", body="second")
    source = SkillSource(tmp_path)
    assert [skill.body for skill in source.capabilities()] == ["first"]
    (problem,) = source.problems
    assert str(tmp_path / "a") in problem
    assert "rename one" in problem


def test_listing_again_sees_what_changed(tmp_path):
    source = SkillSource(tmp_path)
    assert source.capabilities() == ()
    write_skill(tmp_path / "new", "new")
    with pytest.raises(UnknownTool):
        source.state("new")
    assert len(source.capabilities()) == 1
    assert source.state("new") == "ready"


def test_a_folder_that_is_not_there_is_broken_and_not_empty(tmp_path):
    with pytest.raises(SourceError, match="nowhere"):
        SkillSource(tmp_path / "nowhere").capabilities()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_may_not_be_read_is_broken_and_not_empty(tmp_path):
    tmp_path.chmod(0)
    with pytest.raises(SourceError):
        SkillSource(tmp_path).capabilities()
    tmp_path.chmod(0o700)


def test_a_skill_is_read_and_not_called(tmp_path):
    write_skill(tmp_path, "x")
    with pytest.raises(UnknownTool, match="'x' is not a tool to call: read it"):
        asyncio.run(SkillSource(tmp_path).call(Call("x"), soon()))


@pytest.mark.parametrize(
    ("head", "often_with"),
    [
        ("tools: [read_file, write_file]\n", ("read_file", "write_file")),
        ("tools: read_file, write_file\n", ("read_file", "write_file")),
        ("tools: {Read: true}\n", ()),
        ("tools: [1, read_file]\n", ("read_file",)),
        ("tools: true\n", ()),
    ],
)
def test_the_tools_it_names_are_links_and_another_programs_key_does_no_harm(
    tmp_path, head, often_with
):
    write_skill(tmp_path / "x", "x", head=head)
    (skill,) = SkillSource(tmp_path).capabilities()
    assert skill.often_with == often_with


def test_what_is_hidden_in_a_skill_is_taken_out_and_reported(tmp_path):
    write_skill(
        tmp_path / "x", "p\u200bdf", head="tags: [a\u2060b]\n", body="Do \u2800\U000e0041this."
    )
    source = SkillSource(tmp_path)
    (skill,) = source.capabilities()
    assert (skill.name, skill.tags, skill.body) == ("pdf", ("ab",), "Do this.")
    assert skill.flags == ("blank", "tag", "zero-width")
    (problem,) = source.problems
    assert "SKILL.md:1: there is hidden text in it (blank, tag, zero-width)" in problem


def test_a_skill_whose_name_is_nothing_but_hidden_is_none(tmp_path):
    write_skill(tmp_path / "x", '"\u200b\u200b"')
    source = SkillSource(tmp_path)
    assert source.capabilities() == ()
    assert source.problems


def test_a_link_that_leads_out_of_the_folder_is_not_read(tmp_path):
    inside, outside = tmp_path / "skills", tmp_path / "elsewhere"
    write_skill(inside / "real", "real")
    write_skill(outside / "secret", "secret")
    (inside / "folder").symlink_to(outside / "secret")
    (inside / "file").mkdir()
    (inside / "file" / "SKILL.md").symlink_to(outside / "secret" / "SKILL.md")
    (inside / "within").symlink_to(inside / "real")
    source = SkillSource(inside)
    assert [skill.name for skill in source.capabilities()] == ["real"]
    told = [each for each in source.problems if "is a link out of" in each]
    assert [each.partition(":")[0] for each in told] == [
        str(inside / each / "SKILL.md") for each in ("file", "folder")
    ]
    (linked,) = SkillSource(inside / "folder").capabilities()  # who names a link means it
    assert linked.name == "secret"
