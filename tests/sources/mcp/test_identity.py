import stat
from dataclasses import replace

import pytest

from toolcrib.errors import SourceError
from toolcrib.sources.mcp import ServerAddress, ServerCommand, ServerConfig
from toolcrib.sources.mcp.config.server import OAuth
from toolcrib.sources.mcp.identity import config_hash, identity_of, program_hash, program_words
from toolcrib.store import install_key

KEY = bytes(32)
SAME = ServerCommand("x", ("a",), {"T": "1"}, {"E": "OURS"}, "/")


@pytest.mark.parametrize(
    "other",
    [
        ServerCommand("y", ("a",), {"T": "1"}, {"E": "OURS"}, "/"),
        ServerCommand("x", ("b",), {"T": "1"}, {"E": "OURS"}, "/"),
        ServerCommand("x", ("a",), {"U": "1"}, {"E": "OURS"}, "/"),
        ServerCommand("x", ("a",), {"T": "${S}"}, {"E": "OURS"}, "/"),
        ServerCommand("x", ("a",), {"T": "1"}, {"E": "THEIRS"}, "/"),
        ServerCommand("x", ("a",), {"T": "1"}, {"E": "OURS"}, "/tmp"),
        ServerAddress("x"),
    ],
)
def test_another_server_has_another_hash(other):
    assert config_hash(SAME, KEY) != config_hash(other, KEY)


def test_the_value_of_a_variable_does_not_count():
    changed = ServerCommand("x", ("a",), {"T": "2"}, {"E": "OURS"}, "/")
    assert config_hash(SAME, KEY) == config_hash(changed, KEY)
    one, two = ServerAddress("https://x", {"A": "1"}), ServerAddress("https://x", {"A": "2"})
    assert config_hash(one, KEY) == config_hash(two, KEY)


@pytest.mark.parametrize(
    "other",
    [
        ServerCommand("x", ("a",), {"T": "2"}, {"E": "OURS"}, "/"),
        ServerAddress("https://x", {"X-Tenant": "2"}),
        ServerAddress("https://x", {"X-Tenant": "1"}, OAuth(client_secret="guess")),
    ],
)
def test_the_value_counts_for_whatever_hangs_on_the_very_entry(other):
    same = (
        SAME if isinstance(other, ServerCommand) else ServerAddress("https://x", {"X-Tenant": "1"})
    )
    one, two = (ServerConfig("a", each, is_own=False) for each in (same, other))
    assert identity_of(one, KEY).hash != identity_of(two, KEY).hash
    own = identity_of(replace(one, is_own=True), KEY), identity_of(replace(two, is_own=True), KEY)
    assert own[0].hash == own[1].hash  # their program is the same
    assert own[0].call_pin("pin") != own[1].call_pin("pin")
    assert identity_of(one, b"1" * 32).hash != identity_of(one, KEY).hash


@pytest.mark.parametrize(
    "stricter",
    [
        {"trust": "strict"},
        {"believe_annotations": False},
        {"elicitation": False},
        {"permission": (("*", "dangerous"),)},
        {"permission": (("*", "dangerous"), ("a", "read"))},
    ],
)
def test_a_key_of_trust_that_is_taken_out_of_a_file_of_others_makes_its_entry_wait(stricter):
    approved = ServerConfig("a", SAME, is_own=False, **stricter)
    others = [ServerConfig("a", SAME, is_own=False)]
    if "permission" in stricter:  # the first that fits counts
        others.append(replace(approved, permission=(("a", "read"), *stricter["permission"])))
    for each in others:
        assert identity_of(each, KEY).hash != identity_of(approved, KEY).hash
    own = replace(approved, is_own=True)  # the operator's word
    assert identity_of(own, KEY) == identity_of(ServerConfig("a", SAME), KEY)


@pytest.mark.parametrize("field", ["id", "prefix", "description"])
def test_what_others_say_of_a_server_counts(field):
    config = ServerConfig("a", SAME, is_own=False)
    assert identity_of(config, KEY) != identity_of(replace(config, **{field: "b"}), KEY)


def test_another_installation_has_another_hash():
    assert config_hash(SAME, KEY) != config_hash(SAME, b"1" * 32)


def test_the_key_is_made_once_and_for_us_alone(tmp_path):
    path = tmp_path / "state" / "install.key"
    key = install_key(path)
    assert len(key) == 32
    assert install_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_damaged_key_is_refused(tmp_path):
    path = tmp_path / "install.key"
    path.write_bytes(b"short")
    with pytest.raises(SourceError, match="remove it"):
        install_key(path)


PROGRAM_KEY = bytes(32)
SERVER = "@modelcontextprotocol/server-filesystem"
RUNS = "docker run -i --rm --mount type=bind,src=/a,dst=/p/a -e TOKEN --network none img /p"


