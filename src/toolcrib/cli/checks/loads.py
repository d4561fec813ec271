"""Whether an MCP server asks for more of each request than was agreed."""

from collections.abc import Iterator

from toolcrib.cli.checks.finding import Finding, Patient
from toolcrib.session import Prices, tools_of
from toolcrib.text import token_counter

AREA = "loads"
REMEDY = (
    "say what you want in its entry, with `always_load` or `defer`; `mcp.always_load = false` takes"
    " no server's word"
)


def check_loads(patient: Patient) -> Iterator[Finding]:
    """A warning for each server that has tools always loaded, or wants more of them than count."""
    tools = tools_of(patient.crib.entries().values())
    loads = Prices(token_counter).asked_loads(tools)
    if not loads:
        yield Finding(AREA, "ok", "no MCP server asks that tools of it are never deferred")
    for asked in loads:
        level = "warning" if patient.settings.mcp.always_load else "ok"
        yield Finding(AREA, level, str(asked), REMEDY if level == "warning" else "")
