"""Installing shows what it does, and all that pip said where it fails."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

from scripts import install

SCRIPT = str(Path(install.__file__))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    asked = [sys.executable, SCRIPT, "--no-index", *arguments]
    return subprocess.run(asked, capture_output=True, text=True, check=False)


def test_a_line_a_step():
    assert install.step("Collecting numpy>=2.0 (from toolcrib==0.1.0)") == "looking up numpy"
    assert install.step("  Downloading a-1.whl (16.9 MB)") == "fetching a-1.whl (16.9 MB)"
    assert install.step("Installing collected packages: a, b, c, d") == "installing 4 packages"
    assert not install.step("  Preparing metadata (pyproject.toml): started")


def test_what_it_does_is_shown(tmp_path: Path):
    wheel = tmp_path / "tiny-1.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as file:
        file.writestr("tiny.py", "")
        file.writestr(
            "tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
        )
        file.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        file.writestr("tiny-1.0.dist-info/RECORD", "")
    ran = run("--target", str(tmp_path / "there"), str(wheel))
    assert ran.returncode == 0, ran.stderr
    assert "  installing tiny\n  1 packages installed in " in ran.stdout
    assert (tmp_path / "there" / "tiny.py").exists()


def test_when_pip_fails_all_that_it_said_follows():
    ran = run("no-such-package-anywhere")
    assert ran.returncode == 1
    assert "No matching distribution found for no-such-package-anywhere" in ran.stderr
