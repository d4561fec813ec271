"""Code mode: a model's short program, type-checked, run in a sandbox, each call through the door.

    program ──▶ its words ──▶ tools of the caller ──▶ type check ──▶ run ──▶ outcome
                tool_table    signatures              check          run

A program is a few lines of Python. A tool is a function of its server: `github.create_issue(...)`;
functions of the host and tools of Toolcrib's own are in `tools`. What the calls return stays with
the program; only what it prints and its last value go back.

    identifiers  the Python names of servers, tools and parameters
    signatures   a tool as a typed function: what a model reads and a program is checked against
    tool_table   which tools the words of a program may mean, as its caller
    sandbox      the one door to the interpreter, which runs in processes of its own
    check        the verdict before anything is called: `ProgramCheck`
    approval     one question for a whole program, and which calls it covers
    listeners    who hears what its calls say meanwhile, and answers what they ask
    run          one program from its first step to its last, its calls side by side
    suspension   a program that waits for a person: kept, sealed, and taken up once
    values       between JSON and what a program has
    outcome      what comes back: `ProgramOutcome`, with each call and what became of it
    ending       how a run comes back: over, waiting, or not there any more
    programs     `Programs`: all of it, for a crib
    recipe       a program that the operator keeps as a tool, with typed inputs
    recipe_book  where recipes are kept, sealed, and what models propose
    recipe_source  recipes as tools, and the operator's desk for them

It is not a second way to a tool: each call is one of `toolcrib.execute`, with every gate.
"""

# pyright: reportUnusedImport=false
from typing import TYPE_CHECKING

from toolcrib.lazy import lazy_names

if TYPE_CHECKING:
    from toolcrib.program.listeners import ProgramListeners
    from toolcrib.program.outcome import (
        ProgramCall,
        ProgramCheck,
        ProgramLimits,
        ProgramOutcome,
        ProgramProblem,
        ProgramTool,
    )
    from toolcrib.program.programs import ProgramHost, Programs
    from toolcrib.program.recipe import Recipe
    from toolcrib.program.recipe_book import RecipeBook, RecipeProposal
    from toolcrib.program.recipe_source import RecipeDesk, RecipeSource, RecipeStatus
    from toolcrib.program.sandbox import engine_version
    from toolcrib.program.signatures import ToolSignature
    from toolcrib.program.suspension import Suspensions
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "listeners": ("ProgramListeners",),
            "outcome": (
                "ProgramCall",
                "ProgramCheck",
                "ProgramLimits",
                "ProgramOutcome",
                "ProgramProblem",
                "ProgramTool",
            ),
            "programs": ("ProgramHost", "Programs"),
            "recipe": ("Recipe",),
            "recipe_book": ("RecipeBook", "RecipeProposal"),
            "recipe_source": ("RecipeDesk", "RecipeSource", "RecipeStatus"),
            "sandbox": ("engine_version",),
            "signatures": ("ToolSignature",),
            "suspension": ("Suspensions",),
        },
    )
