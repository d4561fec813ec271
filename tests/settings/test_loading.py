import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolcrib.errors import ConfigError
from toolcrib.settings import CONFIG_VARIABLE, Settings, documented, load_settings
from toolcrib.settings.loading import NOT_SETTINGS
from toolcrib.settings.schema import REMOVED, Documented
from toolcrib.system.child_process import LAUNCH_VARIABLE

DOCS = Path(__file__).parents[2] / "docs"
ALL = list(documented())
KEYS = [each.key for each in ALL]


def same(one: Settings, other: Settings) -> bool:
    """Whether all that can be set is the same."""
    return one.model_dump() == other.model_dump()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings" / "mine.toml"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(environ: dict[str, str], path: Path | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load_settings(environ, path)
    return str(caught.value)


def test_with_nothing_set_everything_has_its_default():
    assert same(load_settings({}), Settings())


def test_the_file_wins_over_the_defaults_and_the_environment_over_the_file(file: Path):
    write(file, 'index = "memory"\n[search]\nlimit = 6\nmost = 7\n')
    settings = load_settings({"TOOLCRIB_SEARCH__LIMIT": "4"}, file)
    assert settings.index == "memory"
    assert (settings.search.limit, settings.search.most, settings.search.schemas) == (4, 7, 3)


def test_the_environment_alone_is_enough():
    settings = load_settings({"TOOLCRIB_INDEX": "sqlite", "TOOLCRIB_EMBED__WAIT_S": "9.5"})
    assert (settings.index, settings.embed.wait_s) == ("sqlite", 9.5)


@pytest.mark.parametrize(("said", "meant"), [("true", True), ("0", False), ("no", False)])
def test_a_switch_in_the_environment_is_said_in_words(said: str, meant: bool):
    assert load_settings({"TOOLCRIB_PLUGINS": said}).plugins is meant


def test_variables_that_are_not_ours_say_nothing():
    environ = {"SEARCH__LIMIT": "3", "toolcrib_index": "sqlite", "PATH": "/bin"}
    assert same(load_settings(environ), Settings())


def test_the_folder_of_the_benchmarks_is_no_setting():
    assert same(load_settings({"TOOLCRIB_BENCH_DIR": "/somewhere"}), Settings())


def test_lists_in_the_environment_are_separated_by_commas():
    environ = {
        "TOOLCRIB_SKILLS": "/a, /b ,,/c",
        "TOOLCRIB_SEARCH__INTERNAL": "mcp_plumbing_*,noop",
        "TOOLCRIB_AGENTS": "",
    }
    settings = load_settings(environ)
    assert settings.skills == (Path("/a"), Path("/b"), Path("/c"))
    assert settings.search.internal == ("mcp_plumbing_*", "noop")
    assert settings.agents == ()


def test_text_in_the_environment_keeps_its_commas():
    assert load_settings({"TOOLCRIB_EMBED__MODEL": "a,b"}).embed.model == "a,b"


def test_the_file_is_the_one_that_is_named(file: Path, home: Path):
    write(file, 'index = "sqlite"')
    write(home / ".config" / "toolcrib" / "config.toml", 'index = "memory"')
    assert load_settings({CONFIG_VARIABLE: str(file)}).index == "sqlite"
    assert load_settings({CONFIG_VARIABLE: "/not/there.toml"}, file).index == "sqlite"


@pytest.mark.skipif(os.name == "nt", reason="the folder has another name there")
def test_without_a_name_it_is_the_one_in_the_configuration_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    write(tmp_path / "toolcrib" / "config.toml", 'index = "sqlite"')
    assert load_settings({}).index == "sqlite"


@pytest.mark.parametrize(
    "name", ["config.toml", "toolcrib.toml", ".toolcrib.toml", "toolcrib/config.toml"]
)
def test_no_file_is_read_from_the_working_directory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write(tmp_path / name, 'index = "sqlite"')
    monkeypatch.chdir(tmp_path)
    assert same(load_settings({}), Settings())


def test_a_file_that_is_named_has_to_be_there(file: Path):
    assert refusal({}, file).startswith(f"{file}: there is no such settings file; create it")
    assert refusal({CONFIG_VARIABLE: str(file)}).startswith(
        f"{file}: there is no such settings file"
    )


