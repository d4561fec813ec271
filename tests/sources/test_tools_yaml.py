import asyncio
import re
import textwrap

import pytest

from tests.workshop import soon
from toolcrib.errors import DeclarationError
from toolcrib.model import Call
from toolcrib.sources import FunctionSource, declare_tools, tool

SEED = """\
web_search:
  available: true
  searchable: true
  category: information
  tags: [web, search, internet]
  display:
    en: Web Search
    zh-CN: 网页搜索
  desc:
    en: Search the web and return results
    zh-CN: 搜索网页并返回结果
  platforms: all
  required: false
"""


def web_search(query: str) -> str:
    """From the docstring."""
    return query


@pytest.fixture
def source():
    source = FunctionSource()
    source.add(web_search)
    return source


@pytest.fixture
def declared(tmp_path):
    def declare_text(text, source=None, **options):
        path = tmp_path / "tools.yaml"
        path.write_text(textwrap.dedent(text).strip(), encoding="utf-8")
        return declare_tools(source or FunctionSource(), path, **options)

    return declare_text


def test_the_entry_of_the_seed_describes_a_function_that_was_added(declared, source):
    (info,) = declared(SEED, source)
    assert source.capabilities() == (info,)
    assert (info.name, info.title) == ("web_search", "Web Search")
    assert info.description == "Search the web and return results"
    assert (info.category, info.tags) == ("information", ("web", "search", "internet"))
    assert info.display == {"en": "Web Search", "zh-CN": "网页搜索"}
    assert info.desc["zh-CN"] == "搜索网页并返回结果"
    assert (info.enabled, info.searchable, info.required) == (True, True, False)
    assert (info.platforms, info.platform_available) == (("all",), True)


def test_an_entry_with_a_function_adds_it_under_the_name_of_the_entry(declared):
    source = FunctionSource()
    (info,) = declared(
        """
        base:
          function: posixpath:basename
          permission_kind: read
          defer: never
          search_hint: file name
        """,
        source,
    )
    assert (info.name, info.permission_kind, info.defer) == ("base", "read", "never")
    assert info.search_hint == "file name"
    outcome = asyncio.run(source.call(Call("base", {"p": "a/b"}), soon()))
    assert outcome.content == "b"


def test_a_key_left_out_says_nothing(declared):
    @tool(permission_kind="read", tags=["kept"], enabled=False, title="Kept", platforms=["linux"])
    def kept():
        """Kept too."""

    source = FunctionSource()
    before = source.add(kept)
    (info,) = declared("kept: {category: new}", source)
    assert info.category == "new"
    assert (info.tags, info.enabled, info.title) == (before.tags, False, "Kept")
    assert (info.description, info.platforms) == ("Kept too.", ("linux",))


def test_without_english_the_first_language_speaks(declared, source):
    (info,) = declared(
        """
        web_search:
          display: {zh-CN: 搜索, de: Suche}
          desc: {de: Sucht, zh-CN: 搜索}
        """,
        source,
    )
    assert (info.title, info.description) == ("搜索", "Sucht")


def test_without_a_description_the_docstring_speaks(declared, source):
    (info,) = declared("web_search: {available: false}", source)
    assert (info.description, info.enabled) == ("From the docstring.", False)


@pytest.mark.parametrize(
    ("platforms", "platform", "available"),
    [
        ("all", "win32", True),
        ("[linux, macos]", "linux", True),
        ("[linux, macos]", "darwin", True),
        ("[linux, macos]", "win32", False),
        ("windows", "win32", True),
        ("windows", "linux", False),
        ("[linux]", "freebsd14", False),
    ],
)
def test_a_tool_is_available_on_its_platforms(declared, source, platforms, platform, available):
    (info,) = declared(f"web_search: {{platforms: {platforms}}}", source, platform=platform)
    assert info.platform_available is available


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("web_search:\n  tag: [a]", r"yaml:2: web_search\.tag: unknown key; did you mean 'tags'\?"),
        ("web_search:\n  zzz: 1", r"yaml:2: web_search\.zzz: unknown key; remove it"),
        ("web_search:\n  available: maybe", r"yaml:2: web_search\.available: .*boolean"),
        ("web_search:\n  tags:\n    - a\n    - 1", r"yaml:4: web_search\.tags\.1: .*string"),
        ("web_search:\n  platforms: [linux, amiga]", r"yaml:2: web_search\.platforms\.1: .*'all'"),
        ("web_search:\n  desc: text", r"yaml:2: web_search\.desc: must be a mapping"),
        ("web_search:\n  permission_kind: root", r"yaml:2: .*permission_kind: .*'dangerous'"),
        ("web_search: text", r"yaml:1: web_search: must be a mapping"),
        ("other:\n  category: x", r"yaml:1: other: no function of this name .*'function'"),
        ("web_search:\n  function: os:getcwd", r"yaml:2: .*function: .*added already"),
        ("x:\n  function: os", r"yaml:2: x\.function: 'os' is not 'package\.module:name'"),
        ("x:\n  function: os:nope", r"yaml:2: x\.function: .*'nope'"),
        ("x:\n  function: no_such_module:fn", r"yaml:2: x\.function: .*no_such_module"),
        ("x:\n  function: os:sep", r"yaml:2: x\.function: .*is not a function"),
        ("x:\n  function: os:PathLike", r"yaml:2: x\.function: .*is not a function"),
        ("x:\n  function: posixpath:join", r"yaml:2: x\.function: .*\*p has no name"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_key(declared, source, text, message):
    declared(text, source)
    (problem,) = source.problems
    assert re.search(message, problem)


def test_a_file_that_is_no_mapping_is_refused(declared):
    with pytest.raises(DeclarationError, match=r"yaml:1: must be a mapping"):
        declared("- web_search")


def test_every_mistake_is_named_and_costs_no_other_entry(declared, source):
    found = declared(
        """
        cwd: {function: 'os:getcwd'}
        bad: {serachable: true, tags: 3}
        web_search: {category: x}
        last: {}
        web_search2: {function: 'os:nope'}
        """,
        source,
    )
    assert [info.name for info in found] == ["cwd", "web_search"]
    assert {info.name for info in source.capabilities()} == {"cwd", "web_search"}
    wrong = "\n".join(source.problems)
    assert len(source.problems) == 4
    for part in ("did you mean 'searchable'?", "bad.tags:", "web_search2.function:", "last: no"):
        assert part in wrong


def test_an_entry_describes_a_function_that_is_added_later(declared):
    source = FunctionSource()
    assert declared(SEED, source) == ()
    assert "web_search: no function of this name was added" in source.problems[0]
    info = source.add(web_search, category="other")
    assert (info.title, info.category) == ("Web Search", "information")
    assert info.desc["zh-CN"] == "搜索网页并返回结果"
    assert source.problems == ()


def test_two_descriptions_of_one_function_are_one_too_many(declared, source):
    declared("web_search: {category: a}", source)
    declared("web_search: {category: b}", source)
    assert source.capabilities()[0].category == "a"
    assert "described already" in source.problems[0]


def test_an_empty_file_declares_nothing(declared):
    assert declared("# later") == ()


def test_links_to_others_are_kept_with_where_they_stand(declared, source):
    (info,) = declared("web_search: {often_with: [read_file, write_file]}", source)
    assert info.often_with == ("read_file", "write_file")
    assert [link for _, link in source.links] == ["read_file", "write_file"]
    assert all("web_search.often_with." in place for place in source.links.values())


def test_links_that_are_no_list_of_names_are_refused(declared, source):
    declared("web_search: {often_with: 3}", source)
    assert ":1: web_search.often_with" in source.problems[0]
