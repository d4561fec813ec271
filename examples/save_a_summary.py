"""An agent's errand in five steps, with two tools of which it knew none.

    python examples/save_a_summary.py FOLDER

"Search for recent papers on tool use and save a summary." An MCP server has the papers; a tool of
Toolcrib's own saves. Each is found by a search and called through the one door, and the one that
writes asks first.
"""

import asyncio
import json
import sys
from contextlib import closing
from pathlib import Path

from toolcrib import Crib, Settings
from toolcrib.execute import ApprovalRequest
from toolcrib.sources.builtin_tools import builtin_tools
from toolcrib.sources.mcp import McpServers, open_server_files, refresh_all

TASK = "Search for recent papers on tool use and save a summary"


def papers(folder: Path) -> McpServers:
    """The server of papers, known as after `toolcrib refresh`, and asleep."""
    config = folder / "mcp.json"
    program = Path(__file__).with_name("papers_server.py")
    entry = {"command": sys.executable, "args": [str(program)]}
    config.write_text(json.dumps({"mcpServers": {"papers": entry}}))
    with closing(open_server_files([config], folder)) as once:
        refresh_all(once.sources)
    return open_server_files([config], folder)


async def yes(request: ApprovalRequest) -> bool:
    """Stands for a person who looks at the question and agrees."""
    print(f"   asked: may I {request.name}? yes")
    return True


async def errand(crib: Crib, folder: Path) -> None:
    print(f"1. {TASK}: {len(crib.entries())} tools, none of them in the prompt")

    finder = crib.search("search for recent papers")[0]
    print(f"2. search 'search for recent papers': {finder.name} ({finder.state})")

    found = await crib.call(finder.name, {"topic": "tool use", "since": 2024})
    titles = [paper["title"] for paper in found.structured["result"]]
    print(f"3. {finder.name}: {len(titles)} papers")

    saver = crib.search("save a summary to a file")[0]
    print(f"4. search 'save a summary to a file': {saver.name} ({saver.state})")

    text = "# Recent papers on tool use\n\n" + "".join(f"- {title}\n" for title in titles)
    place = {"path": str(folder / "summary.md"), "text": text}
    saved = await crib.call(saver.name, place, approver=yes)
    print(f"5. {saver.name}: {'saved' if saved.ok else saved.error}")


def main(folder: Path) -> None:
    settings = Settings(store=":memory:", file_roots=(folder,))
    with closing(papers(folder)) as servers, Crib(settings) as crib:
        crib.add_source(builtin_tools(settings), *servers.sources)
        asyncio.run(errand(crib, folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