@pytest.mark.parametrize("content", [b"index = ", b"\xff\xfe", b"[search\nlimit = 1"])
def test_a_file_that_is_not_toml_is_named(file: Path, content: bytes):
    write(file, "").write_bytes(content)
    assert refusal({}, file).startswith(f"{file}: not readable as TOML: ")


def test_a_folder_is_no_settings_file(tmp_path: Path):
    assert refusal({}, tmp_path).startswith(f"{tmp_path}: cannot be read: Is a directory")


@pytest.mark.parametrize(
    ("text", "where", "key", "nearest"),
    [
        ('indexx = "memory"', "", "indexx", "index"),
        ("limit = 3", "", "limit", "search.limit"),
        ("[search]\nlimits = 3", "[search] ", "limits", "search.limit"),
        ('[embed]\napi_keys = "x"', "[embed] ", "api_keys", "embed.api_key"),
        ("[serch]\nlimit = 3", "", "serch", "search"),
        ("[gatway]\nport = 3", "", "gatway", "gateway"),
        (
            '[gateway.profiles.ops]\nserverz = ["a"]',
            "[gateway] [profiles.ops] ",
            "serverz",
            "gateway.profiles.ops.servers",
        ),
    ],
)
def test_an_unknown_key_in_the_file_is_refused_with_the_nearest(
    file: Path, text: str, where: str, key: str, nearest: str
):
    expected = f"{file}: {where}there is no setting {key!r}; the nearest is {nearest!r}"
    assert refusal({}, write(file, text)) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[search]\nk = 50", "[search] 'k' is no longer a setting: "),
        ("[search]\nweight_bm25 = 2", "`search.weight_vector`"),
        ("[call]\nresult_bytes = 9000", "set `call.page_tokens`"),
        ("[weights]\nname = 3", "'weights' is no longer a setting: "),
        ('[search]\nfusion = "lifts"', "`lifts` is called `zscore` now"),
    ],
)
def test_what_was_a_setting_says_what_to_do(file: Path, text: str, told: str):
    assert told in refusal({}, write(file, text))


def test_what_was_a_setting_is_known_in_the_environment_too():
    told = refusal({"TOOLCRIB_WEIGHTS__NAME": "3"})
    assert told.startswith("TOOLCRIB_WEIGHTS__NAME: 'weights' is no longer a setting: ")


def test_no_setting_is_said_to_be_gone():
    assert not REMOVED.keys() & {*KEYS, *Settings.keys}


@pytest.mark.parametrize(
    ("variable", "where", "key", "nearest"),
    [
        ("TOOLCRIB_INDX", "", "indx", "index"),
        ("TOOLCRIB_LIMIT", "", "limit", "search.limit"),
        ("TOOLCRIB_SEARCH__LIMT", "[search] ", "limt", "search.limit"),
        ("TOOLCRIB_SERCH__LIMIT", "", "serch", "search"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest(
    variable: str, where: str, key: str, nearest: str
):
    expected = f"{variable}: {where}there is no setting {key!r}; the nearest is {nearest!r}"
    assert refusal({variable: "1"}) == expected


@given(st.text(st.characters(codec="ascii", categories=["Lu", "Nd"]) | st.just("_")))
@example("")
@example("__")
@example("SEARCH__")
@example("SEARCH__LIMIT__X")
@example("KEY")
def test_whatever_a_variable_is_called_it_is_a_setting_or_an_error_that_names_it(name: str):
    variable = f"TOOLCRIB_{name}"
    if name.lower().replace("__", ".") in KEYS or variable in NOT_SETTINGS:
        return
    assert variable in refusal({variable: "1"})


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('index = "postgres"', "index"),
        ("[search]\nlimit = 0", "search.limit"),
        ("[search]\ncut_ratio = 1.0", "search.cut_ratio"),
        ("[search]\nweight_vector = -1", "search.weight_vector"),
        ('[search]\nfusion = "ranks"', "search.fusion"),
        ("[embed]\nretries = -1", "embed.retries"),
        ("plugins = 7", "plugins"),
        ("search = 7", "search"),
        ('tools = "a.yaml"', "tools"),
        ("tools = [1]", "tools.0"),
        ("store = 1", "store"),
    ],
)
def test_a_bad_value_in_the_file_names_the_setting_and_the_file(file: Path, text: str, key: str):
    message = refusal({}, write(file, text))
    assert message.startswith(f"setting {key}: ")
    assert str(file) in message


def test_a_bad_value_in_the_environment_names_the_setting_the_value_and_the_variable():
    message = refusal({"TOOLCRIB_SEARCH__LIMIT": "many"})
    assert message.startswith("setting search.limit: ")
    assert "'many'" in message
    assert message.endswith("the environment (TOOLCRIB_SEARCH__LIMIT)")


SCALARS = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\x7f"), max_size=20)
    | st.sampled_from(["~nobody-of-this-name/x", "~", "\0", "memory"])
)


