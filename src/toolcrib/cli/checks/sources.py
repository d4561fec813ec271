"""Whether everything that the settings name can be used."""

from collections.abc import Iterator

from toolcrib.cli.checks.finding import Finding, Patient

AREA = "config"


def check_sources(patient: Patient) -> Iterator[Finding]:
    """A problem for each thing that cannot be; what concerns one server is told with the server."""
    of_servers = {said for source in patient.servers.sources for said in source.problems}
    said = [problem for problem in patient.crib.problems if problem not in of_servers]
    for problem in dict.fromkeys(said):
        yield Finding(AREA, "problem", problem, "correct what is named, or take it out")
    if not said:
        files = ", ".join(map(str, patient.settings.mcp_config)) or "none"
        yield Finding(AREA, "ok", f"the settings can be used; files with MCP servers: {files}")
    for entry in patient.crib.entries().values():
        if entry.state == "changed":
            yield Finding(AREA, "warning", f"{entry.name} waits for review", entry.remedy)
