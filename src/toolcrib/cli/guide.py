"""The command `toolcrib help`: the pages of the guide, which come with the package."""

from pathlib import Path
from typing import Annotated

import typer

from toolcrib.cli.screen import AsJson, print_json
from toolcrib.errors import ConfigError
from toolcrib.text import list_nearest

PAGES = ("guide/*.md", "errors.md", "eval.md", "settings.md", "troubleshooting.md")
"""Of the documentation; `pyproject.toml` puts the same into the wheel."""


def help_command(
    topic: Annotated[str, typer.Argument(help="The page; without one, all are named.")] = "",
    as_json: AsJson = False,
) -> None:
    """Print a page of the guide, as messages and other pages name it.

    toolcrib help clients
    """
    package = Path(__file__).parents[1]
    places = package.parents[1] / "docs", package / "docs"  # of a checkout, of a wheel
    files = (file for place in places for pages in PAGES for file in place.glob(pages))
    pages = {file.stem: file for file in files}
    if topic and topic not in pages:
        raise ConfigError(f"there is no page {topic!r}; nearest: {list_nearest(topic, [*pages])}")
    shown = pages[topic].read_text("utf-8") if topic else "\n".join(sorted(pages))
    print_json({"topic": topic, "text": shown}) if as_json else typer.echo(shown)
