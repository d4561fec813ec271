"""The operator's side of a crib: approvals, what use has taught, and new settings.

Nothing here is for a model, and nothing that a model can call leads here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcrib.wiring import fit_in_place

if TYPE_CHECKING:
    from toolcrib.crib.calls import Calls
    from toolcrib.crib.inventory import Inventory
    from toolcrib.crib.recipes import Recipes
    from toolcrib.crib.searcher import Searcher
    from toolcrib.execute import Tickets
    from toolcrib.settings import Settings
    from toolcrib.uses import UseAdvice, UseHints


class Operator:
    """What the operator of a crib sees and decides. Made by `Crib`; never hand it to a model."""

    def __init__(
        self,
        inventory: Inventory,
        searcher: Searcher,
        calls: Calls,
        advice: UseAdvice,
        *,
        recipes: Recipes,
    ) -> None:
        self._inventory = inventory
        self._searcher = searcher
        self._calls = calls
        self._advice = advice
        self._recipes = recipes

    @property
    def tickets(self) -> Tickets:
        """The calls that wait for approval."""
        return self._calls.door.tickets

    def hints(self, name: str) -> UseHints:
        """What a capability is used with, by declared links and by recorded use.

        It may name capabilities that a caller must not see. Raises `UnknownTool`, `AmbiguousName`
        and `StoreError`.
        """
        return self._advice.hints(self._inventory.current().resolve(name).name)

    def forget_use(self, tool: str = "") -> int:
        """Erase what is kept about the use of a tool, or of all. How many things that were.

        Raises `StoreError`.
        """
        return self._advice.history.forget(tool)

    @property
    def rules_problem(self) -> str:
        """What is wrong with the file of rules, and what becomes of calls; "" if nothing is."""
        return self._inventory.rule_file.problem

    @property
    def broken_files(self) -> tuple[str, ...]:
        """What is wrong with each file of MCP servers that cannot be used.

        What such a file said before holds until it is mended, if that is known.
        """
        return self._inventory.fleet.broken_files

    def take_settings(self, settings: Settings) -> bool:
        """Go on by these settings, and by what the files with MCP servers say now.

        Servers that are configured as before run on, and so do calls. False, and nothing is done,
        where the settings need a new crib. One that is not made `from_settings` gets no servers.
        """
        if not fit_in_place(self._inventory.settings, settings):
            return False
        self._searcher.take(settings)
        self._calls.take(settings)
        self._inventory.take(settings)
        self._recipes.open()
        return True
