"""An MCP server that searches papers: a shelf of invented ones, so that it needs no network."""

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

SHELF = (
    {"title": "Agents that ask before they act", "year": 2025, "about": "tool use, approval"},
    {"title": "A thousand tools in one prompt", "year": 2025, "about": "tool use, large catalogs"},
    {"title": "Reading tide tables with care", "year": 2025, "about": "oceans"},
    {"title": "The first talking calculators", "year": 2019, "about": "tool use, history"},
)

server = MCPServer("papers", instructions="Search scientific papers by topic and year.")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def search_papers(topic: str, since: int = 0) -> list[dict[str, str | int]]:
    """Search for recent scientific papers about a topic; `since` is the earliest year."""
    words = topic.lower().split()
    return [
        {"title": str(paper["title"]), "year": int(paper["year"])}
        for paper in SHELF
        if int(paper["year"]) >= since and all(word in str(paper["about"]) for word in words)
    ]


if __name__ == "__main__":
    server.run()
