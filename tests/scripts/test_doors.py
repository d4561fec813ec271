"""The contract of the front doors finds each import past one, and no other."""

from grimp import ImportGraph

from scripts.doors import doors_of, find_trespasses

INNER = {"demo.sources.mcp"}


def trespasses(*imports: tuple[str, str]) -> list[tuple[str, str]]:
    graph = ImportGraph()
    for module in ("demo", "demo.alone", "demo.sources", "demo.sources.files", "demo.sources.mcp"):
        graph.add_module(module)
    for module in ("demo.sources.mcp.stdio", "demo.gateway", "demo.gateway.http"):
        graph.add_module(module)
    for importer, target in imports:
        graph.add_import(importer=importer, imported=target, line_number=1, line_contents="")
    found = find_trespasses(graph, doors_of(graph, "demo", INNER))
    return sorted((each.importer, each.imported) for each in found)


def test_every_package_under_the_root_has_a_door_and_a_lone_module_none():
    graph = ImportGraph()
    for module in ("demo", "demo.alone", "demo.sources", "demo.sources.files"):
        graph.add_module(module)
    assert doors_of(graph, "demo", INNER) == {"demo.sources", "demo.sources.mcp"}


def test_an_outsider_may_import_a_package_but_none_of_its_modules():
    assert trespasses(("demo.gateway.http", "demo.sources")) == []
    past = ("demo.gateway.http", "demo.sources.files")
    assert trespasses(past) == [past]


def test_what_is_within_a_package_may_import_its_modules():
    assert trespasses(("demo.sources.mcp.stdio", "demo.sources.files")) == []
    assert trespasses(("demo.sources", "demo.sources.files")) == []


def test_a_package_within_a_package_has_its_own_door():
    assert trespasses(("demo.gateway", "demo.sources.mcp")) == []
    past = ("demo.sources.files", "demo.sources.mcp.stdio")
    assert trespasses(past) == [past]


def test_a_module_of_no_package_may_be_imported_by_all():
    assert trespasses(("demo.gateway.http", "demo.alone")) == []
