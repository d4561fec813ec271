"""A task in five steps, with two tools that the agent did not know.

    python examples/save_a_summary.py FOLDER
    python examples/save_a_summary.py out.md

"Search for recent papers on tool use and save a summary." An MCP server has the papers. A tool that
comes with Toolcrib saves files. The agent finds each by a search and calls it through the one door.
The tool that writes asks a person first.
"""

import asyncio
import sys
from pathlib import Path

from toolcrib import ApprovalRequest, Crib, Settings

TASK = "Search for recent papers on tool use and save a summary"
PAPERS = [sys.executable, str(Path(__file__).with_name("papers_server.py"))]


async def person(request: ApprovalRequest) -> bool:
    """Stands for a person who reads the question and agrees."""
    print(f"   asked: may I {request.name}? yes")
    return True


async def save_a_summary(crib: Crib, file: Path) -> None:
    """Find the papers, then save their titles."""
    print(f"1. {TASK}: {len(crib.entries())} tools, none of them in the prompt")

    finder = crib.search("search for recent papers")[0]
    print(f"2. search 'search for recent papers': {finder.name} ({finder.state})")

    found = await crib.call(finder.name, {"topic": "tool use", "since": 2024})
    titles = [paper["title"] for paper in found.structured["result"]]
    print(f"3. {finder.name}: {len(titles)} papers")

    saver = crib.search("save a summary to a file")[0]
    print(f"4. search 'save a summary to a file': {saver.name} ({saver.state})")

    text = "# Recent papers on tool use\n\n" + "".join(f"- {title}\n" for title in titles)
    arguments = {"path": str(file), "text": text}
    saved = await crib.call(saver.name, arguments, approver=person)
    print(f"5. {saver.name}: {'saved' if saved.ok else saved.error}")


async def list_tools() -> None:
    """Start the server once. Toolcrib remembers its tools, and the server can sleep."""
    with Crib() as crib:
        crib.add_mcp("papers", command=PAPERS)
        await crib.refresh("papers")


def main(place: Path) -> None:
    """List the tools of the server, then do the task; in a folder, the file is `summary.md`."""
    file = (place / "summary.md" if place.is_dir() else place).resolve()
    file.parent.mkdir(parents=True, exist_ok=True)
    asyncio.run(list_tools())
    settings = Settings(store=":memory:", builtin_tools=True, file_roots=(file.parent,))
    with Crib.from_settings(settings) as crib:
        crib.add_mcp("papers", command=PAPERS)
        asyncio.run(save_a_summary(crib, file))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
