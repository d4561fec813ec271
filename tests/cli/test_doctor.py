import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.certificates import HOST, Authority
from tests.cli.conftest import Run
from tests.sources.mcp.faking import FAKE, own_file
from toolcrib.cli.checks import machine
from toolcrib.cli.doctor import CHECKS
from toolcrib.settings import Settings, own_servers_file, rules_file


def findings(run: Run, *arguments: str) -> list[Any]:
    return run(*arguments, "--json").json


def of(area: str, found: list[Any]) -> list[Any]:
    return [each for each in found if each["area"] == area]


def levels(found: list[Any]) -> set[str]:
    return {each["level"] for each in found}


@pytest.fixture
def servers(tmp_path: Path) -> Any:
    """Writes down servers; returns the options that name them."""

    def servers(**table: Any) -> tuple[str, str]:
        file = own_file()
        file.write_text(json.dumps({"mcpServers": table}))
        return "--mcp-config", str(file)

    return servers


def test_a_fresh_home_is_in_order(run: Run):
    ran = run("doctor")
    assert ran.code == 0
    assert ran.out.endswith("0 problems, 0 warnings.\n")
    found = findings(run, "doctor")
    assert levels(found) == {"ok"}
    areas = "config servers loads gateway people store index apps clients files machine"
    assert {each["area"] for each in found} == set(areas.split())
    assert len(found) >= len(CHECKS)
    assert not Path(Settings().store_path).exists()


def test_settings_that_cannot_be_used_are_a_problem(run: Run, tmp_path: Path):
    config = tmp_path / "settings.toml"
    config.write_text("limit = 3")
    ran = run("--config", str(config), "doctor", "--json")
    assert ran.code == 1
    assert (ran.json[0]["level"], "'limit'" in ran.json[0]["message"]) == ("problem", True)


def test_a_key_or_a_file_that_means_nothing_is_a_problem(run: Run, servers: Any, tmp_path: Path):
    named = servers(a={"command": sys.executable, "argz": []})
    gone = ("--mcp-config", str(tmp_path / "gone.json"))
    ran = run(*named, *gone, "doctor", "--json")
    assert ran.code == 1
    said = [each["message"] for each in of("config", ran.json)]
    assert any("'argz'" in each for each in said)
    assert any("gone.json" in each for each in said)


def test_each_server_gets_the_first_thing_that_is_wrong_with_it(run: Run, servers: Any):
    named = servers(
        never={"command": sys.executable},
        gone={"command": "there-is-no-such-command"},
        unset={"command": sys.executable, "env_from": ["SURELY_NOT_SET"]},
        off={"command": "there-is-no-such-command", "disabled": True},
    )
    ran = run(*named, "doctor", "--json")
    by_server = {each["message"].split(":")[0]: each for each in of("servers", ran.json)}
    assert [each["level"] for each in by_server.values()] == ["warning", "problem", "problem", "ok"]
    assert by_server["never"]["remedy"] == "toolcrib refresh never"
    assert "SURELY_NOT_SET" in by_server["unset"]["message"]
    assert all(each["remedy"] for each in by_server.values() if each["level"] != "ok")


def test_start_tries_them_and_the_last_failure_is_told(run: Run, servers: Any):
    good = {"command": sys.executable, "args": ["-S", str(FAKE)]}
    bad = {"command": sys.executable, "args": ["-S", str(FAKE), "exit-at-once"]}
    named = servers(good=good, bad=bad)
    ran = run(*named, "doctor", "--start", "--json")
    found = {each["message"].split(":")[0]: each for each in of("servers", ran.json)}
    assert ran.code == 1
    assert found["good"]["level"] in ("ok", "warning")
    assert "no licence found" in found["bad"]["message"]
    assert "no licence found" in json.dumps(findings(run, *named, "doctor"))


def test_a_server_that_wants_a_login_says_how(run: Run, servers: Any):
    named = servers(far={"url": "http://127.0.0.1:1/mcp"})
    run(*named, "refresh")
    (failure,) = (Settings().state_folder / "mcp").glob("*.failure")
    failure.write_text(json.dumps({"code": "needs_login", "message": "x", "at": 9e9}))
    (found,) = of("servers", findings(run, *named, "doctor"))
    assert (found["level"], found["remedy"]) == ("problem", "toolcrib login far")


