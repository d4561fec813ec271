from tests.cli.conftest import Run
from toolcrib.errors import UnknownTool


def test_show_tells_all_that_is_known(run: Run):
    ran = run("show", "read_file")
    assert ran.out.splitlines()[0] == "read_file (tool, ready)"
    assert "permission_kind: read" in ran.out
    assert '"type": "object"' in ran.out


def test_show_as_json_is_the_whole_capability(run: Run):
    shown = run("show", "read_file", "--json").json
    assert (shown["kind"], shown["state"], shown["name"]) == ("tool", "ready", "read_file")
    assert shown["desc"].keys() == {"en", "zh-CN"}
    assert len(shown["pin"]) == 64


def test_a_bare_name_will_do(run: Run, config: str):
    assert run("--config", config, "show", "forms", "--json").json["name"] == "skill_forms"


def test_an_unknown_name_is_an_error_with_the_nearest(run: Run):
    ran = run("show", "raed_file")
    assert isinstance(ran.error, UnknownTool)
    assert "Nearest: read_file" in str(ran.error)
