"""The files of `deploy/` that no test here can run whole: what they name is there, and fits."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.proxies import DEPLOY
from toolcrib.cli.command_table import GROUPS
from toolcrib.gateway import Binding
from toolcrib.gateway.daemon_process import END_S
from toolcrib.gateway.http.guard import HEALTH, READY
from toolcrib.settings import GatewaySettings, load_settings
from toolcrib.sources.mcp import read_servers

ROOT = DEPLOY.parent
COMMANDS = {name for entries in GROUPS.values() for name in entries}
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def unit() -> dict[str, str]:
    """The settings of the systemd unit; comments and sections left out."""
    lines = (DEPLOY / "toolcrib.service").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if re.match(r"[A-Z]\w*=", line))


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path):
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    file = tmp_path / "toolcrib.service"
    command = Path(sys.prefix) / "bin" / "toolcrib"
    text = (DEPLOY / "toolcrib.service").read_text()
    file.write_text(text.replace("/opt/toolcrib/bin/toolcrib", str(command)))
    done = subprocess.run([analyze, "verify", file], capture_output=True, text=True, check=False)
    about = [line for line in done.stderr.splitlines() if "toolcrib" in line]
    assert (done.returncode, about) == (0, [])


def test_the_unit_leaves_the_gateway_time_to_drain():
    found = unit()
    assert found["KillMode"] == "mixed", "else systemd ends the servers under running calls"
    assert float(found["TimeoutStopSec"]) > GatewaySettings().drain_s + END_S
    assert found["ExecStart"].split()[-1] in COMMANDS


def instructions() -> list[tuple[str, str]]:
    """The lines of the Containerfile, joined where they go on."""
    text = re.sub(r"(?m)^#.*\n", "", (DEPLOY / "Containerfile").read_text())
    lines = text.replace("\\\n", " ").splitlines()
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines if line.strip()]


def of(kind: str) -> list[str]:
    return [said for word, said in instructions() if word == kind]


def test_the_image_is_made_of_files_that_are_there():
    copied = {name for said in of("COPY") if "--from" not in said for name in said.split()[:-1]}
    assert all((ROOT / name).exists() for name in copied)
    needed = {PROJECT["readme"], *PROJECT["license-files"], "pyproject.toml", "src"}
    assert needed <= copied, "what the package is built from"


def test_the_image_runs_our_command_as_nobody_special():
    *_, entry = json.loads(of("ENTRYPOINT")[0])
    assert entry in PROJECT["scripts"]
    assert json.loads(of("CMD")[0])[0] in COMMANDS
    assert int(of("USER")[-1]) > 0
    order = [word for word, _ in instructions()]
    assert order.index("USER") > max(n for n, word in enumerate(order) if word == "RUN")
    assert all(":" in said and ":latest" not in said for said in of("FROM"))
    assert of("STOPSIGNAL") == ["SIGTERM"]


def manifests() -> dict[str, Any]:
    found = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()))
    return {each["kind"]: each for each in found}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The files that the manifest hands to a pod."""
    for name, content in manifests()["ConfigMap"]["data"].items():
        (tmp_path / name).write_text(content)
    return tmp_path / "config.toml"


def test_the_settings_in_the_manifest_can_be_served(config: Path):
    settings = load_settings({}, config)
    binding = Binding.of(settings.gateway)
    assert binding.proxies.has("10.244.3.7")
    assert not read_servers(settings.mcp_config).problems


def test_a_pod_is_looked_at_where_we_answer_and_has_time_to_drain(config: Path):
    gateway = load_settings({}, config).gateway
    pod = manifests()["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    paths = {"startupProbe": READY, "readinessProbe": READY, "livenessProbe": HEALTH}
    for probe, path in paths.items():
        asked = container[probe]["httpGet"]
        assert asked["path"] == path
        assert asked["httpHeaders"] == [{"name": "Host", "value": gateway.hosts[0]}]
    assert container["ports"][0]["containerPort"] == gateway.port
    pause = float(container["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert pod["terminationGracePeriodSeconds"] > pause + gateway.drain_s + END_S
    settings = load_settings({}, config)
    named = {settings.store_password_env, settings.install_key_env, "RUNNER_KEY"}
    assert {each["name"] for each in container["env"]} == named
    mounted = {each["mountPath"] for each in container["volumeMounts"]}
    assert mounted <= {str(Path(path).parent) for path in env_paths()} | {"/var/lib/toolcrib"}
    assert pod["securityContext"]["runAsUser"] == int(of("USER")[-1])


def test_the_manifest_has_a_store_and_says_how_somebody_comes_in(config: Path):
    assert load_settings({}, config).database
    pod = manifests()["Deployment"]["spec"]["template"]["spec"]
    (migrate,), (container,) = pod["initContainers"], pod["containers"]
    assert migrate["args"] == ["db", "migrate"]
    assert (migrate["env"], migrate["image"]) == (container["env"], container["image"])
    said = (DEPLOY / "kubernetes.yaml").read_text()
    secret = {each["valueFrom"]["secretKeyRef"]["key"] for each in container["env"]}
    assert all(f"--from-literal={name}=" in said for name in secret)
    assert "toolcrib keys add" in said
    assert "keys" in COMMANDS


def env_paths() -> list[str]:
    """The paths that the image has in its environment."""
    return [word for word in re.split(r"[ =]+", of("ENV")[0]) if word.startswith("/")]
