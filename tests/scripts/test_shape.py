"""The shape report counts what it says it counts, and our own shape is within its targets."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from scripts import shape


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """An empty folder that is about to become the package `demo`."""
    folder = tmp_path / "demo"
    folder.mkdir()
    return folder


def write(package: Path, sources: Mapping[str, str]) -> list[shape.Module]:
    for name, source in sources.items():
        path = package / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(source), encoding="utf-8")
    return shape.read(package)


def cycle(package: Path, sources: Mapping[str, str]) -> list[str]:
    return list(shape.measure(write(package, sources)).cycle)


def spans(*sizes: int) -> list[shape.Span]:
    return [shape.Span(size, "") for size in sizes]


def test_a_function_runs_from_its_def_to_its_last_line_less_its_docstring(package: Path):
    source = '''\
        @decorated
        def outer():
            """Two lines
            of contract."""
            def inner(): ...

            return inner
        '''
    [module] = write(package, {"a": source})
    sizes = {span.where: span.lines for span in shape.functions(module)}
    assert sizes == {"a.py:2 outer": 4, "a.py:5 inner": 1}


def test_lines_of_code_are_neither_blank_nor_comment_nor_docstring(package: Path):
    source = '''\
        """A docstring."""

        # A comment.
        TEXT = """two
        lines"""
        '''
    [module] = write(package, {"a": source})
    assert shape.count_code(module) == 2


def test_any_is_counted_where_it_is_used(package: Path):
    source = """\
        import typing
        from typing import Any  # Any
        x: Any = "Any"
        y: list[typing.Any] = []
        """
    [module] = write(package, {"a": source})
    assert shape.count_any(module) == 2
    assert shape.measure([module]).any_per_1000 == 1000 * 2 / 4


def test_an_empty_file_is_a_module_but_no_file_to_read(package: Path):
    measured = shape.measure(write(package, {"a": "", "b": "x = 1\n"}))
    assert (measured.modules, measured.files) == (2, [shape.Span(1, "b.py")])


def test_a_line_of_imports_is_no_cycle(package: Path):
    assert cycle(package, {"a": "from demo import b", "b": "import demo.c", "c": ""}) == []


def test_a_cycle_is_every_module_on_it_and_none_that_only_leads_there(package: Path):
    sources = {
        "a": "from demo.b import x",
        "b": "import demo.c",
        "c": "from demo import a",
        "d": "from demo import a",
    }
    assert cycle(package, sources) == ["demo.a", "demo.b", "demo.c"]


@pytest.mark.parametrize(
    "statement",
    [
        "def f():\n    from demo import a",
        "if TYPE_CHECKING:\n    from demo.a import A",
        "from . import a",
        "from .a import A",
    ],
)
def test_an_import_counts_wherever_and_however_it_stands(package: Path, statement: str):
    assert cycle(package, {"a": "from demo import b", "b": statement}) == ["demo.a", "demo.b"]


def test_dots_count_from_the_package_in_a_package_and_from_the_parent_in_a_module(package: Path):
    sources = {"sub/__init__": "from .leaf import x", "sub/leaf": "from . import y"}
    assert cycle(package, sources) == ["demo.sub", "demo.sub.leaf"]


def test_importing_a_module_is_not_importing_the_package_around_it(package: Path):
    sources = {"__init__": "from demo.a import A", "a": "from demo import b", "b": ""}
    assert cycle(package, sources) == []


def splinters(package: Path, sources: Mapping[str, str]) -> list[str]:
    return [span.where for span in shape.measure(write(package, sources)).splinters]


def test_a_small_module_with_one_importer_is_a_splinter(package: Path):
    sources = {"a": "from demo.b import x", "b": "x = 1", "c": ""}
    assert splinters(package, sources) == ["b.py"]
    assert splinters(package, {**sources, "c": "from demo.b import x"}) == []
    assert splinters(package, {**sources, "b": "x = 1\n" * shape.SPLINTER}) == []


def test_a_door_is_looked_through_and_is_no_importer(package: Path):
    door = {"__init__": "", "sub/__init__": "from demo.sub.b import x", "sub/b": "x = 1"}
    assert splinters(package, {**door, "a": "from demo.sub import x"}) == ["sub/b.py"]
    both = {**door, "a": "from demo.sub import x", "sub/c": "from demo.sub.b import x"}
    assert splinters(package, both) == []


def test_a_splinter_with_a_reason_may_stay(package: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shape, "REASONS", {"b.py": "read by another program"})
    assert splinters(package, {"a": "from demo.b import x", "b": "x = 1"}) == []


def test_every_reason_is_for_a_module_that_is_there():
    assert all((shape.PACKAGE / path).is_file() for path in shape.REASONS)


def test_a_figure_may_be_too_small_too():
    assert not shape.Verdict("file lines p50", 80, 150, least=110).kept
    assert "under" in str(shape.Verdict("file lines p50", 80, 150, least=110))


def test_percentiles_are_interpolated():
    assert shape.percentile(spans(*range(1, 22)), 50) == 11
    assert shape.percentile(spans(*range(1, 22)), 95) == 20
    assert shape.percentile(spans(10, 20), 50) == 15
    assert shape.percentile(spans(7), 95) == 7
    assert shape.percentile([], 50) == 0


def test_check_fails_where_a_target_is_missed(package: Path, capsys: pytest.CaptureFixture[str]):
    write(package, {"a": "from demo import b\n", "b": "from demo import a\n"})
    assert shape.main([str(package)]) == 0
    assert shape.main([str(package), "--check"]) == 1
    printed = capsys.readouterr().out
    assert "2 of 2" in printed
    assert "over" in printed


def test_a_folder_without_code_is_an_error(package: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        shape.main([str(package)])
    assert "no Python files" in capsys.readouterr().err


def test_our_own_shape_is_within_its_targets(capsys: pytest.CaptureFixture[str]):
    status = shape.main(["--check"])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert all(peer.name in printed for peer in shape.PEERS)