def test_a_damaged_store_is_a_problem_and_left_alone(run: Run):
    path = Path(Settings().store_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database" * 1000)
    (found, _) = of("store", findings(run, "doctor"))
    assert found["level"] == "problem"
    assert "toolcrib index" in found["remedy"]
    assert path.read_bytes() == b"no database" * 1000


def test_an_index_of_another_pool_is_a_warning_where_making_one_takes_time(
    run: Run, config: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TOOLCRIB_INDEX", "sqlite")
    run("index")
    assert levels(findings(run, "doctor")) == {"ok"}
    settings = Path(config).with_name("other.toml")
    settings.write_text(f"store = {json.dumps(Settings().store_path)}\nbuiltin_tools = false\n")
    found = of("index", findings(run, "--config", str(settings), "doctor"))
    assert levels(found) == {"ok"}
    monkeypatch.setattr(machine, "FEW", -1)
    found = of("index", findings(run, "--config", str(settings), "doctor"))
    assert (found[0]["level"], found[0]["remedy"]) == ("warning", "toolcrib index")


def test_an_embedder_that_cannot_be_had_is_a_problem(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLCRIB_EMBED__EMBEDDER", "model2vec")
    monkeypatch.setenv("TOOLCRIB_EMBED__MODEL", "there-is-no-such-folder")
    assert "problem" in levels(of("index", findings(run, "doctor")))


def test_a_private_file_that_is_open_to_others_is_a_problem(run: Run):
    run("add", "a", "--no-start", "--", sys.executable)
    assert levels(of("files", findings(run, "doctor"))) == {"ok"}
    own_servers_file().chmod(0o644)
    found = of("files", findings(run, "doctor"))[0]
    assert found["remedy"] == f"chmod 600 {own_servers_file()}"


PROFILES = """
[gateway.profiles.empty]
servers = ["githb"]

[gateway.profiles.half]
servers = ["files", "builtin", "nobody"]
builtin_tools = true
tools = ["builtin/read_*", "github/*"]
exclude = ["read_file", "delete_everything"]
kinds = ["read", "dangerous"]
pins = ["read_fil"]

[gateway.profiles.fine]
builtin_tools = true
tools = ["read_file"]
"""


def test_a_profile_that_fits_nothing_is_told(run: Run, servers: Any, tmp_path: Path):
    config = tmp_path / "settings.toml"
    config.write_text(f'store = ":memory:"\n{PROFILES}', encoding="utf-8")
    named = servers(files={"command": sys.executable})
    ran = run("--config", str(config), *named, "doctor", "--json")
    found = of("profiles", ran.json)
    told = [(each["level"], each["message"]) for each in found if each["level"] != "ok"]
    assert ran.code == 1
    assert told == [
        ("problem", "gateway.profiles.empty.servers: nothing fits 'githb'"),
        ("warning", "empty: shows nothing, so its clients find no tool at all"),
        ("problem", "gateway.profiles.half.servers: nothing fits 'nobody'"),
        ("problem", "gateway.profiles.half.tools: nothing fits 'github/*'"),
        ("problem", "gateway.profiles.half.pins: nothing fits 'read_fil'"),
        ("problem", "gateway.profiles.half.exclude: nothing fits 'delete_everything'"),
    ]
    assert "read_file" in next(each for each in found if "read_fil'" in each["message"])["remedy"]
    [fine] = [each for each in found if each["message"].startswith("fine: ")]
    assert (fine["level"], fine["message"].startswith("fine: shows 1 of ")) == ("ok", True)


PATTERNS = """
[approval]
rules = [
    { verdict = "deny", pattern = "mcp__enterprise-tools__*" },
    { verdict = "deny", pattern = "fliles/*" },
    { verdict = "deny", pattern = "mcp__files__delete_*" },
    { verdict = "ask", pattern = "read_file", profile = "agnets" },
    { verdict = "allow", pattern = "*", kind = "dangerous" },
]

[session]
never_defer = ["read_fil", "read_file", "files/search"]

[search]
internal = ["mcp__fils__*"]

[gateway.profiles.agents]
builtin_tools = true
"""


def test_a_pattern_that_fits_nothing_is_a_problem_unless_its_server_was_never_listed(
    run: Run, servers: Any, tmp_path: Path
):
    config = tmp_path / "settings.toml"
    config.write_text(f'store = ":memory:"\n{PATTERNS}', encoding="utf-8")
    rules = [{"verdict": "deny", "pattern": "nobody/*"}]
    rules_file().parent.mkdir(parents=True, exist_ok=True)
    rules_file().write_text(json.dumps({"rules": rules}))
    named = servers(files={"command": sys.executable})
    ran = run("--config", str(config), *named, "doctor", "--json")
    assert ran.code == 1
    found = of("names", ran.json)
    assert {(each["level"], each["message"]) for each in found} == {
        ("problem", "approval.rules: nothing fits 'mcp__enterprise-tools__*'"),
        ("problem", "approval.rules: nothing fits 'fliles/*'"),
        ("ok", "approval.rules: 'mcp__files__delete_*' is for files, which is not listed yet"),
        ("problem", "approval.rules: profile: nothing fits 'agnets'"),
        ("problem", "session.never_defer: nothing fits 'read_fil'"),
        ("ok", "session.never_defer: 'files/search' is for files, which is not listed yet"),
        ("problem", "search.internal: nothing fits 'mcp__fils__*'"),
        ("problem", "rules.json: nothing fits 'nobody/*'"),
    }
    [profile] = [each for each in found if "agnets" in each["message"]]
    assert "agents" in profile["remedy"]


def test_without_profiles_nothing_is_said_of_them(run: Run):
    assert of("profiles", findings(run, "doctor")) == []


def test_keys_and_groups_that_are_of_no_use_are_told(run: Run, tmp_path: Path):
    config = tmp_path / "settings.toml"
    config.write_text("[gateway.profiles.small]\n")
    named = ("--config", str(config))
    (nobody,) = of("people", findings(run, *named, "doctor"))
    assert (nobody["level"], nobody["message"]) == ("ok", "HTTP opens with 0 keys")
    run(*named, "keys", "add", "old", "--expires", "0s")
    run(*named, "keys", "add", "soon", "--expires", "2d")
    run(*named, "keys", "add", "fine", "--expires", "90d")
    run(*named, "keys", "add", "lost", "--profile", "small")
    config.write_text(
        '[gateway.profiles.smal]\n[gateway.oauth]\nissuer = "https://login.example.com"\n'
    )
    told = [each["message"] for each in of("people", findings(run, *named, "doctor"))]
    assert told == [
        "HTTP opens with 4 keys, and tokens of https://login.example.com",
        "the key lost: there is no profile 'small'; nearest: smal",
        "the key old has expired",
        "the key soon expires in 2.0 days",
        "no group has a profile, so no token opens one",
    ]
    config.write_text(config.read_text() + '[gateway.oauth.groups]\neng = ["small"]\n')
    last = of("people", findings(run, *named, "doctor"))[-1]
    assert last["message"].startswith("gateway.oauth.groups.eng: there is no profile 'small'")


def test_callers_who_may_approve_their_own_calls_are_told(run: Run, tmp_path: Path):
    config = tmp_path / "settings.toml"
    named = ("--config", str(config))
    ask = '[[approval.rules]]\nverdict = "ask"\n[gateway.profiles.none]\nservers = []\n'
    config.write_text(ask)
    run("add", "fake", "--", sys.executable, "-S", str(FAKE))
    run(*named, "keys", "add", "ann")
    run(*named, "keys", "add", "scraper", "--profile", "none")

    def told() -> list[str]:
        return [each["message"] for each in of("people", findings(run, *named, "doctor"))]

    assert told() == ["HTTP opens with 2 keys"]
    config.write_text(f'approval.elicitation = "all"\n{ask}')
    _, warning = told()
    assert warning.startswith(
        "whoever has a key for the profile default may approve their own calls, as of mcp_fake_"
    )


def test_it_says_where_the_gateway_would_be_bound_and_how(run: Run, tmp_path: Path):
    config = tmp_path / "settings.toml"

    def gateway(lines: str) -> list[Any]:
        config.write_text(f"[gateway]\n{lines}\n")
        return of("gateway", findings(run, "--config", str(config), "doctor"))

    assert "any free port (this machine only)" in gateway("")[0]["message"]
    (open_to_all,) = gateway('bind = "0.0.0.0"')
    assert (open_to_all["level"], "set `gateway.tls" in open_to_all["remedy"]) == ("problem", True)
    certificate, key = Authority().issue(tmp_path / "tls")
    tls = f'tls_certificate = "{certificate}"\ntls_key = "{key}"\nhosts = ["{HOST}"]'
    (served,) = gateway(f'bind = "::"\nport = 8443\n{tls}')
    assert "https://[::]:8443/mcp (TLS; hosts: tools.example.com)" in served["message"]
    key.chmod(0o644)
    assert [each["level"] for each in gateway(tls)] == ["ok", "warning"]


def test_a_gateway_for_others_that_admits_nobody_is_a_problem(run: Run, tmp_path: Path):
    file = tmp_path / "open.toml"
    proxied = 'bind = "0.0.0.0"\nport = 8080\nhosts = ["a.example"]\nbehind_proxy = true\n'
    file.write_text(f'[gateway]\n{proxied}trusted_proxies = ["10.0.0.0/8"]\n')
    named = ("--config", str(file))
    (found,) = of("people", findings(run, *named, "doctor"))
    assert (found["level"], "toolcrib keys add" in found["remedy"]) == ("problem", True)
    run(*named, "keys", "add", "ann")
    (found,) = of("people", findings(run, *named, "doctor"))
    assert (found["level"], found["message"]) == ("ok", "HTTP opens with 1 keys")