@pytest.mark.parametrize(
    ("line", "program"),
    [
        (f"npx -y {SERVER} /a /b", f"npx -y {SERVER}"),
        (f"npx {SERVER}@1.2.3 /a", f"npx {SERVER}@1.2.3"),
        ("npx -y -p pkg bin --root /a", "npx -y -p pkg bin"),
        ("npx --package=pkg bin /a", "npx --package=pkg bin"),
        ("npm exec -y pkg /a", "npm exec -y pkg"),
        ("/bin/uvx --from git+https://x/y x --db /a", "/bin/uvx --from git+https://x/y x"),
        ("uvx mcp-server-git --repository /a", "uvx mcp-server-git"),
        ("uvx --with 'mcp<2' thing /a", "uvx --with 'mcp<2' thing"),
        ("uv run --directory /srv server.py --root /a", "uv run --directory /srv server.py"),
        ("uv run python server.py /a", "uv run python server.py"),
        ("npx -y tsx server.ts /a", "npx -y tsx server.ts"),
        ("npx.cmd -y pkg /a", "npx.cmd -y pkg"),
        ("python -m mcp_server --root /a", "python -m mcp_server"),
        ("python3.12 -u server.py /a", "python3.12 -u server.py"),
        ("node dist/index.js --port 1", "node dist/index.js"),
        ("lua-runner server.lua /a", "lua-runner server.lua"),
        ("/opt/github-mcp-server stdio --toolsets all", "/opt/github-mcp-server"),
        (RUNS, "docker run -i --rm --network none img /p"),
        ("docker run -i --env=A=b -v /a:/b img x", "docker run -i img x"),
    ],
)
def test_what_is_told_to_a_program_is_not_the_program(line: str, program: str):
    assert program_words(tuple(line.split(" "))) == tuple(program.split(" "))


@pytest.mark.parametrize(
    "line",
    [
        "sh -c curl|sh",
        "bash server.sh /a",
        "env A=b npx pkg",
        "cmd /c npx pkg /a",
        "npx -c whoami",
        "npx --node-options --require=/evil pkg",
        "node -e code /a",
        "node --require /evil.js server.js /a",
        "python -c code /a",
        "python -X dev -m server /a",
        "tool --exec=code /a",
        "npx -y pkg --require /evil",
        "npx -y bash run",
        "uv run sh -c code",
        "docker run --unknown x img",
        "docker exec box sh",
        "deno run -A server.ts /a",
        "java -jar x.jar /a",
        "npm run serve /a",
    ],
)
def test_where_it_cannot_be_told_apart_everything_is_the_program(line: str):
    assert program_words(tuple(line.split(" "))) == tuple(line.split(" "))


def same(one: ServerCommand | ServerAddress, other: ServerCommand | ServerAddress) -> bool:
    assert config_hash(one, PROGRAM_KEY) != config_hash(other, KEY)
    return program_hash(one, PROGRAM_KEY) == program_hash(other, KEY)


FILES = ServerCommand("npx", ("-y", SERVER, "/a"))


def test_another_argument_or_variable_is_the_same_program():
    assert same(FILES, ServerCommand("npx", ("-y", SERVER, "/a", "/b")))
    assert same(FILES, ServerCommand("npx", ("-y", SERVER, "/a"), {"DEBUG": "1"}))
    assert same(FILES, ServerCommand("npx", ("-y", SERVER, "/a"), env_from={"TOKEN": "MINE"}))
    assert same(ServerAddress("https://x/mcp"), ServerAddress("https://x/mcp", {"X-Key": "${KEY}"}))
    assert same(
        ServerAddress("https://x/mcp"), ServerAddress("https://x/mcp", oauth=OAuth(client_id="me"))
    )


@pytest.mark.parametrize(
    "other",
    [
        ServerCommand("sh", ("-y", SERVER, "/a")),
        ServerCommand("/evil/npx", ("-y", SERVER, "/a")),
        ServerCommand("npx", ("-y", f"{SERVER}@2.0.0", "/a")),
        ServerCommand("npx", ("-y", "server-filesystem", "/a")),
        ServerCommand("npx", ("-y", SERVER, "/a"), cwd="/evil"),
        ServerCommand("npx", ("-y", SERVER, "/a"), {"NODE_OPTIONS": "--require /evil"}),
        ServerCommand("npx", ("-y", SERVER, "/a"), {"npm_config_registry": "http://evil"}),
        ServerCommand("npx", ("-y", SERVER, "/a"), {"PATH": "/evil"}),
        ServerCommand("npx", ("-y", SERVER, "/a"), env_from={"LD_PRELOAD": "X"}),
        ServerAddress("https://x/mcp"),
    ],
)
def test_another_command_version_folder_or_loader_is_another_program(
    other: ServerCommand | ServerAddress,
):
    assert not same(FILES, other)


def test_a_loader_that_is_given_something_else_is_another_program():
    one, two = (ServerCommand("node", ("x.js",), {"NODE_OPTIONS": f"-r {each}"}) for each in "ab")
    assert program_hash(one, PROGRAM_KEY) != program_hash(two, KEY)


def test_another_address_is_another_program_and_so_is_another_way_to_speak():
    assert not same(ServerAddress("https://x/mcp"), ServerAddress("https://x/mcp?to=evil"))
    assert not same(ServerAddress("https://x/mcp"), ServerAddress("https://x/mcp", kind="sse"))
