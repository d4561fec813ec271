"""Recipes as a source of tools, and the operator's side of them.

    RecipeBook ──▶ RecipeSource ──▶ the pool, and the door
        ▲
    RecipeDesk: save, review, remove, accept what a model proposes

A recipe is called through the door as any tool, by its own permission kind. Each call that it makes
goes through the door again, as the same caller: it widens nobody's rights.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from toolcrib.errors import ConfigError, NameTaken, UnknownTool
from toolcrib.execute import Caller, CallRefused, running_for
from toolcrib.model import (
    Call,
    CallContext,
    CallError,
    Entry,
    JsonObject,
    Outcome,
    SourceKind,
    State,
    ToolInfo,
)
from toolcrib.program.listeners import ProgramListeners
from toolcrib.program.outcome import ProgramCheck, ProgramOutcome
from toolcrib.program.recipe import (
    Recipe,
    RecipeTool,
    changed_tools,
    checked_description,
    checked_name,
    is_recipe,
    recipe_parameters,
)
from toolcrib.program.recipe_book import RecipeBook, RecipeProposal
from toolcrib.program.signatures import ToolSignature

_NO_CALLER = "a recipe is called through the door, and by nobody else"


class RunRecipe(Protocol):
    """Runs a recipe as a caller."""

    def __call__(
        self,
        recipe: Recipe,
        arguments: JsonObject,
        caller: Caller,
        timeout_s: float,
        listeners: ProgramListeners,
    ) -> Awaitable[ProgramOutcome]: ...


class RecipeSource:
    """Lists recipes as tools. `entries` is the pool as it is now; `run` runs one."""

    kind: SourceKind = "builtin"
    id: str | None = None
    ends_when_cancelled = True

    def __init__(
        self, book: RecipeBook, entries: Callable[[], Mapping[str, Entry]], run: RunRecipe
    ) -> None:
        self._book = book
        self._entries = entries
        self._run = run
        self._recipes: Mapping[str, Recipe] = {}
        self._states: dict[str, State] = {}
        self.problems: tuple[str, ...] = ()

    def capabilities(self) -> Sequence[ToolInfo]:
        """All recipes, by name."""
        self._recipes, self.problems = self._book.recipes()
        self._states = {name: self._state(each) for name, each in self._recipes.items()}
        return [each.info for each in self._recipes.values()]

    def state(self, name: str) -> State:
        """`changed` if a tool that it calls is not what it was. Raises `UnknownTool`."""
        return self._state(self._recipe(name))

    @property
    def is_outdated(self) -> bool:
        """Whether a recipe is in another state than it was listed in."""
        return any(self._state(each) != self._states[n] for n, each in self._recipes.items())

    async def call(self, call: Call, context: CallContext) -> Outcome:
        """Run a recipe as whoever makes this call; see `Source.call`."""
        recipe, maker = self._recipe(call.name), running_for()
        if call.pin not in ("", recipe.pin):
            raise UnknownTool(f"{call.name!r} is not what it was; search for it again")
        if maker is None:
            return Outcome(error=CallError("not_allowed", "rights", _NO_CALLER))
        heard = ProgramListeners(maker.approver, context.progress, context.ask, context.log)
        listeners = heard.pausing(context.deadline)
        left_s = context.deadline.left_s
        try:
            outcome = await self._run(recipe, call.arguments, maker.caller, left_s, listeners)
        except CallRefused as refused:
            return Outcome(error=refused.error)
        except ConfigError as error:  # without the extra
            return Outcome(error=CallError("needs_extra", "start", str(error)))
        return replace(outcome, suspended="")

    def _state(self, recipe: Recipe) -> State:
        return "changed" if changed_tools(recipe, self._entries()) else "ready"

    def _recipe(self, name: str) -> Recipe:
        if name not in self._recipes:
            raise UnknownTool(f"no recipe {name!r:.80} here; search for it first")
        return self._recipes[name]


class CheckRecipe(Protocol):
    """The verdict on a program with these inputs, and the tools that it may call."""

    def __call__(
        self, program: str, parameters: JsonObject
    ) -> tuple[ProgramCheck, Sequence[ToolSignature]]: ...


class RecipeStatus(NamedTuple):
    """A recipe, and which of its tools are not what they were."""

    recipe: Recipe
    changed: Sequence[str]


@dataclass(frozen=True, slots=True)
class RecipeDesk:
    """What the operator does with recipes. Nothing that a model can call leads here.

    `refresh` has the pool list them again. Everything raises `ConfigError` and `StoreError`.
    """

    book: RecipeBook
    entries: Callable[[], Mapping[str, Entry]]
    groups: Callable[[], Iterable[str]]
    check: CheckRecipe
    refresh: Callable[[], None]

    def recipes(self) -> Sequence[RecipeStatus]:
        """All recipes that are whole, by name."""
        entries = self.entries()
        return [RecipeStatus(e, changed_tools(e, entries)) for e in self.book.recipes()[0].values()]

    def show(self, name: str) -> RecipeStatus:
        """One recipe, also one that another hand has altered."""
        recipe = self.book.recipe(name, altered=True)
        return RecipeStatus(recipe, changed_tools(recipe, self.entries()))

    def save(
        self, name: str, program: str, *, description: str, inputs: Iterable[str] = ()
    ) -> Recipe:
        """Keep a program as a tool, in place of a recipe of the same name.

        `inputs` are `city:str` or `days:int=3`. Raises `NameTaken` for the name of another tool.
        """
        taken = self.entries().get(checked_name(name))
        if taken and not is_recipe(taken):
            raise NameTaken(f"there is a tool {name!r}; give the recipe another name")
        parameters = recipe_parameters(inputs, self.groups())
        return self._keep(name, program, checked_description(description), parameters)

    def review(self, name: str) -> Recipe:
        """Check a recipe against its tools as they are now, and keep their pins."""
        recipe = self.book.recipe(name, altered=True)
        about = checked_description(recipe.description)
        return self._keep(checked_name(name), recipe.program, about, recipe.parameters)

    def remove(self, name: str) -> None:
        """Take a recipe away."""
        if not self.book.remove(checked_name(name)):
            raise ConfigError(f"there is no recipe {name!r}; see `toolcrib recipes list`")
        self.refresh()

    def proposals(self) -> Sequence[RecipeProposal]:
        """What models have proposed, the oldest first."""
        return self.book.proposals()

    def proposal(self, id: str) -> RecipeProposal:
        """One of them."""
        found = next((each for each in self.book.proposals() if each.id == id), None)
        if found is None:
            raise ConfigError(f"there is no proposal {id!r:.80}; see `toolcrib recipes proposals`")
        return found

    def accept(
        self, id: str, name: str, *, description: str = "", inputs: Iterable[str] = ()
    ) -> Recipe:
        """Save what a model has proposed, under a name and a description of yours or its own."""
        made = self.proposal(id)
        about = description or made.purpose
        recipe = self.save(name, made.program, description=about, inputs=inputs)
        self.book.discard(id)
        return recipe

    def discard(self, id: str) -> None:
        """Take a proposal away."""
        self.book.discard(self.proposal(id).id)

    def _keep(self, name: str, program: str, description: str, parameters: JsonObject) -> Recipe:
        check, signatures = self.check(program, parameters)
        if not check.ok:
            raise ConfigError(f"the program cannot be kept:\n{check.text}")
        tools = tuple(
            RecipeTool(each.tool.name, each.path, each.tool.permission_kind, each.tool.pin)
            for each in signatures
        )
        recipe = Recipe(name, description, parameters, program, tools)
        self.book.write(recipe)
        self.refresh()
        return recipe
