"""The tools that come with Toolcrib, and the folders in which a caller lets them work."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from toolcrib import tools
from toolcrib.model import Call, CallContext, InputRequest, Json, Outcome, ToolInfo
from toolcrib.settings import Settings
from toolcrib.sources.function import Function, function_from, import_function, running_platform
from toolcrib.sources.function_source import FunctionSource
from toolcrib.tools import ADD_TO_ROOTS, OwnFiles, Roots, is_file_tool, working_in

if TYPE_CHECKING:
    from toolcrib.sources.signature import Signature

DECLARATIONS = Path(tools.__file__).with_name("tools.yaml")
LISTING = DECLARATIONS.with_suffix(".json")
MOST_ROOTS = 100
_LIST_ROOTS: Mapping[str, InputRequest] = {"roots": InputRequest("roots/list", {})}
_NO_ROOTS = f"the client can declare roots, or {ADD_TO_ROOTS}"


class PackagedFunction:
    """A tool that comes with Toolcrib: listed, and its function loaded when it is run."""

    def __init__(self, info: ToolInfo, reference: str) -> None:
        self.info = info
        self._reference = reference

    @property
    def run(self) -> Callable[..., object]:
        """The function itself."""
        return self._loaded.run

    @property
    def signature(self) -> "Signature":
        """How it is called."""
        return self._loaded.signature

    @cached_property
    def _loaded(self) -> Function:
        return function_from(import_function(self._reference))


def builtin_tools(
    settings: Settings | None = None, *, platform: str = sys.platform
) -> "BuiltinToolSource":
    """A source of its own with every tool of `toolcrib.tools`, as its tools.yaml declares them.

    `platform` is the running one, as `sys.platform` spells it.
    """
    return BuiltinToolSource(settings or Settings(), running_platform(platform))


class BuiltinToolSource(FunctionSource):
    """Runs our own tools. A tool that takes paths works in the roots of its caller.

    Roots are the folders of the setting `file_roots`. Where that is empty, `CallContext.roots`
    decides: the working folder, the roots that the client declares, or none.

    What the tools are is read from tools.json: `scripts/write_docs.py` writes it from tools.yaml
    and the signatures of the functions, which take long to read.
    """

    def __init__(self, settings: Settings, platform: str) -> None:
        super().__init__()
        self._settings = settings
        for name, listed in json.loads(LISTING.read_bytes()).items():
            self._functions[name] = PackagedFunction(
                _info(name, listed, platform), listed["function"]
            )
            for link, place in listed["links"].items():
                self.links[name, link] = f"{DECLARATIONS}{place}"

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


def _info(name: str, listed: dict[str, Any], platform: str) -> ToolInfo:
    """The tool as it is listed. What is a list in JSON is a tuple in a capability."""
    facts: dict[str, Any] = {**listed["facts"]}
    for key in {"tags", "platforms", "often_with"} & facts.keys():
        facts[key] = tuple(facts[key])
    info = ToolInfo(name=name, packaged=True, **facts)
    return replace(info, platform_available=not {"all", platform}.isdisjoint(info.platforms))


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
