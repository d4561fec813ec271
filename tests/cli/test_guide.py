"""`toolcrib help`: the pages of the guide, and the messages that name them."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.cli.conftest import COMMANDS, Run
from toolcrib.cli.guide import PAGES
from toolcrib.errors import ConfigError

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOPICS = {page.stem for pages in PAGES for page in DOCS.glob(pages)}


def shown_texts() -> Iterator[str]:
    """Whatever stands in the code between quotes, but for docstrings; and the help of commands."""
    for file in (ROOT / "src").rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and id(node) not in docs:
                yield str(node.value)
    yield from (str(command.__doc__) for command in COMMANDS.values())


def test_a_page_is_printed_as_it_is(run: Run):
    assert run("help", "clients").out == (DOCS / "guide/clients.md").read_text("utf-8") + "\n"
    assert {*run("help").out.split()} == TOPICS
    unknown = run("help", "client")
    assert isinstance(unknown.error, ConfigError)
    assert "nearest: clients" in str(unknown.error)


def test_messages_name_pages_that_every_install_has():
    texts = list(shown_texts())
    assert [text for text in texts if re.search(r"\bdocs/[\w/-]+\.md", text)] == []
    named = {topic for text in texts for topic in re.findall(r"toolcrib help ([a-z-]+)", text)}
    assert {"clients", "settings", "postgres"} <= named <= TOPICS


def test_the_wheel_has_each_page():
    built = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    put = built["targets"]["wheel"]["force-include"]
    assert put == {page: f"toolcrib/{page}" for page in put}
    assert {*put} == {f"docs/{page}".removesuffix("/*.md") for page in PAGES}
    assert {*put} <= {*built["targets"]["sdist"]["only-include"]}
