"""Builds a release into dist/, checks it, and says what it is built on.

python scripts/build_release.py [FOLDER]

    toolcrib-VERSION.tar.gz             the sources
    toolcrib-VERSION-py3-none-any.whl   built from those sources, not from this folder
    toolcrib-VERSION.cdx.json           the SBOM: every package of a plain install (CycloneDX)
    SHA256SUMS                          for `sha256sum --check`

It needs the dependency group `release`. What was in the folder before is gone.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
SUMS = "SHA256SUMS"


def run(*command: str | Path, env: dict[str, str] | None = None) -> None:
    """Run a program of this environment. Raises if it fails."""
    subprocess.run(command, cwd=ROOT, check=True, env={**os.environ, **(env or {})})  # noqa: S603


def version() -> str:
    """The version that pyproject.toml states."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def build(folder: Path) -> list[Path]:
    """The sources, and the wheel from them, dated as the commit is."""
    seconds = subprocess.run(
        ["git", "log", "-1", "--format=%ct"],  # noqa: S607
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    made = {"SOURCE_DATE_EPOCH": seconds, **uv_settings()}
    run(sys.executable, "-m", "build", "--installer", "uv", "--outdir", folder, env=made)
    files = sorted(folder.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    return files


def write_sbom(wheel: Path, target: Path) -> None:
    """What pip-like installers put beside the wheel today, with versions and licences."""
    with TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        uv = Path(sys.prefix) / "bin" / "uv"
        run(uv, "venv", "--quiet", "--python", sys.executable, folder)
        run(uv, "pip", "install", "--quiet", "--python", python, wheel, env=uv_settings())
        run(
            *(Path(sys.prefix) / "bin" / "cyclonedx-py", "environment", python),
            *("--pyproject", ROOT / "pyproject.toml", "--output-reproducible"),
            *("--gather-license-texts", "--output-format", "JSON", "--output-file", target),
        )


def uv_settings() -> dict[str, str]:
    """For uv, which reads none of them, the package indexes that pip is set to."""
    names = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX"}
    said = {variable: _pip_setting(name) for name, variable in names.items()}
    found = {variable: value for variable, value in said.items() if value}
    return {**found, "UV_INDEX_STRATEGY": "unsafe-best-match"} if found else {}


def _pip_setting(name: str) -> str:
    for section in (":env:", "global", "user"):
        asked = [sys.executable, "-m", "pip", "config", "get", f"{section}.{name}"]
        told = subprocess.run(asked, check=False, capture_output=True, text=True)  # noqa: S603
        if told.returncode == 0:
            return told.stdout.strip()
    return ""


def write_sums(files: Iterable[Path], target: Path) -> None:
    """As `sha256sum --check` reads them, from within the folder."""
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    target.write_text("".join(lines), encoding="utf-8")


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sources, wheel = sorted(build(folder), key=lambda file: file.suffix)
    sbom = folder / f"toolcrib-{version()}.cdx.json"
    write_sbom(wheel, sbom)
    write_sums((sources, wheel, sbom), folder / SUMS)
    for file in sorted(folder.iterdir()):
        print(f"{file.stat().st_size / 1e6:8.2f} MB  {file.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve())
