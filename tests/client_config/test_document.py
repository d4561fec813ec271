"""An edit changes what it should and nothing else: the heart of the matter."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcrib.client_config.document import edit_document, read_document, table_at
from toolcrib.client_config.jsonc import parse_jsonc
from toolcrib.client_config.toml import edit_toml
from toolcrib.errors import ConfigError

PATH = ("outer", "servers")
names = st.text(alphabet="ab.\"\\/ {}#=[]ä'", min_size=1, max_size=6)
entries = st.dictionaries(
    st.sampled_from(["command", "url", "args", "env", "on"]),
    st.text(max_size=8)
    | st.booleans()
    | st.integers()
    | st.lists(st.text(max_size=4), max_size=3)
    | st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=2),
    max_size=4,
)
tables = st.dictionaries(names, entries, max_size=5)
comments = st.sampled_from(["", " ", "\n", "\n  ", '// a, "b": {}\n', "/* x: } , */", "\r\n\t"])


@st.composite
def relaxed(draw: st.DrawFn, value: object) -> str:
    """The value as JSON, with comments and trailing commas wherever they may stand."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    text = "{" + draw(comments)
    items = list(value.items())
    for number, (key, inner) in enumerate(items):
        text += json.dumps(key) + draw(comments) + ":" + draw(comments) + draw(relaxed(inner))
        text += draw(comments)
        if number < len(items) - 1 or draw(st.booleans()):
            text += "," + draw(comments)
    return text + "}"


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    before, after = draw(tables), draw(st.dictionaries(names, st.integers(), max_size=2))
    servers = draw(tables)
    top: dict[str, Any] = {"first": before, "outer": {"servers": servers, "z": after}, "last": 1}
    return draw(comments) + draw(relaxed(top)) + draw(comments), top


@given(documents(), st.data())
def test_an_edit_of_json_changes_its_object_and_nothing_else(
    document: tuple[str, dict[str, Any]], data: st.DataObject
):
    text, top = document
    there = top["outer"]["servers"]
    drop = data.draw(st.sets(st.sampled_from(sorted(there)))) if there else set[str]()
    put = data.draw(tables)
    changed = edit_document(text, "json", PATH, drop, put)
    expected = {key: each for key, each in there.items() if key not in drop} | put
    assert table_at(read_document(changed, "json"), PATH) == expected
    outside, now_outside = _around(text), _around(changed)
    assert now_outside == outside


def _around(text: str) -> tuple[str, str]:
    """What stands before and after the object at the path."""
    node = parse_jsonc(text)
    for key in PATH:
        assert node
        node = next(each.node for each in node.members if each.key == key)
    assert node
    return text[: node.start], text[node.end :]


def quoted(text: object) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_table(path: tuple[str, ...], value: Mapping[str, Any], gap: str) -> str:
    lines = ["[" + ".".join(map(quoted, path)) + "]"]
    lines += [f"{quoted(key)} = {toml_value(each)}" for key, each in value.items()]
    return "\n".join(lines) + "\n" + gap


def toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[\n" + "".join(f"  {toml_value(each)}, # ]\n" for each in value) + "]"
    return quoted(value)


gaps = st.sampled_from(["", "\n", "\n\n", "# [mcp.a]\n", "\n# about\n"])


@given(tables, tables, tables, st.data())
def test_an_edit_of_toml_changes_its_tables_and_nothing_else(
    servers: dict[str, Any], others: dict[str, Any], put: dict[str, Any], data: st.DataObject
):
    pieces = [(("mcp", name), entry) for name, entry in servers.items()]
    pieces += [(("other", name), entry) for name, entry in others.items()]
    order = data.draw(st.permutations(pieces))
    parts = [(path, toml_table(path, entry, data.draw(gaps))) for path, entry in order]
    text = 'top = """\n[mcp.no]\n"""\n' + "".join(part for _, part in parts)
    drop = data.draw(st.sets(st.sampled_from(sorted(servers)))) if servers else set[str]()
    changed = edit_document(text, "toml", ("mcp",), drop, put)
    expected = {name: each for name, each in servers.items() if name not in drop} | put
    assert tomllib.loads(changed).get("mcp", {}) == expected
    stay = [part for path, part in parts if path[0] == "other" or path[1] not in {*drop, *put}]
    place = 0
    for part in stay:  # each in its order, to the letter but for blank lines after it
        place = changed.index(part.rstrip("\n"), place) + len(part.rstrip("\n"))


def test_what_an_edit_leaves_is_as_it_was_written():
    text = """\
{
    // mine
    "a": {"command": "a"}, // first
    "b": {
        "command": "b" },
    "c": {"command": "c"} // last
}
"""
    assert edit_document(text, "json", (), ["b"]) == text.replace(
        '    "b": {\n        "command": "b" },\n', ""
    )
    assert edit_document(text, "json", (), ["c"]) == text.replace(
        '        "command": "b" },\n    "c": {"command": "c"} // last\n',
        '        "command": "b" }\n    // last\n',
    )
    assert (
        edit_document(text, "json", (), ["a", "b", "c"], {})
        == "{\n    // mine\n    // first\n    // last\n}\n"
    )
    assert edit_document(text, "json", (), [], {"d": {"on": True}}) == text.replace(
        '"c"} // last\n', '"c"}, // last\n    "d": {\n        "on": true\n    }\n'
    )


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", '{\n  "servers": {\n    "d": {\n      "on": true\n    }\n  }\n}\n'),
        ("{}", '{\n  "servers": {\n    "d": {\n      "on": true\n    }\n  }\n}'),
        ('{"a": 1}', '{"a": 1, "servers": {"d": {"on": true}}}'),
        ('{"servers": {}}', '{"servers": {\n  "d": {\n    "on": true\n  }\n}}'),
        ('{"servers": null}', '{"servers": {"d": {"on": true}}}'),
        ('{"servers": {"a": {},}}', '{"servers": {"a": {}, "d": {"on": true},}}'),
    ],
)
def test_a_member_is_put_in_the_manner_of_the_file(text: str, changed: str):
    assert edit_document(text, "json", ("servers",), [], {"d": {"on": True}}) == changed


