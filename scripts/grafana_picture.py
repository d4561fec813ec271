"""Draw the panels of docs/grafana/toolcrib.json from real values, without Grafana.

    python scripts/grafana_picture.py SECONDS

Starts a gateway with MCP servers, lets clients search and call for so many seconds, has a real
Prometheus scrape it, asks that for every expression of the dashboard, and draws what it answers to
docs/grafana/toolcrib.svg. It is a drawing of ours: Grafana would show the same values in its own
looks. Needs `prometheus` on the PATH (Debian has it), and the extra `metrics`.
"""

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import ExitStack, suppress
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
DASHBOARD = ROOT / "docs" / "grafana" / "toolcrib.json"
PICTURE = DASHBOARD.with_suffix(".svg")
SERVER = ROOT / "scripts" / "grafana_server.py"
PROMETHEUS = "127.0.0.1:39090"
SCRAPE_S = 2
KNOCKS = 0.1
WARM_S = 30
MOST_LINES = 6
CELL_W, CELL_H, GAP, HEAD = 52, 30, 8, 54
COLORS = ("#1f77b4", "#d9730d", "#2a9d4e", "#c2334d", "#7a52c7", "#8a6d3b", "#c2539b", "#6b7280")
UNITS = {"s": (1_000, "ms"), "bytes": (1 / 2**20, "MiB"), "reqps": (1, "/s"), "short": (1, "")}


class Series(NamedTuple):
    """One line of a panel: its name, and its values by the time."""

    name: str
    points: list[tuple[float, float]]


class Drawing(NamedTuple):
    """Where a panel is, in points."""

    x: float
    y: float
    w: float
    h: float


