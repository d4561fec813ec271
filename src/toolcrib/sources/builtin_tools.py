"""The tools that come with Toolcrib, and the folders in which a caller lets them work."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

from toolcrib.model import Call, CallContext, InputRequest, Json, Outcome, ToolInfo
from toolcrib.settings import Settings
from toolcrib.sources.function import Function
from toolcrib.sources.function_source import FunctionSource
from toolcrib.sources.tools_yaml import declare_tools
from toolcrib.tools import ADD_TO_ROOTS, OwnFiles, Roots, is_file_tool, working_in

MOST_ROOTS = 100
_LIST_ROOTS: Mapping[str, InputRequest] = {"roots": InputRequest("roots/list", {})}
_NO_ROOTS = f"the client can declare roots, or {ADD_TO_ROOTS}"


def builtin_tools(settings: Settings | None = None) -> "BuiltinToolSource":
    """A source of its own with every tool of `toolcrib.tools`, as its tools.yaml declares them."""
    source = BuiltinToolSource(settings or Settings())
    with resources.as_file(resources.files("toolcrib.tools") / "tools.yaml") as path:
        declare_tools(source, path)
    return source


class BuiltinToolSource(FunctionSource):
    """Runs our own tools. A tool that takes paths works in the roots of its caller.

    Roots are the folders of the setting `file_roots`. Where that is empty, `CallContext.roots`
    decides: the working folder, the roots that the client declares, or none.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings

    async def call(self, call: Call, context: CallContext) -> Outcome:
        """As every function; see `FunctionSource.call`."""
        if not is_file_tool(self._function(call.name).run):
            return await super().call(call, context)
        with working_in(await self._roots(context)):
            return await super().call(call, context)

    async def _roots(self, context: CallContext) -> Roots:
        own = OwnFiles.of(self._settings)
        if self._settings.file_roots:
            return Roots(self._settings.file_roots, own)
        match context.roots:
            case "working_folder":
                return Roots([Path.cwd()], own)
            case "client":
                replies = await context.ask(_LIST_ROOTS)
                return Roots(_folders(replies.get("roots", {}).get("roots")), own, _NO_ROOTS)
            case "none":
                return Roots((), own)

    def _module(self, function: Function) -> str:  # noqa: ARG002 - wherever it is, it is ours
        """They are `builtin`, wherever in Toolcrib they are written."""
        return ""

    def put(self, function: Function) -> ToolInfo:
        """As every source of functions, but what is put here comes with Toolcrib."""
        return super().put(replace(function, info=replace(function.info, packaged=True)))


def _folders(roots: Json) -> Iterable[Path]:
    """The folders that a client has declared, without those that are not on this machine."""
    from urllib.request import url2pathname  # noqa: PLC0415 - with a client for HTTP and mail

    for root in roots[:MOST_ROOTS] if isinstance(roots, list) else ():
        match root:
            case {"uri": str(uri)} if (url := urlsplit(uri)).scheme == "file":
                if url.netloc in {"", "localhost"} and url.path:
                    yield Path(url2pathname(url.path))
            case _:
                continue
