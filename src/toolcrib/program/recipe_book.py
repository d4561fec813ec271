"""Where recipes are kept: a file each, sealed; and what models propose, which is no recipe yet.

    recipes/NAME.json            a recipe, with a MAC of this installation over its tenant
    recipes/proposals/ID.json    a program that a model has proposed

A recipe holds pins that the operator has agreed to: it is a decision, and sealed as one. A file
that another hand has written is a problem and no tool, until the operator reviews it.
"""

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import RLock
from typing import Any

from toolcrib.errors import ConfigError, StoreError
from toolcrib.model import JsonObject
from toolcrib.program.recipe import LONGEST_TEXT, Recipe, recipe_from
from toolcrib.strict_json import canonical_json
from toolcrib.system import (
    file_locked,
    is_fair,
    make_private_folder,
    read_private_file,
    write_private_file,
)
from toolcrib.text import printable, without_hidden

LARGEST_FILE = 512 * 1024
MOST_RECIPES = 500
MOST_PROPOSALS = 20
MOST_PROPOSED = 16 * 1024
_PURPOSE = b"toolcrib.recipe"


@dataclass(frozen=True, slots=True)
class RecipeProposal:
    """A program that a caller proposes to keep, and what it is for. It cannot be called."""

    id: str
    program: str
    purpose: str
    caller: str
    at: float


class RecipeBook:
    """The recipes of a tenant. Without a folder they are kept in memory alone.

    Everything here raises `StoreError` when a file cannot be read or written.
    """

    def __init__(self, folder: Path | None, key: Callable[[], bytes], tenant: str) -> None:
        self._folder = folder
        self._key = key
        self._tenant = tenant
        self._memory: dict[str, bytes] = {}
        self._changing = RLock()

    @property
    def is_empty(self) -> bool:
        """Whether there is no recipe, whole or altered. Cheap."""
        return not self._names("")

    def recipes(self) -> tuple[Mapping[str, Recipe], tuple[str, ...]]:
        """All recipes by name, in the order of their names; and what is wrong with other files."""
        found: dict[str, Recipe] = {}
        problems: list[str] = []
        for name in self._names("")[:MOST_RECIPES]:
            try:
                found[name] = self.recipe(name)
            except (ConfigError, StoreError) as error:
                problems.append(str(error))
        return found, tuple(problems)

    def recipe(self, name: str, *, altered: bool = False) -> Recipe:
        """A recipe; with `altered`, one that another hand has written too. Raises `ConfigError`."""
        written = self._read(name)
        if written is None:
            raise ConfigError(f"there is no recipe {name!r:.80}; see `toolcrib recipes list`")
        try:
            fields: Any = json.loads(written)
            recipe = recipe_from(fields["recipe"])
            seal = str(fields["seal"])
        except (ValueError, KeyError, TypeError, RecursionError):
            todo = f"remove it: `toolcrib recipes remove {name}`"
            raise ConfigError(f"the file of the recipe {name!r} cannot be read; {todo}") from None
        is_ours = recipe.name == name and hmac.compare_digest(seal, self._seal(recipe))
        if not is_ours and not (altered and recipe.name == name):
            todo = f"look at it: `toolcrib recipes review {name}`"
            problem = f"the file of the recipe {name!r} was altered by another hand"
            raise ConfigError(f"{problem}; {todo}")
        return recipe

    def write(self, recipe: Recipe) -> None:
        """Keep a recipe, in place of one of its name. Raises `ConfigError` for one too many."""
        names = self._names("")
        if recipe.name not in names and len(names) >= MOST_RECIPES:
            raise ConfigError(f"there are {MOST_RECIPES} recipes, which is the most; remove one")
        fields: JsonObject = {"recipe": recipe.fields(), "seal": self._seal(recipe)}
        self._write(recipe.name, json.dumps(fields, indent=1, ensure_ascii=False).encode())

    def remove(self, name: str) -> bool:
        """Take a recipe away, whole or altered. False if there is none."""
        return self._remove(name)

    def propose(self, program: str, purpose: str, caller: str) -> bool:
        """Keep a proposal; False if it is too large, or as many wait as may of this caller.

        The same program is proposed once.
        """
        visible = printable(without_hidden(purpose)).strip()[:LONGEST_TEXT]
        if len(program) > MOST_PROPOSED or not visible:
            return False
        with self._changing:
            waiting = self.proposals()
            if any(each.program == program for each in waiting):
                return True
            own = sum(each.caller == caller for each in waiting)
            if not is_fair(own, MOST_PROPOSALS - len(waiting)):
                return False
            made = RecipeProposal(secrets.token_hex(4), program, visible, caller, time.time())
            self._write(f"proposals/{made.id}", json.dumps(asdict(made)).encode())
        return True

    def proposals(self) -> Sequence[RecipeProposal]:
        """What was proposed and not decided yet, the oldest first."""
        found: list[RecipeProposal] = []
        for name in self._names("proposals"):
            with suppress(ValueError, TypeError):  # not one of ours: nobody is offered it
                made = RecipeProposal(**json.loads(self._read(f"proposals/{name}") or b""))
                if made.id == name:
                    found.append(made)
        return sorted(found, key=lambda each: (each.at, each.id))

    def discard(self, id: str) -> bool:
        """Take a proposal away. False if there is none."""
        return any(each.id == id for each in self.proposals()) and self._remove(f"proposals/{id}")

    def _seal(self, recipe: Recipe) -> str:
        digest = hashlib.blake2b(key=self._key(), digest_size=32, person=_PURPOSE)
        digest.update(canonical_json([self._tenant, recipe.fields()]).encode())
        return digest.hexdigest()

    def _names(self, under: str) -> Sequence[str]:
        if self._folder is None:
            start = f"{under}/" if under else ""
            names = [name.removeprefix(start) for name in self._memory if name.startswith(start)]
            return sorted(name for name in names if "/" not in name)
        return sorted(path.stem for path in (self._folder / under).glob("[!.]*.json"))

    def _read(self, name: str) -> bytes | None:
        if self._folder is None:
            return self._memory.get(name)
        try:
            return read_private_file(self._folder / f"{name}.json", LARGEST_FILE)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _store_error(error) from error

    def _write(self, name: str, content: bytes) -> None:
        if self._folder is None:
            self._memory[name] = content
            return
        path = self._folder / f"{name}.json"
        try:
            make_private_folder(path.parent)
            with file_locked(path):
                write_private_file(path, content)
        except OSError as error:
            raise _store_error(error) from error

    def _remove(self, name: str) -> bool:
        if self._folder is None:
            return self._memory.pop(name, None) is not None
        try:
            (self._folder / f"{name}.json").unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _store_error(error) from error
        return True


def _store_error(error: OSError) -> StoreError:
    return StoreError(f"{error.filename}: {error.strerror or error}; recipes cannot be kept there")
