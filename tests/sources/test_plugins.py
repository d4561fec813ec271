import asyncio
import re
import sys
import tomllib
from pathlib import Path

import pytest

from tests.workshop import soon
from toolcrib.model import Call
from toolcrib.sources.plugins import GROUP, load_plugins

EXAMPLE = Path(__file__).parent / "plugin_package"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Make a package importable, with the metadata that an installer would write."""
    loaded = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)

    def install_package(package, code, entry_points):
        (tmp_path / f"{package}.py").write_text(code)
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in entry_points.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))

    yield install_package
    for name in set(sys.modules) - loaded:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def example(install):
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    code = (EXAMPLE / "example_plugin.py").read_text()
    install("example_plugin", code, project["entry-points"][GROUP])


def names(source):
    return [capability.name for capability in source.capabilities()]


def test_the_example_contributes_in_every_way(example):
    plugins = load_plugins()
    assert plugins.problems == ()
    assert [(source.kind, source.id, names(source)) for source in plugins.sources] == [
        ("builtin", "coin", ["flip_coin"]),
        ("builtin", "dice", ["roll_dice"]),
        ("files", None, ["pancakes"]),
        ("builtin", "listed", ["miles"]),
        ("files", None, ["pancakes"]),
        ("builtin", "units", ["miles", "kilometres"]),
    ]


def test_the_tools_of_a_plugin_can_be_called(example):
    dice = next(source for source in load_plugins().sources if source.id == "dice")
    (info,) = dice.capabilities()
    assert (info.source_id, info.permission_kind) == ("dice", "write")
    assert asyncio.run(dice.call(Call("roll_dice", {"sides": 1}), soon())).content == 1


def test_no_plugins_is_no_problem():
    plugins = load_plugins()
    assert (plugins.sources, plugins.problems) == ((), ())


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("raise RuntimeError('at import')", "RuntimeError: at import"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import no_such_module_here", "ModuleNotFoundError"),
        ("other = 1", "AttributeError"),
        ("it = 5", "TypeError: 5 is neither a function"),
        ("it = 'text'", "TypeError: 'text' is neither a function"),
        ("def it(): return 'sunny'", "if a tool returned it, add @tool"),
        ("def it(): raise KeyError('x')", "KeyError"),
        ("def it(*args): ...", "DeclarationError: .*list parameter"),
        ("def f(x): ...\nit = [f, f]", "NameTaken"),
        ("def f(x): ...\nit = [f, 5]", "5 is neither a function nor a source"),
        ("class it:\n    def __init__(self, x): ...", "TypeError"),
    ],
)
def test_a_broken_plugin_is_a_problem_and_breaks_no_other(example, install, code, cause):
    whole = len(load_plugins().sources)
    install("broken_plugin", code, {"broken": "broken_plugin:it"})
    plugins = load_plugins()
    assert len(plugins.sources) == whole
    (problem,) = plugins.problems
    assert problem.plugin == "broken"
    assert re.search(cause, problem.cause)
    assert str(problem).startswith("plugin 'broken': ")
    assert str(problem).endswith("update or uninstall the package 'broken_plugin'")


def test_a_plugin_contributes_all_or_nothing(install):
    imported = "from toolcrib.sources.function_source import FunctionSource"
    code = f"{imported}\nit = [FunctionSource('mine'), 5]"
    install("half_plugin", code, {"half": "half_plugin:it"})
    plugins = load_plugins()
    assert plugins.sources == ()
    [problem] = plugins.problems
    assert "5 is neither a function nor a source" in problem.cause
