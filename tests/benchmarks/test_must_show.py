"""The rows of the one table are read from what the other benchmarks print and keep."""

from pathlib import Path

import pytest

from benchmarks import must_show
from benchmarks.checkout import BEFORE, NOW, Checkout
from benchmarks.gateway import BEFORE as EARLIER
from benchmarks.gateway_pool import Pool
from benchmarks.gateway_report import CONNECT, DIRECT, Figures
from benchmarks.gateway_report import HTTP as HTTP_WAY
from benchmarks.gateway_report import STDIO as STDIO_WAY
from benchmarks.gateway_report import report as gateway_report
from benchmarks.growth_report import MADE_UP, MODEL, WORDS, Growth

COMMANDS = """\
| command | now | before |
| --- | --- | --- |
| `toolcrib --help` | 0.14 | 0.91 |
| `toolcrib search` | 0.50 | 7.70 |
| search, with a daemon | 0.20 | 7.00 |
"""


def gateway() -> str:
    own = {DIRECT: 0.001, CONNECT: 0.003, STDIO_WAY: 0.002, HTTP_WAY: 0.0035}
    ways = own | {f"{EARLIER}{STDIO_WAY}": 0.004, f"{EARLIER}{HTTP_WAY}": 0.007}
    figures = Figures(
        calls={name: [seconds] for name, seconds in ways.items()},
        searches={name: [seconds] for name, seconds in ways.items()},
        starts={STDIO_WAY: [0.25], CONNECT: [0.04]},
        memory={HTTP_WAY: (110.4, 120.0, 2), f"{EARLIER}{HTTP_WAY}": (363.0, 375.0, 2)},
    )
    return gateway_report(Pool({"a": {}, "b": {}}, 3_182, []), figures)


def test_the_figures_of_a_gateway_are_read_from_its_tables():
    now = {"call_stdio": 1.0, "call_http": 2.5, "first_reply": 250.0, "daemon": 110.0}
    assert must_show.from_gateway(gateway(), NOW) == now
    before = {"call_stdio": 3.0, "call_http": 6.0, "daemon": 363.0}
    assert must_show.from_gateway(gateway(), BEFORE) == before


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (NOW, {"help": 0.14, "search_10000": 0.5, "search_10000_daemon": 0.2}),
        (BEFORE, {"help": 0.91, "search_10000": 7.7, "search_10000_daemon": 7.0}),
        ("another", {}),
    ],
)
def test_commands_have_a_column_for_each_checkout(name: str, expected: dict[str, float]):
    assert must_show.from_commands(COMMANDS, name) == expected


def test_growth_is_taken_from_its_file_in_the_units_of_the_rows():
    growth = Growth()
    growth.at(10_000, NOW).add(WORDS, {"start": 0.12, "function": 0.0015})
    growth.at(10_000, NOW).add(WORDS, {"first_start": 3.0})
    growth.at(10_000, NOW).add(MODEL, {"first_start": 53.0, "search": 0.0045})
    growth.at(100_000, NOW).add(MADE_UP, {"rss": 300.0})
    assert must_show.from_growth(growth, NOW) == {
        "start_10000": 0.12,
        "more_10000": 1.5,
        "new_query_10000": 4.5,
        "vectors_10000": 50.0,
        "memory_100000": 300.0,
    }
    assert not must_show.from_growth(growth, BEFORE)


def test_a_line_says_whether_the_aim_is_reached():
    values = {BEFORE: {"help": [0.9, 1.1, 1.0], "vectors_10000": [124.0]}, NOW: {"help": [0.1]}}
    lines = must_show.report(values).splitlines()
    assert "| `toolcrib --help`, CPU s | 1.00 | 0.10 | 10.0× | 0.15 | yes |" in lines
    assert "| vectors of 10,000 tools, CPU s | 124 | – | – | 60 | – |" in lines
    assert len(lines) == 4


def test_both_checkouts_are_measured_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    asked: list[tuple[str, str]] = []

    def printed(checkout: Checkout, name: str, *_: str) -> str:
        asked.append((checkout.name, name))
        return {"commands": COMMANDS, "gateway": gateway()}[name]

    monkeypatch.setattr(must_show, "_printed", printed)
    options = ["--catalogs", str(tmp_path), "--turns", "2"]
    must_show.main(["--before", str(tmp_path), *options])
    assert asked == [(NOW, "commands"), (NOW, "gateway"), (NOW, "gateway")]
    assert "| call through HTTP, added p50, ms | 6.00 | 2.50 | 2.4× | 2 | no |" in (
        capsys.readouterr().out
    )