@given(key=st.sampled_from(KEYS), value=SCALARS | st.lists(SCALARS, max_size=3))
def test_whatever_a_file_says_it_is_settings_or_an_error_that_says_where(
    key: str, value: object, tmp_path_factory: pytest.TempPathFactory
):
    section, _, name = key.rpartition(".")
    head = f"[{section}]\n" if section else ""
    file = write(
        tmp_path_factory.getbasetemp() / "whatever.toml", f"{head}{name} = {json.dumps(value)}"
    )
    try:
        told = repr(load_settings({}, file))
    except ConfigError as error:
        told = str(error)
    assert told.startswith("Settings(") or str(file) in told


def test_relative_paths_in_a_file_start_from_its_folder(file: Path, home: Path):
    text = 'store = "catalog.db"\ntools = ["my/tools.yaml"]\nskills = ["/abs", "~/skills"]'
    settings = load_settings({}, write(file, text))
    assert settings.store == str(file.parent / "catalog.db")
    assert settings.tools == (file.parent / "my/tools.yaml",)
    assert settings.skills == (Path("/abs"), home / "skills")


def test_a_store_in_memory_is_no_path(file: Path):
    assert load_settings({}, write(file, 'store = ":memory:"')).store_path == ":memory:"


def test_glossaries_start_from_the_folder_of_the_file_too(file: Path):
    settings = load_settings({}, write(file, '[search]\nglossaries = ["mine.txt"]'))
    assert settings.search.glossaries == (file.parent / "mine.txt",)


def test_the_store_is_in_the_user_s_data_folder_unless_it_is_named(home: Path):
    assert Path(Settings().store_path).is_relative_to(home)
    assert Path(Settings().store_path).name == "catalog.db"
    assert Settings(store="/x.db").store_path == "/x.db"


def test_the_key_is_read_from_the_variable_that_is_named():
    environ = {"MY_KEY": "s3cret", "TOOLCRIB_EMBED__API_KEY_ENV": "MY_KEY"}
    key = load_settings(environ).embed.api_key
    assert key is not None
    assert key.get_secret_value() == "s3cret"


def test_a_key_in_the_settings_wins_over_the_variable(file: Path):
    key = load_settings({"OPENAI_API_KEY": "b"}, write(file, '[embed]\napi_key = "a"'))
    assert key.embed.api_key is not None
    assert key.embed.api_key.get_secret_value() == "a"


def test_secrets_are_not_shown(file: Path):
    settings = load_settings({"OPENAI_API_KEY": "s3cret"})
    assert "s3cret" not in repr(settings) + str(settings) + str(settings.model_dump())


def test_a_secret_of_the_wrong_type_is_not_shown_either(file: Path):
    message = refusal({}, write(file, '[embed]\napi_key = ["s3cret"]'))
    assert "embed.api_key" in message
    assert "s3cret" not in message


def test_settings_are_frozen():
    settings = Settings()
    with pytest.raises(AttributeError, match="frozen"):
        settings.index = "memory"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="frozen"):
        settings.search.limit = 7  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"indexx": "memory"}, "there is no setting 'indexx'; the nearest is 'index'"),
        ({"search": {"limt": 3}}, "[search] there is no setting 'limt'; the nearest is 'search.l"),
        ({"search": {"limit": 0}}, "setting search.limit: Input should be greater than 0, not 0"),
        ({"tool_search": "maybe"}, "setting tool_search: "),
        ({"embed": {"api_key": ["s3cret"]}}, "setting embed.api_key: "),
    ],
)
def test_settings_made_in_python_are_refused_in_our_words(said: dict[str, Any], message: str):
    with pytest.raises(ConfigError) as caught:
        Settings(**said)
    assert message in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize("each", ALL, ids=KEYS)
