import asyncio
import re
import subprocess
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


def loads_metadata(*path: str, before: str = "") -> bool:
    """Whether plugins are looked for with the library, in a process with these folders as well."""
    code = f"import sys; sys.path += {list(path)!r}; {before}\n"
    code += "from toolcrib.sources.plugins import load_plugins\n"
    code += "load_plugins(); print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout == "True\n"


def test_without_any_plugin_no_metadata_is_read(tmp_path):
    (tmp_path / "a-1.dist-info").mkdir()
    (tmp_path / "a-1.dist-info" / "entry_points.txt").write_text("[console_scripts]\na = a:b\n")
    (tmp_path / "b.egg-info").write_text("Name: b\n")
    assert not loads_metadata(str(tmp_path), str(tmp_path / "not there"))


@pytest.mark.parametrize("name", ["a-1.dist-info", "a-1.egg-info"])
def test_metadata_is_read_where_a_package_names_the_group(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "entry_points.txt").write_text(f"[{GROUP}]\n")
    for about in ("METADATA", "PKG-INFO"):
        (tmp_path / name / about).write_text("Metadata-Version: 2.1\nName: a\nVersion: 1\n")
    assert loads_metadata(str(tmp_path))


def test_metadata_is_read_where_packages_may_be_in_archives(tmp_path):
    (tmp_path / "some.zip").write_bytes(b"")
    assert loads_metadata(str(tmp_path / "some.zip"))
    (tmp_path / "a.egg").mkdir()
    assert loads_metadata(str(tmp_path))


def test_metadata_is_read_where_packages_are_found_in_other_ways():
    ways = "{'find_spec': lambda *a: None, 'find_distributions': lambda *a: ()}"
    other = f"sys.meta_path.append(type('F', (), {ways})())"
    assert loads_metadata(before=other)