async def keep_busy(port: int, key: str, seconds: float) -> None:
    """Clients that search and call, until the time is over."""
    from mcp import Client  # noqa: PLC0415 - it takes a while
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415
    from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: PLC0415

    end = time.monotonic() + seconds

    async def one(seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - what a client does, no secret
        headers = {"Authorization": f"Bearer {key}"}
        async with create_mcp_http_client(headers=headers) as http:
            transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
            async with Client(transport, mode="legacy", cache=None) as client:
                while time.monotonic() < end:
                    await visit(client, chance)
                    if chance.random() < KNOCKS:
                        await asyncio.to_thread(knock, port)

    await asyncio.gather(*map(one, range(3)))


async def visit(client: Any, chance: random.Random) -> None:  # noqa: ANN401 - the SDK's
    """What a client does: list, search, call what is there, and now and then what is not."""
    queries = ("look up the weather", "send a message", "which invoice is due", "paint my fence")
    await client.list_tools()
    await client.call_tool("tool_search", {"queries": [chance.choice(queries)]})
    for _ in range(chance.randrange(4)):
        server = chance.choice(("weather", "mail", "mail", "billing"))
        tool = chance.choice(("fast", "fast", "slow", "broken", "delete"))
        given = {"name": f"mcp_{server}_{tool}"}
        await client.call_tool("tool_call", given)
    await asyncio.sleep(chance.random())


def knock(port: int) -> None:
    """Come with a key that nobody made."""
    headers = {"Authorization": "Bearer tc_made_up"}
    asking = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", b"{}", headers)
    with suppress(urllib.error.HTTPError):
        urllib.request.urlopen(asking)


def start_gateway(folder: Path, ends: ExitStack) -> tuple[int, str, str]:
    """The port of a gateway, a key to it, and one to its metrics."""
    servers = {
        name: {"command": sys.executable, "args": ["-S", str(SERVER), name], "trust": "open"}
        for name in ("weather", "mail", "billing")
    }
    (folder / "servers.json").write_text(json.dumps({"mcpServers": servers}))
    (folder / "config.toml").write_text(
        f"""store = "{folder}/catalog.db"
builtin_tools = false
mcp_config = ["{folder}/servers.json"]
[embed]
embedder = "none"
[observe]
metrics = true
[approval]
wait_s = 0.0
[[approval.rules]]
pattern = "*/delete"
verdict = "ask"
"""
    )
    command = [sys.executable, "-m", "toolcrib.cli"]
    environ = {"HOME": str(folder), "PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(folder)}
    environ["TOOLCRIB_CONFIG"] = str(folder / "config.toml")  # the servers beside it are our own

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [*command, *arguments], env=environ, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    key, metrics_key = (
        run("keys", "add", "ci"),
        run("keys", "add", "prometheus", "--scope", "metrics"),
    )
    run("refresh")
    gateway = ends.enter_context(
        subprocess.Popen(
            [*command, "serve", "--json"], env=environ, stdout=subprocess.PIPE, text=True
        )
    )
    ends.callback(gateway.terminate)
    assert gateway.stdout  # noqa: S101 - a pipe
    said = "".join(iter(gateway.stdout.readline, "}\n")) + "}"
    address: str = json.loads(said)["address"]
    return int(address.rpartition(":")[2].partition("/")[0]), key, metrics_key


def start_prometheus(folder: Path, port: int, key: str, ends: ExitStack) -> None:
    (folder / "metrics.key").write_text(key)
    (folder / "prometheus.yml").write_text(
        f"""global: {{scrape_interval: {SCRAPE_S}s}}
scrape_configs:
  - job_name: toolcrib
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
    authorization: {{credentials_file: {folder}/metrics.key}}
"""
    )
    options = (
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={PROMETHEUS}",
        "--log.level=error",
    )
    process = ends.enter_context(subprocess.Popen(["prometheus", *options]))
    ends.callback(process.terminate)


def ask(path: str, **query: str) -> Any:  # noqa: ANN401 - JSON
    """What Prometheus answers."""
    url = f"http://{PROMETHEUS}/api/v1/{path}?{urllib.parse.urlencode(query)}"
    with urllib.request.urlopen(url) as reply:
        return json.load(reply)["data"]["result"]


def series_of(panel: dict[str, Any], start: float, end: float) -> list[Series]:
    """All lines of a panel over that time."""
    found: list[Series] = []
    for target in panel["targets"]:
        expr = target["expr"].replace("$job", ".*").replace("$__rate_interval", "30s")
        step = str(SCRAPE_S)
        for each in ask("query_range", query=expr, start=str(start), end=str(end), step=step):
            name = target["legendFormat"]
            for label, value in each["metric"].items():
                name = name.replace(f"{{{{{label}}}}}", value)
            points = [(at, float(value)) for at, value in each["values"] if value != "NaN"]
            found.append(Series(name or panel["title"], points))
    return found


def place_of(panel: dict[str, Any]) -> Drawing:
    grid = panel["gridPos"]
    x, y = grid["x"] * CELL_W + GAP / 2, grid["y"] * CELL_H + GAP / 2 + HEAD
    return Drawing(x, y, grid["w"] * CELL_W - GAP, grid["h"] * CELL_H - GAP)


def text(x: float, y: float, said: str, size: int = 12, **others: str) -> str:
    more = " ".join(f'{key.replace("_", "-")}="{value}"' for key, value in others.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" {more}>{escape(said)}</text>'


def shown(value: float, unit: str) -> str:
    factor, name = UNITS[unit]
    value *= factor
    precise = f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2g}"
    return f"{precise} {name}".strip()


def draw_stat(panel: dict[str, Any], series: list[Series], at: Drawing) -> list[str]:
    last = series[0].points[-1][1] if series and series[0].points else 0.0
    middle = at.x + at.w / 2
    said = shown(last, panel["fieldConfig"]["defaults"]["unit"])
    steps = panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [])
    is_high = any(step["value"] is not None and last >= step["value"] for step in steps)
    fill = "#d9730d" if is_high else "#1f2430"
    return [text(middle, at.y + at.h / 2 + 22, said, 30, text_anchor="middle", fill=fill)]


def most_of(series: list[Series]) -> list[Series]:
    """The lines that there is room for, the highest of them all, by their names."""
    highest = sorted(series, key=lambda one: -max((v for _, v in one.points), default=0.0))
    return sorted(highest[:MOST_LINES])


def draw_lines(panel: dict[str, Any], series: list[Series], at: Drawing, ends: Any) -> list[str]:  # noqa: ANN401
    unit, (start, end) = panel["fieldConfig"]["defaults"]["unit"], ends
    top = max((value for each in series for _, value in each.points), default=0.0) * 1.1 or 1.0
    left, right, low, high = at.x + 58, at.x + at.w - 10, at.y + at.h - 56, at.y + 34
    drawn: list[str] = []
    for share in (0.0, 0.5, 1.0):
        y = low - share * (low - high)
        drawn.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e3e6ea"/>')
        drawn.append(text(left - 6, y + 4, shown(share * top, unit), 10, text_anchor="end"))
    x, row = left, low + 18
    for number, each in enumerate(most_of(series)):
        color = COLORS[number]
        path = " ".join(
            f"{left + (when - start) / (end - start) * (right - left):.1f},"
            f"{low - value / top * (low - high):.1f}"
            for when, value in each.points
        )
        drawn.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.6"/>')
        wide = 26 + 5.8 * len(each.name)
        if x + wide > right + 10:
            x, row = left, row + 14
        drawn.append(f'<rect x="{x:.1f}" y="{row - 6:.1f}" width="10" height="3" fill="{color}"/>')
        drawn.append(text(x + 14, row, each.name, 10))
        x += wide
    return drawn


def draw(start: float, end: float) -> str:
    """The picture of all panels."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    places = [place_of(panel) for panel in panels]
    width = max(each.x + each.w for each in places) + GAP
    height = max(each.y + each.h for each in places) + GAP
    said = (
        f"Toolcrib in Grafana: its panels, drawn from {end - start:.0f} s of values that a real "
        "Prometheus scraped. Not a screenshot."
    )
    look = 'font-family="Helvetica, Arial, sans-serif" fill="#1f2430"'
    size = f"0 0 {width:.0f} {height:.0f}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" {look}>',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#f4f5f7"/>',
        text(GAP, 22, "Toolcrib", 17, font_weight="bold"),
        text(GAP, 42, said, 12, fill="#5b6472"),
    ]
    for panel, at in zip(panels, places, strict=True):
        series = series_of(panel, start, end)
        parts.append(
            f'<rect x="{at.x}" y="{at.y}" width="{at.w}" height="{at.h}" rx="3" fill="#fff"'
            ' stroke="#d8dce2"/>'
        )
        parts.append(text(at.x + 10, at.y + 20, panel["title"], 12, font_weight="bold"))
        if panel["type"] == "stat":
            parts += draw_stat(panel, series, at)
        else:
            parts += draw_lines(panel, series, at, (start, end))
        if not any(each.points for each in series):
            parts.append(text(at.x + at.w / 2, at.y + at.h / 2, "no data", 12, fill="#8a919c"))
    return "\n".join([*parts, "</svg>\n"])


def main(seconds: float) -> None:
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        port, key, metrics_key = start_gateway(folder, ends)
        start_prometheus(folder, port, metrics_key, ends)
        start = time.time() + WARM_S
        asyncio.run(keep_busy(port, key, seconds))
        PICTURE.write_text(draw(start, time.time()), encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main(float(sys.argv[1]))
