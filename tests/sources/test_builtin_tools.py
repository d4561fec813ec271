import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from dataclasses import replace

import pytest

import toolcrib.tools
from toolcrib.sources.builtin_tools import DECLARATIONS, builtin_tools
from toolcrib.sources.function_source import FunctionSource
from toolcrib.sources.tools_yaml import declare_tools

TOOLS = builtin_tools().capabilities()


def properties(info):
    return json.loads(json.dumps(info.parameters))["properties"]


@pytest.mark.parametrize("info", TOOLS, ids=lambda info: info.name)
def test_a_tool_is_described_in_both_languages_with_all_its_parameters(info):
    assert set(info.display) == set(info.desc) == {"en", "zh-CN"}
    assert info.title == info.display["en"]
    assert info.description == info.desc["en"]
    assert any("\u4e00" <= sign <= "\u9fff" for sign in info.desc["zh-CN"])
    assert info.category
    assert info.tags
    assert info.enabled
    assert all(one["description"] for one in properties(info).values())


def test_what_a_tool_may_do_is_declared_for_each():
    kinds = {info.name: info.permission_kind for info in TOOLS}
    assert {name for name, kind in kinds.items() if kind == "network"} == {"fetch_url"}
    assert {name for name, kind in kinds.items() if kind == "dangerous"} == {
        "delete_file",
        "delete_note",
    }
    assert {name for name, kind in kinds.items() if kind == "write"} == {
        "edit_file",
        "move_file",
        "save_note",
        "write_file",
    }


def test_no_tool_lets_a_model_reach_private_addresses():
    fetch = next(info for info in TOOLS if info.name == "fetch_url")
    assert set(properties(fetch)) == {"url", "raw", "max_characters"}


def test_every_function_that_could_be_a_tool_is_declared():
    declared = {info.name for info in TOOLS}
    described = {
        name
        for module in pkgutil.iter_modules(toolcrib.tools.__path__, "toolcrib.tools.")
        for name, fn in inspect.getmembers(importlib.import_module(module.name), inspect.isfunction)
        if fn.__module__ == module.name and "Args:" in (fn.__doc__ or "")
    }
    assert described <= declared


def test_each_source_is_a_new_one():
    first, second = builtin_tools(), builtin_tools()
    first.remove("calculate")
    assert len(second.capabilities()) == len(first.capabilities()) + 1


def test_listing_the_tools_loads_neither_them_nor_what_reads_declarations():
    code = "import sys; from toolcrib.sources.builtin_tools import builtin_tools; builtin_tools(); "
    code += "print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"httpx2", "pydantic", "yaml", "toolcrib.tools.clock", "toolcrib.tools.web"}


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_tools_are_listed_as_their_file_and_their_functions_declare_them(platform):
    declared = FunctionSource()
    declare_tools(declared, DECLARATIONS, platform=platform)
    listed = builtin_tools(platform=platform)
    infos = [replace(it, module="", packaged=True) for it in declared.capabilities()]
    assert list(listed.capabilities()) == infos
    assert listed.links == declared.links
    assert not declared.problems


def test_each_listed_function_is_the_one_that_is_declared():
    declared, listed = FunctionSource(), builtin_tools()
    declare_tools(declared, DECLARATIONS)
    for info in TOOLS:
        ours, theirs = listed._function(info.name), declared._function(info.name)
        assert (ours.run, ours.signature.schema) == (theirs.run, theirs.signature.schema)
