"""Words of the command line become values without pydantic, where nothing has to be checked.

typer builds a pydantic adapter for each parameter of a command, also for those that are not given.
To load pydantic and to build them takes as much CPU as all else that a short command does. So a
text, a whole number within its bounds and what is left out are read here, as typer reads them. All
else goes to typer, and so does all that is wrong: its messages are the only ones.

A typer that has no adapters (before 0.20) is left alone.
"""

from typing import Any

ADAPTER = "get_runtime_param"
"""What typer asks a parameter for when it reads a value."""


def read_plainly(parameter: Any) -> None:  # noqa: ANN401 - the classes of typer's Click are private
    """Let a parameter read plain values itself from now on. Doing it twice does no harm."""
    adapter = getattr(parameter, ADAPTER, None)
    if adapter is not None and not isinstance(adapter, PlainValue):
        setattr(parameter, ADAPTER, PlainValue(parameter, adapter))


class PlainValue:
    """Stands for the adapter of a parameter, and has it made if a value needs it."""

    def __init__(self, parameter: Any, adapter: Any) -> None:  # noqa: ANN401 - as above
        described = parameter.type_descriptor
        self._type = described.annotation if described.parameter_info.parser is None else None
        self._least = described.parameter_info.min
        self._most = described.parameter_info.max
        self._adapter = adapter

    def __call__(self) -> "PlainValue":
        """As typer asks for the adapter."""
        return self

    def coerce(self, value: Any, *, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - as above
        """The value, as the adapter reads it."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if isinstance(value, str) and self._type is str:
            return value
        if isinstance(value, str) and self._type is int and self._is_number(value):
            return int(value)
        return self._adapter().coerce(value, param=param, ctx=ctx)

    def _is_number(self, word: str) -> bool:
        """Whether it is digits alone, and within the bounds."""
        if not (word.isascii() and word.isdecimal()) or len(word) > len(str(2**31)):
            return False
        above = self._least is None or int(word) >= self._least
        return above and (self._most is None or int(word) <= self._most)
