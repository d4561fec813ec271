import pytest

from tests.workshop import SEEN, pooled
from toolcrib.execute import CallRefused, VisibleTools

VISIBLE = VisibleTools(pooled(*SEEN))


def test_a_name_is_the_name_or_the_bare_name_that_only_one_has():
    assert VISIBLE.resolve("mcp_github_create_issue").bare == "create_issue"
    assert VISIBLE.resolve("list_issues").name == "mcp_github_list_issues"
    assert VISIBLE.among(["read_file", "none"]) == ("read_file",)


@pytest.mark.parametrize(
    ("name", "code", "named"),
    [
        ("create_issue", "ambiguous_name", "mcp_github_create_issue, mcp_jira_create_issue"),
        ("read_fil", "unknown_tool", "read_file"),
        ("x" * 9_999, "unknown_tool", "none"),
    ],
)
def test_any_other_is_refused_with_names_that_may_be_seen(name: str, code: str, named: str):
    with pytest.raises(CallRefused) as refused:
        VISIBLE.resolve(name)
    assert refused.value.error.code == code
    assert named in refused.value.error.message
    assert len(refused.value.error.message) < 400


def test_what_others_have_makes_no_name_ambiguous():
    few = VisibleTools({name: e for name, e in VISIBLE.entries.items() if "jira" not in name})
    assert few.resolve("create_issue").name == "mcp_github_create_issue"
