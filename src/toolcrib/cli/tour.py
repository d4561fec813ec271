"""The command `toolcrib tour`."""

import typer

from toolcrib.cli.global_options import GlobalOptions
from toolcrib.cli.index import build
from toolcrib.cli.screen import AsJson, console, print_json, safe
from toolcrib.cli.search import show_answer, show_explanation

QUERIES = (
    "read the contents of a file",
    "能不能帮我读文件",
    "fetch a web page and save a note about it",
)
NEXT = """
What to do next:
  toolcrib setup                      put it between your MCP clients and servers
  toolcrib search "what you need"     search in English or Chinese
  toolcrib why "what you need" NAME   why something was found, or was not
  toolcrib list                       all that is here, and what it costs a model
  toolcrib --help                     all commands; `toolcrib help` has the guides
For your own, name `tools`, `skills` or `agents` in the settings
(`toolcrib help settings`), or start in Python with `from toolcrib import Crib`.
"""


def tour_command(context: typer.Context, as_json: AsJson = False) -> None:
    """Take a short tour: index what is there, search, and see why."""
    options: GlobalOptions = context.obj
    screen = console()
    with options.crib() as crib:
        stats = build(crib, quiet=as_json)
        answers = [crib.search(query) for query in QUERIES]
        first = answers[0]
        explanation = crib.explain(first.query, first[0].name) if first else None
    if as_json:
        print_json({"stats": stats, "answers": answers, "why": explanation})
        return
    screen.print(
        safe(f"{stats.capabilities} capabilities indexed in {stats.seconds} s: {stats.store}")
    )
    for answer in answers:
        screen.print(safe(f'\n$ toolcrib search "{answer.query}"'), style="bold")
        show_answer(answer)
    if explanation:
        screen.print(
            safe(f'\n$ toolcrib why "{explanation.query}" {explanation.name}'), style="bold"
        )
        show_explanation(explanation)
    screen.print(safe(NEXT))
