"""The compose file: no engine runs it here, but what it names is there, and its parts fit."""

import re
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.proxies import DEPLOY
from tests.deploy.test_files import COMMANDS, PROJECT, of
from toolcrib.gateway import Binding
from toolcrib.gateway.daemon_process import END_S
from toolcrib.settings import Settings, load_settings

COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]


def mounts(service: str) -> dict[str, str]:
    """By the path within, what is mounted there: a volume, or a file of this folder."""
    return {each.split(":")[1]: each.split(":")[0] for each in SERVICES[service]["volumes"]}


def settings() -> Settings:
    return load_settings({}, DEPLOY / mounts("gateway")["/etc/toolcrib/config.toml"])


def test_it_refers_to_nothing_that_is_not_there():
    for name, service in SERVICES.items():
        assert set(service.get("depends_on", ())) <= set(SERVICES)
        for source in mounts(name).values():
            assert source in COMPOSE["volumes"] or (DEPLOY / source).is_file()
    assert mounts("migrate") == mounts("gateway")
    assert "configs" not in COMPOSE, "podman-compose leaves them out"
    build = SERVICES["gateway"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()
    assert build["args"]["EXTRAS"].strip("[]") in PROJECT["optional-dependencies"]
    assert set(build["args"]) <= {said.split("=")[0] for said in of("ARG")}


def test_the_gateway_is_of_this_version_and_follows_the_migration():
    assert SERVICES["gateway"]["image"] == f"toolcrib:{PROJECT['version']}"
    assert SERVICES["gateway"]["image"] == SERVICES["migrate"]["image"]
    assert SERVICES["migrate"]["command"] == ["db", "migrate"]
    assert SERVICES["gateway"]["command"][0] in COMMANDS
    after = SERVICES["gateway"]["depends_on"]["migrate"]["condition"]
    assert after == "service_completed_successfully"
    assert float(SERVICES["gateway"]["stop_grace_period"].rstrip("s")) > (
        settings().gateway.drain_s + END_S
    )


def test_the_settings_find_the_database_and_their_secrets():
    found = settings()
    role, host, name = re.split("[@/]", found.store.removeprefix("postgresql://"))
    assert host in SERVICES
    [file] = [source for source in mounts("database").values() if source.startswith("./")]
    script = (DEPLOY / file).read_text()
    assert f"CREATE ROLE {role} LOGIN PASSWORD" in script
    assert "SUPERUSER" not in script
    assert f"CREATE DATABASE {name} OWNER {role};" in script
    secrets = {found.store_password_env, found.install_key_env}
    assert set(SERVICES["gateway"]["environment"]) == secrets
    for service in SERVICES.values():
        assert all(
            value.startswith("${") and ":?" in value for value in service["environment"].values()
        )


def test_only_this_machine_reaches_it_and_only_its_network_is_heard():
    gateway = settings().gateway
    assert SERVICES["gateway"]["ports"] == [f"127.0.0.1:{gateway.port}:{gateway.port}"]
    assert "ports" not in SERVICES["database"]
    subnet = COMPOSE["networks"]["default"]["ipam"]["config"][0]["subnet"]
    assert list(gateway.trusted_proxies) == [subnet]
    assert Binding.of(gateway).proxies.has(str(ip_network(subnet)[1]))


def test_its_state_and_its_settings_lie_where_the_image_looks():
    paths = [word for word in re.split(r"[ =]+", of("ENV")[0]) if word.startswith("/")]
    assert set(mounts("gateway")) <= {str(Path(each)) for each in paths}
