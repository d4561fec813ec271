"""Tools for the SDK's `tool_runner`, which calls them by itself.

A runner keeps the tools that it was made with. So on the native wire all deferred tools are handed
to it at once, out of the model's sight; elsewhere it has the proxy tool.
"""

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias, cast

from anthropic.lib.tools import (
    BetaAsyncBuiltinFunctionTool,
    BetaBuiltinFunctionTool,
    BetaFunctionToolResultType,
)
from anthropic.types.beta import BetaToolUnionParam

from toolcrib.system import BackgroundLoop

Run: TypeAlias = Callable[[str, object], Coroutine[Any, Any, BetaFunctionToolResultType]]
"""Calls the tool of a name. Raises the SDK's `ToolError` with what the model is to read."""


class AsyncRunnerTool(BetaAsyncBuiltinFunctionTool):
    """A tool for the runner of `AsyncAnthropic`. Made by `AnthropicWire`."""

    def __init__(self, param: object, run: Run) -> None:
        self._param = cast("BetaToolUnionParam", param)
        self._run = run

    def to_dict(self) -> BetaToolUnionParam:
        """The tool as it is sent."""
        return self._param

    async def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002 - theirs
        """What the model reads."""
        return await self._run(self.name, input)


class RunnerTool(BetaBuiltinFunctionTool):
    """A tool for the runner of `Anthropic`, which blocks. Made by `AnthropicWire`."""

    def __init__(self, param: object, run: Run, loop: BackgroundLoop) -> None:
        self._param = cast("BetaToolUnionParam", param)
        self._run = run
        self._loop = loop

    def to_dict(self) -> BetaToolUnionParam:
        """The tool as it is sent."""
        return self._param

    def call(self, input: object) -> BetaFunctionToolResultType:  # noqa: A002 - theirs
        """What the model reads."""
        return self._loop.submit(self._run(self.name, input)).result()
