"""The commands `toolcrib recipes`: save, list, show, review, remove, and what models propose."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import typer

from toolcrib.cli.global_options import GlobalOptions, tell_gateway
from toolcrib.cli.groups import CommandGroup
from toolcrib.cli.run import program_text
from toolcrib.cli.screen import AsJson, console, print_json, safe, table
from toolcrib.crib import recipes_of
from toolcrib.program import Recipe, RecipeDesk, RecipeStatus

Name = Annotated[str, typer.Argument(metavar="NAME", help="The recipe.")]
Id = Annotated[str, typer.Argument(metavar="ID", help="The proposal, by its id.")]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME:TYPE",
        help="A variable of the program that a call gives; NAME:TYPE=DEFAULT may be left out.",
    ),
]
Description = Annotated[
    str, typer.Option("--description", metavar="WORDS", help="What it does; search reads this.")
]


def save_recipe(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the tool.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The program; `-` reads it from stdin.")
    ],
    given: Inputs = None,
    description: Description = "",
    as_json: AsJson = False,
) -> None:
    """Keep a program as a tool, in place of a recipe of the same name.

    The program is checked as by `toolcrib run --check`, and nothing of it is run. Its permission
    kind is the highest of the tools that it calls, and it is pinned with their pins. Types are str,
    int, float, bool, dict and list; a list may say what it holds, as in the guide on programs.

        toolcrib recipes save issues issues.py --input repo:str --description "List issues"
    """
    with _desk(context) as desk:
        text = program_text(file)
        kept = desk.save(name, text, description=description, inputs=given or ())
    _print_kept(kept, as_json=as_json)
    tell_gateway(context.obj)


def list_recipes(context: typer.Context, as_json: AsJson = False) -> None:
    """List the recipes, with the state of each.

    A recipe waits for review if a tool that it calls has changed or is gone.
    """
    with _desk(context) as desk:
        found, problems = desk.recipes(), desk.book.recipes()[1]
    if as_json:
        print_json([_plain(each) for each in found])
        return
    rows = [
        (each.recipe.name, each.recipe.permission_kind, _state(each), each.recipe.description)
        for each in found
    ]
    if rows:
        console().print(table("", ("recipe", "kind", "state", "?description"), rows))
    else:
        console().print("There are no recipes. Save one: toolcrib recipes save NAME FILE")
    for problem in problems:
        console(to_stderr=True).print(safe(f"toolcrib: {problem}"), soft_wrap=True)


def show_recipe(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Show a recipe: its inputs, the tools that it calls, and its program."""
    with _desk(context) as desk:
        found = desk.show(name)
    print_json(_plain(found)) if as_json else _show(found)


def review_recipe(
    context: typer.Context,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Agree without being asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a recipe whose tools have changed, and keep it with the tools as they are now.

    It is checked again. Exit code 1: it stays set aside. If the program has to be another one, save
    it again.
    """
    with _desk(context) as desk:
        if not as_json:
            _show(desk.show(name))
        if not yes and not typer.confirm("Keep it with its tools as they are now?", err=as_json):
            raise typer.Exit(1)
        kept = desk.review(name)
    _print_kept(kept, as_json=as_json)
    tell_gateway(context.obj)


def remove_recipe(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Remove a recipe."""
    with _desk(context) as desk:
        desk.remove(name)
    if as_json:
        print_json({"removed": name})
    tell_gateway(context.obj)


def list_proposals(context: typer.Context, as_json: AsJson = False) -> None:
    """Show the programs that models propose to keep.

    Nothing of this can be called. `toolcrib recipes accept` makes a recipe of one, and
    `toolcrib recipes discard` removes it.
    """
    with _desk(context) as desk:
        found = desk.proposals()
    if as_json:
        print_json([asdict(each) for each in found])
        return
    for each in found:
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.at))
        console().print(safe(f"{each.id}  {day}  {each.caller}: {each.purpose}"), soft_wrap=True)
        _print_program(each.program)
    if not found:
        console().print("Nothing is proposed.")


def accept_proposal(
    context: typer.Context,
    id: Id,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the tool.")],
    given: Inputs = None,
    description: Description = "",
    as_json: AsJson = False,
) -> None:
    """Make a recipe of what a model proposes, as it is.

    To change its program first, or to put inputs in place of values: copy it into a file, and save
    that.

        toolcrib recipes accept 4f1c22ab open_issues --description "List open issues"
    """
    with _desk(context) as desk:
        kept = desk.accept(id, name, description=description, inputs=given or ())
    _print_kept(kept, as_json=as_json)
    tell_gateway(context.obj)


def discard_proposal(context: typer.Context, id: Id, as_json: AsJson = False) -> None:
    """Remove what a model proposes."""
    with _desk(context) as desk:
        desk.discard(id)
    if as_json:
        print_json({"discarded": id})


RECIPES = CommandGroup(
    """Keep programs as tools: save one, review one, look at what models propose.

Needs the extra `code`.

    toolcrib recipes save open_issues issues.py --input repo:str --description "List open issues"
    toolcrib recipes list
""",
    {
        "list": list_recipes,
        "save": save_recipe,
        "show": show_recipe,
        "review": review_recipe,
        "remove": remove_recipe,
        "proposals": list_proposals,
        "accept": accept_proposal,
        "discard": discard_proposal,
    },
)


@contextmanager
def _desk(context: typer.Context) -> Generator[RecipeDesk]:
    options: GlobalOptions = context.obj
    with options.crib() as crib:
        yield recipes_of(crib)


def _state(status: RecipeStatus) -> str:
    return f"changed: {', '.join(status.changed)}" if status.changed else "ready"


def _plain(status: RecipeStatus) -> dict[str, object]:
    recipe = status.recipe
    tools = [each._asdict() for each in recipe.tools]
    own = {"permission_kind": recipe.permission_kind, "pin": recipe.pin, "tools": tools}
    return {**recipe.fields(), **own, "changed": list(status.changed)}


def _show(status: RecipeStatus) -> None:
    recipe, screen = status.recipe, console()
    screen.print(safe(f"{recipe.name}  {recipe.permission_kind}  {_state(status)}"))
    screen.print(safe(recipe.description), soft_wrap=True)
    for name, schema in dict(recipe.info.parameters["properties"]).items():  # type: ignore[call-overload, arg-type]
        screen.print(safe(f"  input {name}: {schema}"), soft_wrap=True)
    for tool in recipe.tools:
        note = ", changed or gone" if tool.name in status.changed else ""
        screen.print(safe(f"  calls {tool.path}  {tool.permission_kind}{note}"), soft_wrap=True)
    _print_program(recipe.program)


def _print_program(program: str) -> None:
    for line in program.splitlines():
        console().print(safe(f"    {line}"), soft_wrap=True)


def _print_kept(recipe: Recipe, *, as_json: bool) -> None:
    if as_json:
        print_json(_plain(RecipeStatus(recipe, ())))
        return
    calls = ", ".join(each.name for each in recipe.tools) or "nothing"
    text = f"{recipe.name} is a tool now ({recipe.permission_kind}); it calls {calls}."
    console().print(safe(text), soft_wrap=True)
