"""The tools that come with Toolcrib."""

from importlib import resources

from toolcrib.sources.builtin import BuiltinSource
from toolcrib.sources.declared import declare


def builtin_tools() -> BuiltinSource:
    """A source of its own with every tool of `toolcrib.tools`, as its tools.yaml declares them."""
    source = BuiltinSource()
    with resources.as_file(resources.files("toolcrib.tools") / "tools.yaml") as path:
        declare(source, path)
    return source
