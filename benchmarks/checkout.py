"""A checkout of Toolcrib, and a program that its own Python runs in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple, Self

from benchmarks.home import Home, Unusable
from benchmarks.processes import cpu_seconds, megabytes

BEFORE, NOW = "before", "now"
LOOK_EVERY_S = 1.0
ROOT = Path(__file__).parents[1]


class Limits(NamedTuple):
    """What a process may take: seconds of CPU, and GB of memory."""

    cpu_s: int
    gigabytes: float

    def exceeded_by(self, pid: int) -> str:
        """Which one a process has gone beyond; "" if none."""
        if cpu_seconds(pid) > self.cpu_s:
            return f"more than {self.cpu_s} s"
        too_large = megabytes(pid) > 1000 * self.gigabytes
        return f"more than {self.gigabytes:g} GB" if too_large else ""


class Told(NamedTuple):
    """What a program told by names, and why it is not more; "" if it came to its end."""

    figures: Mapping[str, Any]
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder with the code, and the Python that has it installed."""

    name: str
    folder: Path
    python: Path
    limits: Limits

    @classmethod
    def at(cls, name: str, folder: Path, limits: Limits) -> Self:
        """A checkout by its folder. Raises `Unusable` if it has no environment."""
        python = folder.resolve() / ".venv" / "bin" / "python"
        if not python.exists():
            raise Unusable(f"{folder} has no .venv/bin/python: run `make run` there")
        return cls(name, folder.resolve(), python, limits)

    def child(self, program: Path, home: Home, request: Mapping[str, Any]) -> Told:
        """What a program says to a request, which it reads from its input; figures a line.

        Raises `Unusable` if it fails by anything but its limits.
        """
        with (
            _as_file(json.dumps(request)) as asked,
            subprocess.Popen(  # noqa: S603 - our own program
                [str(self.python), str(program)],
                env={**home.env, "PYTHONPATH": str(self.folder)},
                cwd=home.folder,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            ) as process,
        ):
            out, errors, failure = self._watched(process)
        if process.returncode and not failure:
            raise Unusable(f"{self.name}: {program.name} failed: {errors[-2000:]}")
        figures: dict[str, Any] = {}
        for line in out.splitlines():
            figures |= json.loads(line)
        return Told(figures, failure)

    def _watched(self, process: subprocess.Popen[str]) -> tuple[str, str, str]:
        """What a process printed, both ways, and the limit that it was ended for.

        A limit that the system would watch makes its clock of CPU time coarse (4 ms).
        """
        failure = ""
        while True:
            try:
                return *process.communicate(timeout=LOOK_EVERY_S), failure
            except subprocess.TimeoutExpired:
                failure = failure or self.limits.exceeded_by(process.pid)
            if failure:
                process.kill()


@contextmanager
def _as_file(text: str) -> Generator[IO[str]]:
    with TemporaryFile("w+", encoding="utf-8") as file:
        file.write(text)
        file.seek(0)
        yield file


def this_checkout(limits: Limits) -> Checkout:
    """The one that this is part of, by the Python that runs now."""
    return Checkout(NOW, ROOT, Path(sys.executable), limits)