def test_lines_end_and_are_indented_as_they_are_in_the_file():
    text = '{\r\n\t"servers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n'
    new = ',\r\n\t\t"d": {\r\n\t\t\t"on": true\r\n\t\t}'
    changed = edit_document(text, "json", ("servers",), [], {"d": {"on": True}})
    assert changed == text.replace('"a": {}', '"a": {}' + new)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "an object at the top"),
        ('{"servers": []}', "'servers' is not an object"),
        ('{"servers": 3}', "'servers' is not an object"),
        ("nonsense", "line 1"),
    ],
)
def test_json_that_cannot_hold_servers_is_refused(text: str, said: str):
    with pytest.raises(ConfigError, match=said):
        edit_document(text, "json", ("servers",), [], {"d": {}})


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", "[mcp.d]\non = true\n"),
        ("a = 1", "a = 1\n\n[mcp.d]\non = true\n"),
        ("[x]\na = 1\n", "[x]\na = 1\n\n[mcp.d]\non = true\n"),
        ("[mcp.old]\na = 1\n\n[x]\n", "[mcp.d]\non = true\n\n[x]\n"),
        ("[mcp.old]\na = 1\n[mcp.old.env]\nb = 1\n# x\n[x]\n", "[mcp.d]\non = true\n# x\n[x]\n"),
        ("mcp.old.a = 1\nx = 1\n", "x = 1\n\n[mcp.d]\non = true\n"),
        ("[mcp]\nold = {a = 1}\nkeep = {a = 1}\n", "[mcp]\nkeep = {a = 1}\n\n[mcp.d]\non = true\n"),
        ("[mcp.'old']\r\na = 1\r\n", "[mcp.d]\r\non = true\r\n"),
    ],
)
def test_a_table_is_put_where_the_first_was_or_at_the_end(text: str, changed: str):
    assert edit_document(text, "toml", ("mcp",), ["old"], {"d": {"on": True}}) == changed


def test_toml_in_one_line_is_refused_with_the_remedy():
    with pytest.raises(ConfigError, match="write each server as a table of its own"):
        edit_document("mcp = {a = {x = 1}}", "toml", ("mcp",), ["a"])


def test_toml_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="not TOML"):
        read_document("a = ", "toml")


CODEX = """\
# my settings
model = "small"   # cheap

[mcp_servers.docs]
command = "npx"

[mcp_servers.docs.env]
KEY = "x" # mine

# ---- profiles ----
[profiles.fast]
model = "tiny"

[mcp_servers."with.dot"]
command = 'c:\\tools\\x.exe'

[history]
persistence = "none"  # nothing
"""
EDITED = """\
# my settings
model = "small"   # cheap

[mcp_servers.toolcrib]
command = "toolcrib"

# ---- profiles ----
[profiles.fast]
model = "tiny"

[history]
persistence = "none"  # nothing
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_codex_file_whose_servers_stand_apart_keeps_all_else(mark: str, end: str):
    before, after = (mark + each.replace("\n", end) for each in (CODEX, EDITED))
    put = {"toolcrib": {"command": "toolcrib"}}
    assert edit_toml(before, ("mcp_servers",), ["docs", "with.dot"], put) == after
