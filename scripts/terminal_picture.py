"""Draws docs/terminal.svg: real commands, run in an empty home, and what they printed.

python scripts/terminal_picture.py
"""

import os
import re
import subprocess
import sys
from html import escape
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from unicodedata import east_asian_width

PICTURE = Path(__file__).parents[1] / "docs" / "terminal.svg"
COMMANDS = (
    ("search", "read the contents of a file"),
    ("search", "能不能帮我读文件"),
    ("why", "save a page", "fetch_url"),
)
COLUMNS, MOST_LINES = 92, 6
WIDE, HIGH, EDGE = 8.1, 18, 16
STYLE = """
svg{--paper:#f6f8fa;--ink:#24292f;--prompt:#1b6ca8}
@media(prefers-color-scheme:dark){svg{--paper:#161b22;--ink:#e6edf3;--prompt:#6cb6ff}}
.paper{fill:var(--paper)}text{fill:var(--ink);white-space:pre}.prompt{fill:var(--prompt)}
"""


def main() -> None:
    with TemporaryDirectory() as home:
        _run(home, ("tour",))
        lines = [line for command in COMMANDS for line in session(home, command)]
    PICTURE.write_text(drawn(lines), encoding="utf-8")


def session(home: str, command: tuple[str, ...]) -> list[str]:
    """The command as it is typed, and the first lines of its output."""
    typed = " ".join(f'"{word}"' if " " in word or not word.isascii() else word for word in command)
    said = [_cut(line.rstrip()) for line in _run(home, command).splitlines() if line.strip()]
    more = ["…"] if len(said) > MOST_LINES else []
    return [f"$ toolcrib {typed}", *said[:MOST_LINES], *more, ""]


def drawn(lines: list[str]) -> str:
    """The lines as a picture that is readable on light and on dark pages."""
    width, height = 2 * EDGE + COLUMNS * WIDE, 2 * EDGE + HIGH * len(lines)
    body = "\n".join(_text(number, line) for number, line in enumerate(lines) if line)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f"font-family=\"ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace\" "
        f'font-size="13">\n<style>{STYLE}</style>\n'
        f'<rect class="paper" width="{width:.0f}" height="{height}" rx="8"/>\n{body}\n</svg>\n'
    )


def _cut(line: str) -> str:
    """As much of a line as fits. A Chinese character takes two columns."""
    wide = [2 if east_asian_width(sign) in "WF" else 1 for sign in line]
    if sum(wide) <= COLUMNS:
        return line
    return line[: sum(place <= COLUMNS - 1 for place in accumulate(wide))] + "…"


def _text(number: int, line: str) -> str:
    kind = ' class="prompt"' if line.startswith("$ ") else ""
    y = EDGE + HIGH * (number + 0.75)
    return f'<text{kind} x="{EDGE}" y="{y:.1f}" xml:space="preserve">{escape(line)}</text>'


def _run(home: str, command: tuple[str, ...]) -> str:
    folders = {
        f"XDG_{name}_HOME": f"{home}/{name}" for name in ("CONFIG", "DATA", "CACHE", "STATE")
    }
    done = subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-m", "toolcrib.cli", *command],
        env=os.environ | folders | {"HOME": home, "COLUMNS": str(COLUMNS), "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).replace(home, "~")


if __name__ == "__main__":
    main()
