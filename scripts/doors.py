"""Front doors, held by import-linter: outsiders import a package, never its modules.

    [[tool.importlinter.contracts]]
    type = "doors"
    inner = ["toolcrib.sources.mcp"]     # packages within packages that have a door of their own
    public = ["toolcrib.adapters"]       # packages whose modules are each promised to users

Every package right under the root has a door, also one that is made tomorrow. What lies in a
package may import its modules; so may what lies in a package within it, unless that has its own.
"""

from collections.abc import Iterator
from typing import NamedTuple, cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.domain.imports import Module


class Trespass(NamedTuple):
    """One import past a door."""

    importer: str
    imported: str
    line: int
    door: str


class DoorContract(Contract):
    """Kept when every import from outside a package names the package alone."""

    type_name = "doors"

    inner = fields.ListField(subfield=fields.ModuleField(), required=False, default=[])
    public = fields.ListField(subfield=fields.ModuleField(), required=False, default=[])

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002, FBT001 - import-linter calls it so
        [root] = cast("list[str]", self.session_options["root_packages"])
        inner, public = names_of(self.inner), names_of(self.public)
        trespasses = sorted(find_trespasses(graph, doors_of(graph, root, inner) - public))
        return ContractCheck(kept=not trespasses, metadata={"trespasses": trespasses})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for each in cast("list[Trespass]", check.metadata["trespasses"]):
            output.print_error(f"{each.importer}:{each.line} imports {each.imported}", bold=False)
            output.print(f"    Import the name from {each.door}, and list it there.")


def names_of(modules: object) -> set[str]:
    return {module.name for module in cast("list[Module]", modules)}


def doors_of(graph: ImportGraph, root: str, inner: set[str]) -> set[str]:
    """The packages with a door: those right under the root, and those within that are named."""
    return {child for child in graph.find_children(root) if graph.find_children(child)} | inner


def find_trespasses(graph: ImportGraph, doors: set[str]) -> Iterator[Trespass]:
    for door in doors:
        inside = graph.find_descendants(door)
        for imported in inside - behind_other_doors(graph, inside & doors):
            for importer in graph.find_modules_that_directly_import(imported) - inside - {door}:
                details = graph.get_import_details(importer=importer, imported=imported)
                yield Trespass(importer, imported, details[0]["line_number"], door)


def behind_other_doors(graph: ImportGraph, doors: set[str]) -> set[str]:
    """The packages within that have a door of their own, and all that is in them."""
    return doors.union(*map(graph.find_descendants, doors))
