"""The tables of what gateways cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from platform import python_version
from statistics import median, quantiles

from benchmarks.gateway_pool import Pool
from benchmarks.markdown import table

DIRECT, CONNECT, STDIO, HTTP, PEER = (
    "the SDK's client, directly",
    "`toolcrib connect`",
    "`toolcrib serve --stdio`",
    "HTTP",
    "fastmcp, stdio",
)


@dataclass(slots=True)
class Figures:
    """Seconds by way, and megabytes: of the gateway alone, of all that runs, and how many run.

    `cpu` are seconds that the gateway computes, for a call and for a search.
    """

    calls: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    searches: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    starts: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    cpu: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    memory: dict[str, tuple[float, float, int]] = field(
        default_factory=dict[str, tuple[float, float, int]]
    )


def report(pool: Pool, figures: Figures) -> str:
    """All of them, each with its heading."""
    peer = f", fastmcp {version('fastmcp')}" if PEER in figures.calls else ""
    versions = f"Python {python_version()}, mcp {version('mcp')}{peer}."
    size = f"{pool.tools:,} tools of {len(pool.servers) - 1} servers are in the pool."
    return "\n\n".join(
        [
            f"{versions} {size}",
            "**A call** of a tool whose server is up: ms, p50 / p95",
            _calls(figures.calls),
            "**A search**: ms, p50 / p95",
            _searches(figures.searches),
            "**What the gateway computes**, whatever else the machine does: ms of CPU",
            _cpu(figures.cpu),
            "**The first reply** after the start of the program that a client launches: ms",
            _starts(figures.starts),
            "**Memory** after all of this: MB (PSS)",
            _memories(figures.memory),
        ]
    )


def _calls(times: Mapping[str, Sequence[float]]) -> str:
    direct = median(times[DIRECT])
    head = ["way", ">p50 / p95", ">added, p50", ">fastmcp takes"]
    rows = [
        [name, _both(seconds), _added(seconds, direct), _ratio(times, name)]
        for name, seconds in times.items()
    ]
    return table(head, rows)


def _searches(times: Mapping[str, Sequence[float]]) -> str:
    head = ["way", ">p50 / p95", ">fastmcp takes"]
    return table(head, [[name, _both(each), _ratio(times, name)] for name, each in times.items()])


def _cpu(cpu: Mapping[str, tuple[float, float]]) -> str:
    rows = [[name, *(f"{1000 * seconds:.2f}" for seconds in each)] for name, each in cpu.items()]
    return table(["way", ">a call", ">a search"], rows)


def _starts(times: Mapping[str, Sequence[float]]) -> str:
    rows = [
        [name, f"{1000 * median(seconds):.0f}", f"{1000 * max(seconds):.0f}"]
        for name, seconds in times.items()
    ]
    return table(["program", ">p50", ">longest"], rows)


def _memories(memory: Mapping[str, tuple[float, float, int]]) -> str:
    head = ["gateway", ">its process", ">with all it started", ">processes started"]
    rows = [
        [_whose(name), f"{alone:.0f}", f"{every:.0f}", str(count)]
        for name, (alone, every, count) in memory.items()
    ]
    return table(head, rows)


def _whose(name: str) -> str:
    """Over HTTP the daemon answers: ours, or that of an earlier checkout."""
    return f"{name.removesuffix(HTTP)}the daemon" if name.endswith(HTTP) else name


def _added(seconds: Sequence[float], direct: float) -> str:
    more = median(seconds) - direct
    return f"{1000 * more:+.2f}" if more else "–"


def _ratio(times: Mapping[str, Sequence[float]], name: str) -> str:
    """How many times as long fastmcp takes."""
    if name == PEER or PEER not in times:
        return "–"
    return f"{median(times[PEER]) / median(times[name]):,.0f}×"


def _both(times: Sequence[float]) -> str:
    """The highest stands for the p95 where there is only one."""
    high = quantiles(times, n=20, method="inclusive")[-1] if len(times) > 1 else times[0]
    return f"{1000 * median(times):.2f} / {1000 * high:.2f}"
