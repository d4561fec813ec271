import pytest

from toolcrib.search import Search, is_identifier
from toolcrib.search.name_mentions import QUOTED, RESPELT, VERBATIM, mentioned_names


def strength(search: Search, text: str, name: str) -> float:
    return mentioned_names(text, search.view, search.entries).get(name, 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "write_file",
        '"write_file"',
        "`write_file`",
        "'write_file'",
        "“write_file”",
        "「write_file」",
        "write_file.",
        " write_file ? ",
        "(write_file)",
    ],
)
def test_a_name_verbatim_counts_in_full_whatever_it_is_wrapped_in(search: Search, text: str):
    assert strength(search, text, "write_file") == VERBATIM


@pytest.mark.parametrize(
    "text",
    ["write file", "Write File", "writeFile", "WRITE-FILE", "please write file", "write.file"],
)
def test_another_spelling_counts_half(search: Search, text: str):
    assert strength(search, text, "write_file") == RESPELT


@pytest.mark.parametrize(
    "text",
    [
        "use write_file to save the summary",
        "use `write_file` to save it",
        'call "write file" on it',
        "用「write_file」保存",
        "is there a writeFile somewhere?",
    ],
)
def test_a_name_in_a_sentence_counts_a_quarter(search: Search, text: str):
    assert strength(search, text, "write_file") == QUOTED


def test_a_plain_word_in_a_sentence_is_a_name_when_it_is_said_to_be_a_tool(search: Search):
    assert strength(search, "crop it with the resize tool", "sdk_photos_resize") == QUOTED
    assert strength(search, "resize this picture", "sdk_photos_resize") == 0


def test_words_that_make_up_a_name_in_a_sentence_are_no_name(search: Search):
    assert not mentioned_names("write a text into some file", search.view, search.entries)


@pytest.mark.parametrize("text", ["list_channels", "mcp_slack_list_channels"])
def test_the_bare_name_and_the_full_one_are_both_verbatim(search: Search, text: str):
    assert strength(search, text, "mcp_slack_list_channels") == VERBATIM


def test_a_bare_name_names_all_that_have_it(search: Search):
    assert mentioned_names("create_issue", search.view, search.entries) == {
        "mcp_github_create_issue": VERBATIM,
        "mcp_jira_create_issue": VERBATIM,
    }


@pytest.mark.parametrize("text", ["", "…", "nothing_like_it", "\0", "\ud800"])
def test_what_is_no_name_names_nothing(search: Search, text: str):
    assert not mentioned_names(text, search.view, search.entries)


@pytest.mark.parametrize(
    "word",
    ["write_file", "create-issue", "fs.read", "a/b", "getForecast", "s3", "base64", "GitHub"],
)
def test_some_words_look_like_names_and_like_nothing_else(word: str):
    assert is_identifier(word)


@pytest.mark.parametrize(
    "word", ["file", "File", "FILE", "", "_", "-x", "x-", "读取", "write file"]
)
def test_other_words_could_be_anything(word: str):
    assert not is_identifier(word)