def test_every_setting_is_described(each: Documented):
    assert each.description
    json.loads(each.default)


def test_sections_are_documented_key_by_key():
    assert {"store", "search.limit", "embed.api_key"} <= set(KEYS)
    assert not {"search", "embed"} & set(KEYS)


@pytest.mark.parametrize("each", ALL, ids=KEYS)
def test_every_setting_stands_in_the_documentation_with_its_default(each: Documented):
    rows = (DOCS / "settings.md").read_text(encoding="utf-8").splitlines()
    [row] = [row for row in rows if row.startswith(f"| `{each.key}` |")]
    assert f"| `{each.default}` |" in row


def test_rules_of_approval_are_tables(file: Path):
    write(
        file,
        "[approval]\n"
        'rules = [{kind = "read", verdict = "ask"}, {pattern = "a*", verdict = "deny"}]\n',
    )
    first, second = load_settings({}, file).approval.rules
    assert (first.verdict, first.pattern, first.kind) == ("ask", "*", "read")
    assert (second.verdict, second.pattern, second.kind) == ("deny", "a*", None)


@pytest.mark.parametrize(
    "rule", ['{verdict = "maybe"}', '{kind = "read"}', '{verdict = "ask", pattern = 1}']
)
def test_a_rule_that_cannot_be_kept_is_refused(rule: str, file: Path):
    write(file, f"[approval]\nrules = [{rule}]")
    assert "approval.rules.0" in refusal({}, file)


def test_an_unknown_key_of_a_rule_is_named_with_the_nearest(file: Path):
    write(file, '[approval]\nrules = [{verdict = "ask"}, {verdict = "deny", patern = "x"}]')
    message = "[rules.1] there is no setting 'patern'; the nearest is 'approval.rules.1.pattern'"
    assert message in refusal({}, file)


def test_a_setting_that_is_written_into_a_section_has_to_go_outside(file: Path):
    write(file, '[gateway.profiles.ann]\ntool_search = "auto"')
    assert "the nearest is 'tool_search', outside of all sections" in refusal({}, file)


@pytest.mark.parametrize(
    ("environ", "mode"),
    [
        ({}, "on"),
        ({"ENABLE_TOOL_SEARCH": "auto:5"}, "auto:5"),
        ({"ENABLE_TOOL_SEARCH": "false"}, "false"),
        ({"ENABLE_TOOL_SEARCH": ""}, "on"),
        (
            {"ENABLE_TOOL_SEARCH": "false", "TOOLCRIB_TOOL_SEARCH": "conversation:20"},
            "conversation:20",
        ),
        ({"ENABLE_TOOL_SEARCH": "auto", "TOOLCRIB_TOOL_SEARCH": ""}, "auto"),
    ],
)
def test_the_mode_of_tool_search_has_two_variables(environ: dict[str, str], mode: str):
    assert load_settings(environ).tool_search == mode


def test_the_environment_wins_over_the_file_in_the_mode_of_tool_search(tmp_path: Path):
    file = tmp_path / "settings.toml"
    file.write_text('tool_search = "off"\n', encoding="utf-8")
    assert load_settings({}, file).tool_search == "off"
    assert load_settings({"ENABLE_TOOL_SEARCH": "true"}, file).tool_search == "true"


@pytest.mark.parametrize("variable", ["ENABLE_TOOL_SEARCH", "TOOLCRIB_TOOL_SEARCH"])
def test_a_mode_that_is_none_is_auto_and_the_log_says_so(
    variable: str, caplog: pytest.LogCaptureFixture
):
    assert load_settings({variable: "sometimes"}).tool_search == "auto"
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert variable in record.getMessage()
    assert "'sometimes'" in record.getMessage()


def test_a_mode_that_is_none_in_a_file_is_refused(tmp_path: Path):
    file = tmp_path / "settings.toml"
    file.write_text('tool_search = "sometimes"\n', encoding="utf-8")
    assert "tool_search" in refusal({}, file)
    assert "auto:N" in refusal({}, file)


def test_a_server_that_uses_toolcrib_itself_may_read_its_settings():
    assert load_settings({LAUNCH_VARIABLE: "the mark of whoever launched it"})
