from dataclasses import replace

import pytest

from toolcrib.index import document_of, server_words
from toolcrib.index.document import FIELDS, LONGEST_TEXT
from toolcrib.model import AgentInfo, Capability, Json, SkillInfo, ToolInfo

TOOL = ToolInfo(
    name="readFile",
    title="Read a file",
    description="Gives the text of a file.",
    display={"zh-CN": "读取文件"},
    desc={"zh-CN": "给出文件的内容"},
    tags=("disk",),
    category="files",
    search_hint="open cat",
    source_id="local",
    parameters={
        "properties": {
            "path": {"type": "string", "description": "Where it lies"},
            "lines": {"items": {"properties": {"first": {"description": "From here"}}}},
        }
    },
)


def field(capability: Capability, name: str) -> tuple[str, ...]:
    return document_of(capability).fields[[*FIELDS].index(name)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("name", {"read", "file"}),
        (
            "label",
            {"read", "file", "读取", "取文", "文件", "disk", "files", "open", "cat", "local"},
        ),
        ("description", {"gives", "text", "file", "给出", "内容"}),
        ("detail", {"path", "lies", "lines", "first"}),
    ],
)
def test_each_field_has_its_terms(name: str, terms: set[str]):
    assert terms <= {*field(TOOL, name)}


def test_terms_come_with_their_stems():
    assert field(ToolInfo(name="list_files", description=""), "name") == (
        *("list", "files"),
        *("list·", "file·"),
    )


def test_stop_words_are_left_out_of_prose_and_kept_in_names():
    tool = ToolInfo(name="who_is", description="This is about the file")
    assert "is" in field(tool, "name")
    assert {*field(tool, "description")} == {"file", "file·"}


def test_labels_are_the_name_each_title_and_each_tag_in_words():
    assert document_of(TOOL).labels == (
        ("read", "file"),
        ("read", "a", "file"),
        ("读取", "取文", "文件"),
        ("disk",),
    )


def test_the_same_label_counts_once():
    tool = ToolInfo(name="read_file", description="", title="Read File", tags=("read-file",))
    assert document_of(tool).labels == (("read", "file"),)


def test_names_are_the_folded_spellings_with_and_without_prefix():
    tool = ToolInfo(name="mcp_disk_readFile", description="")
    assert document_of(tool).names == ("mcpdiskreadfile",)
    assert document_of(tool, bare="readFile").names == ("mcpdiskreadfile", "readfile")


def test_the_id_is_the_name_or_what_is_given():
    assert document_of(TOOL).id == "readFile"
    assert document_of(TOOL, id="other").id == "other"


def test_the_text_to_embed_has_server_name_title_prose_and_parameters():
    assert document_of(replace(TOOL, source_id="acme-disk-mcp")).text == (
        "acme disk open cat\n"
        "readFile\nRead a file\nGives the text of a file.\n给出文件的内容\npath lines"
    )


@pytest.mark.parametrize(
    ("source_id", "expected"),
    [("acme-jira-mcp", "acme jira"), ("mcpServerTest", ""), ("", ""), ("my jira Jira", "jira")],
)
def test_of_a_server_only_the_words_are_embedded_that_say_what_it_is_for(source_id, expected):
    assert server_words(source_id) == expected


def test_the_knowledge_of_a_skill_and_the_skills_of_an_agent_are_detail():
    skill = SkillInfo(name="s", description="", body="Fold paper cranes")
    agent = AgentInfo(name="a", description="", skills=("Books flights",))
    assert {"paper", "cranes"} <= {*field(skill, "detail")}
    assert {"books", "flights"} <= {*field(agent, "detail")}


def test_a_long_text_is_cut():
    tool = ToolInfo(name="t", description="word " * LONGEST_TEXT)
    assert len(document_of(tool).text) == LONGEST_TEXT


def test_a_schema_is_read_only_so_deep():
    schema: Json = {}
    for number in range(50):
        schema = {"properties": {f"level{50 - number}": schema}}
    assert isinstance(schema, dict)
    terms = field(ToolInfo(name="t", description="", parameters=schema), "detail")
    assert "level" in terms
    assert "level50" not in terms


@pytest.mark.parametrize(
    "schema", [{}, {"properties": None}, {"properties": {"x": True}}, {"items": [1]}]
)
def test_an_odd_schema_is_no_error(schema: dict[str, Json]):
    document_of(ToolInfo(name="t", description="", parameters=schema))
