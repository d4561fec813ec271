import json
from dataclasses import replace
from pathlib import Path

import pytest

from toolcrib.client_config.entry_format import exact_names, exact_pattern
from toolcrib.errors import ConfigError
from toolcrib.settings import own_servers_file
from toolcrib.sources.mcp import OwnServersFile, ServerConfig, Switches, read_servers


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our own file, in a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    file = own_servers_file()
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"mcpServers": {"ours": {"command": "x"}}}))
    return file


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    file = tmp_path / "theirs.json"
    file.write_text(json.dumps({"mcpServers": {"other": {"command": "y", "disabled": True}}}))
    return file


def config(own: Path, theirs: Path, id: str, problems: int = 0) -> ServerConfig:
    found = read_servers([own, theirs])
    assert len(found.problems) == problems
    return next(each for each in found.servers if each.id == id)


@pytest.mark.parametrize(
    ("enabled", "disabled", "left"),
    [
        (None, (), {"read", "delete_a", "delete_b"}),
        (None, ("delete_*",), {"read"}),
        (("read", "delete_a"), ("delete_a",), {"read"}),
        (("*",), (), {"read", "delete_a", "delete_b"}),
        ((), (), set[str]()),
    ],
)
def test_which_tools_are_left(
    own: Path, enabled: tuple[str, ...] | None, disabled: tuple[str, ...], left: set[str]
):
    entry = {"command": "x", "enabled_tools": enabled, "disabled_tools": disabled}
    own.write_text(json.dumps({"mcpServers": {"ours": entry}}))
    (server,) = read_servers([own]).servers
    assert {tool for tool in ("read", "delete_a", "delete_b") if server.enables(tool)} == left


@pytest.mark.parametrize("key", ["enabled_tools", "disabled_tools"])
def test_a_list_that_cannot_be_read_takes_all_tools_away(own: Path, key: str):
    own.write_text(json.dumps({"mcpServers": {"ours": {"command": "x", key: "delete_a"}}}))
    found = read_servers([own])
    assert "a list of tool names" in found.problems[0]
    assert not found.servers[0].enables("read")


def test_what_is_said_of_a_server_elsewhere_stands_in_our_file(own: Path, theirs: Path):
    there = theirs.read_text()
    base = Switches(disabled=True)
    assert OwnServersFile(own).change_switches(
        "other", base, lambda _now: Switches(False, None, ("a",))
    )
    assert config(own, theirs, "other").enables("b")
    assert not config(own, theirs, "other").enables("a")
    assert not OwnServersFile(own).change_switches("other", base, lambda now: now)
    assert OwnServersFile(own).change_switches("other", base, lambda _now: base)
    assert json.loads(own.read_text()) == {"mcpServers": {"ours": {"command": "x"}}}
    assert config(own, theirs, "other").disabled
    assert theirs.read_text() == there


def test_a_file_that_is_not_ours_cannot_override(own: Path, theirs: Path, tmp_path: Path):
    third = tmp_path / "third.json"
    third.write_text(json.dumps({"mcpServers": {}, "overrides": {"other": {"disabled": False}}}))
    (other,) = read_servers([third, theirs]).servers
    assert other.disabled
    assert own not in (third, theirs)


def test_an_override_can_say_no_more_than_what_is_off(own: Path, theirs: Path):
    over = {"other": {"command": "evil", "disabled": False}, "x": 7}
    own.write_text(json.dumps({"mcpServers": {}, "overrides": over}))
    found = read_servers([own, theirs])
    assert found.servers[0].transport.command == "y"  # pyright: ignore[reportAttributeAccessIssue]
    assert not found.servers[0].disabled
    assert [problem.partition(": ")[2][:9] for problem in found.problems] == ["overrides"] * 2


def test_a_narrower_name_does_not_undo_a_wider_pattern():
    off = Switches().without("delete_*").without("drop")
    with pytest.raises(ConfigError, match=r"'delete_\*'; enable that"):
        off.with_("delete_a")
    assert off.with_("d*") == Switches()
    assert off.with_("drop") == Switches(disabled_tools=("delete_*",))


def test_a_tool_that_a_list_left_out_is_put_on_it():
    assert Switches(enabled_tools=("a",)).with_("b") == Switches(enabled_tools=("a", "b"))
    assert Switches(enabled_tools=("a",)).with_("a") == Switches(enabled_tools=("a",))


@pytest.mark.parametrize("name", ["plain", "a*b", "what?", "x[1]", "[*]"])
def test_a_name_becomes_a_pattern_for_itself_alone(name: str):
    server = ServerConfig("a", None, enabled_tools=(exact_pattern(name),))  # pyright: ignore[reportArgumentType]
    assert server.enables(name)
    assert not server.enables("axb")
    assert exact_names([exact_pattern(name)]) == (name,)


def test_a_pattern_names_nobody():
    assert exact_names(["a", "b*"]) is None


def test_a_server_that_moves_into_our_file_stays_switched_off(own: Path, theirs: Path):
    off = Switches(disabled=True, disabled_tools=("a",))
    OwnServersFile(own).change_switches("other", Switches(), lambda _now: off)
    top = json.loads(own.read_text())
    top["mcpServers"]["other"] = {"command": "y"}
    own.write_text(json.dumps(top))
    assert config(own, theirs.with_name("none.json"), "other", problems=1).disabled
    OwnServersFile(own).change_switches(
        "other", Switches(), lambda now: replace(now, disabled=False)
    )
    assert json.loads(own.read_text()) == {
        "mcpServers": {
            "ours": {"command": "x"},
            "other": {"command": "y", "disabled_tools": ["a"]},
        }
    }
