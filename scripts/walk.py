"""Walks through a page as a reader does: writes its files, runs its commands, compares outputs.

A block of a page is

    ```python title="orders.py"     a file to write into the folder that one is in
    ```console title="laptop"       commands after `$ `, each followed by what it prints

The title of a console names the machine, `server` where there is none. Each machine has a home of
its own, which is also the folder that its commands start in. `...` in an output stands for any
text. A command that ends with ` &` stays, and `wait` in a later block of its machine shows what it
has printed meanwhile. Ports (`:8443`, `port = 8443`) are free ones, so that pages can run at the
same time.

python scripts/walk.py PAGE [--write]
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import IO, cast

BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
STEP = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
PORT = re.compile(r"(?<=:)8\d{3}\b|(?<=port = )8\d{3}\b")
SLOW = re.compile(  # what only a busy machine says
    r"^\S+: (?:(?:starting|installing).* \(\d+ s\)|is waited for)\n", re.MULTILINE
)
END = "\x1e"  # after it comes the exit code of a command
HANG_S = 120
PATIENCE_S = 60
COLUMNS = "100"


@dataclass(frozen=True)
class Step:
    """One command, and what it should print: any number of lines, each with its end."""

    command: str
    output: str
    at: int  # where the output begins in the page


@dataclass(frozen=True)
class Difference:
    """A command that did not do what the page says."""

    step: Step
    printed: str
    code: int

    def __str__(self) -> str:
        says = f"should print\n{self.step.output}but printed" if self.step.output else "printed"
        return f"$ {self.step.command}\n{says}\n{self.printed}and ended with {self.code}\n"


@dataclass
class Machine:
    """A shell in a home of its own, until it is closed."""

    home: Path
    shell: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.shell = subprocess.Popen(
            ["/bin/bash", "--noprofile", "--norc"],
            cwd=self.home,
            env=_environment(self.home),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, command: str) -> tuple[str, int]:
        """What it prints, and its exit code. Raises TimeoutError after two minutes of silence."""
        stdin, stdout = cast("IO[str]", self.shell.stdin), cast("IO[str]", self.shell.stdout)
        stdin.write(f"{command}\nprintf '\\036%s\\n' $?\n")
        stdin.flush()
        alarm = Timer(HANG_S, self.close)
        alarm.start()
        lines: list[str] = []
        for line in stdout:
            before, end, code = line.partition(END)
            lines.append(before)
            if end:
                alarm.cancel()
                return "".join(lines), int(code)
        raise TimeoutError(f"{command!r} did not end. It printed:\n{''.join(lines)}")

    def close(self) -> None:
        """End the shell with everything that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.shell.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            self.shell.wait(5)
        with suppress(ProcessLookupError):
            os.killpg(self.shell.pid, signal.SIGKILL)
        with suppress(BrokenPipeError):
            self.shell.communicate()


class Walk:
    """A page being walked through in a folder."""

    def __init__(self, page: str, folder: Path) -> None:
        self._folder = folder
        self._machines: dict[str, Machine] = {}
        self._is_busy = False
        self._ports = dict(zip(sorted(set(PORT.findall(page))), _free_ports(), strict=False))

    def machine(self, name: str) -> Machine:
        if name not in self._machines:
            self._machines[name] = Machine(self._folder / name)
        return self._machines[name]

    def write_file(self, title: str, text: str) -> None:
        """A path may begin with the name of a machine: `laptop: agent.py`."""
        machine, _, path = title.rpartition(": ")
        file = self.machine(machine or "server").home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_replaced(text, self._ports), encoding="utf-8")

    def run(self, machine: str, command: str) -> tuple[str, int]:
        """What a command prints, as the page would show it, and its exit code."""
        at = self.machine(machine)
        output, code = at.run(_replaced(command, self._ports))
        shown = SLOW.sub("", output).replace(str(at.home), "~").replace(sys.prefix + "/bin/", "")
        return _replaced(shown, {new: old for old, new in self._ports.items()}), code

    def take(self, block: re.Match[str]) -> Iterator[Difference]:
        """Do what a block says."""
        if block["language"] == "console":
            for step in steps(block["text"], block.start("text")):
                printed, code = self.until_it_fits(block["title"] or "server", step)
                if (code and not step.output) or not fits(step.output, printed):
                    yield Difference(step, printed, code)
        elif block["title"]:
            self.write_file(block["title"], block["text"])

    def until_it_fits(self, machine: str, step: Step) -> tuple[str, int]:
        """Look again, as one does, while something else runs that may not be so far yet."""
        self._is_busy |= step.command.endswith(" &")
        last = time.monotonic() + (PATIENCE_S if self._is_busy and step.output else 0)
        while True:
            printed, code = self.run(machine, step.command)
            if fits(step.output, printed) or time.monotonic() > last:
                return printed, code
            time.sleep(0.5)

    def close(self) -> None:
        for machine in self._machines.values():
            machine.close()


def steps(block: str, start: int) -> Iterator[Step]:
    """The commands of a console, in order."""
    for part in STEP.finditer(block):
        yield Step(part["command"], part["output"], start + part.start("output"))


def fits(expected: str, printed: str) -> bool:
    """Whether an output is the one that a page shows. Spaces at the ends of lines do not count."""
    pattern = ".*?".join(re.escape(piece) for piece in _tidy(expected).split("..."))
    return re.fullmatch(pattern, _tidy(printed), re.DOTALL) is not None


def walk(page: str, folder: Path) -> list[Difference]:
    """What is not as the page says, in the order of the page."""
    walking = Walk(page, folder)
    try:
        return [difference for block in BLOCK.finditer(page) for difference in walking.take(block)]
    finally:
        walking.close()


def with_outputs_of_now(page: str, differences: Sequence[Difference]) -> str:
    for each in reversed(differences):
        start = each.step.at
        page = page[:start] + _tidy(each.printed) + page[start + len(each.step.output) :]
    return page


def _environment(home: Path) -> Mapping[str, str]:
    """As on a machine where Toolcrib was just installed."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "COLUMNS": COLUMNS,
        "TOOLCRIB_RUN_FOLDER": str(home / ".run"),
    }


def _free_ports() -> Iterator[str]:
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            yield str(probe.getsockname()[1])


def _replaced(text: str, words: Mapping[str, str]) -> str:
    for old, new in words.items():
        text = re.sub(rf"\b{old}\b", new, text)
    return text


def _tidy(text: str) -> str:
    lines = [line.rstrip() for line in text.splitlines()]
    return "".join(f"{line}\n" for line in lines).strip("\n") + "\n" if any(lines) else ""


def main(file: Path, *, write: bool) -> int:
    page = file.read_text(encoding="utf-8")
    with TemporaryDirectory(prefix="walk-") as folder:
        differences = walk(page, Path(folder).resolve())
    print("\n".join(map(str, differences)) or f"{file}: everything is as it says")
    if write:
        file.write_text(with_outputs_of_now(page, differences), encoding="utf-8")
    return int(bool(differences) and not write)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), write="--write" in sys.argv))
