"""The recipes of a crib: programs that are kept as tools, in the pool and at the operator's desk.

They run beside other programs, in workers of their own: a program that calls one waits for it, and
has its worker meanwhile.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from toolcrib import program
from toolcrib.crib.calls import HOST
from toolcrib.pool import TOOLS_UPDATED
from toolcrib.wiring import program_limits_of

if TYPE_CHECKING:
    from toolcrib.crib.inventory import Inventory
    from toolcrib.execute import Caller
    from toolcrib.model import JsonObject
    from toolcrib.pool import ToolsUpdated
    from toolcrib.program import (
        ProgramCheck,
        ProgramListeners,
        ProgramOutcome,
        Programs,
        Recipe,
        RecipeBook,
        RecipeDesk,
        RecipeSource,
        ToolSignature,
    )

FOLDER = "recipes"


class Recipes:
    """Lists recipes and runs them. Nothing is read before it is opened, or asked for."""

    def __init__(
        self, inventory: Inventory, key: Callable[[], bytes], make_programs: Callable[[], Programs]
    ) -> None:
        self._inventory = inventory
        self._key = key
        self._make_programs = make_programs
        self._is_listed = False

    def open(self) -> None:
        """Have the recipes that there are now in the pool."""
        if self._is_listed:
            self._inventory.relist(self._source)
        elif not self.book.is_empty:
            self._is_listed = True
            self._inventory.add_source(self._source)
            self._inventory.pool.events.subscribe(TOOLS_UPDATED, self._look_again)

    def close(self) -> None:
        """End the workers."""
        if "_programs" in self.__dict__:
            self._programs.close()

    @cached_property
    def book(self) -> RecipeBook:
        """Where they are kept: in the state folder, or in memory with all else."""
        settings = self._inventory.settings
        in_memory = settings.store_path == ":memory:"
        folder = None if in_memory else settings.state_folder / FOLDER
        return program.RecipeBook(folder, self._key, settings.tenant)

    @cached_property
    def desk(self) -> RecipeDesk:
        """What the operator does with them."""
        entries = self._inventory.entries
        return program.RecipeDesk(self.book, entries, self._groups, self._check, self.open)

    @cached_property
    def _source(self) -> RecipeSource:
        pool = self._inventory.pool
        return program.RecipeSource(self.book, lambda: pool.entries, self._run)

    @cached_property
    def _programs(self) -> Programs:
        return self._make_programs()

    def _look_again(self, _news: ToolsUpdated) -> None:
        """List them again if a tool has changed that one of them calls."""
        if self._source.is_outdated:
            self._inventory.relist(self._source)

    def _groups(self) -> Iterable[str]:
        return self._programs.group_names(self._inventory.restricted(HOST))

    def _check(
        self, program: str, parameters: JsonObject
    ) -> tuple[ProgramCheck, Sequence[ToolSignature]]:
        inventory = self._inventory
        limits = program_limits_of(inventory.settings)
        caller = inventory.restricted(HOST)
        return self._programs.check_recipe(program, parameters, caller, limits)

    def _run(
        self,
        recipe: Recipe,
        arguments: JsonObject,
        caller: Caller,
        timeout_s: float,
        listeners: ProgramListeners,
    ) -> Awaitable[ProgramOutcome]:
        limits = program_limits_of(self._inventory.settings)
        limits = replace(limits, timeout_s=min(limits.timeout_s, timeout_s))
        return self._programs.run_recipe(recipe, arguments, caller, limits, listeners)
