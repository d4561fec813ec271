"""What the operator has switched off of a server: all of it, or some of its tools."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from toolcrib.errors import ConfigError
from toolcrib.model import Json
from toolcrib.sources.mcp.config.fields import Fields, read_patterns
from toolcrib.sources.mcp.config.server import ServerConfig


@dataclass(frozen=True, slots=True)
class Switches:
    """The keys of a server's entry that say so; see `ServerConfig`."""

    disabled: bool = False
    enabled_tools: tuple[str, ...] | None = None
    disabled_tools: tuple[str, ...] = ()

    @classmethod
    def of(cls, config: ServerConfig) -> "Switches":
        return cls(config.disabled, config.enabled_tools, config.disabled_tools)

    def on(self, config: ServerConfig) -> ServerConfig:
        """The server with these in place of its own."""
        return replace(
            config,
            disabled=self.disabled,
            enabled_tools=self.enabled_tools,
            disabled_tools=self.disabled_tools,
        )

    def without(self, pattern: str) -> "Switches":
        """With the tools of this pattern switched off."""
        if pattern in self.disabled_tools:
            return self
        return replace(self, disabled_tools=(*self.disabled_tools, pattern))

    def with_(self, pattern: str) -> "Switches":
        """With the tools of this pattern switched on.

        Raises `ConfigError` if a wider pattern switches them off.
        """
        still_off = tuple(each for each in self.disabled_tools if not fnmatchcase(each, pattern))
        wider = next((each for each in still_off if fnmatchcase(pattern, each)), None)
        if wider is not None:
            raise ConfigError(f"{pattern!r} is switched off by {wider!r}; enable that one")
        listed = self.enabled_tools
        if listed is not None and not any(fnmatchcase(pattern, each) for each in listed):
            listed = (*listed, pattern)
        return replace(self, enabled_tools=listed, disabled_tools=still_off)

    def written(self, base: "Switches") -> Mapping[str, Json]:
        """The keys as they are written over `base`; null where that says the same."""
        listed = self.enabled_tools
        return {
            "disabled": None if self.disabled == base.disabled else self.disabled,
            "enabled_tools": None
            if listed == base.enabled_tools
            else ["*"]
            if listed is None
            else [*listed],
            "disabled_tools": None
            if self.disabled_tools == base.disabled_tools
            else [*self.disabled_tools],
        }


def read_switches(fields: Fields, base: Switches) -> Switches:
    """What an entry says, over `base`. Patterns that cannot be read switch all tools off."""
    expected = "a list of tool names"
    listed, barred = base.enabled_tools, base.disabled_tools
    if fields.has("enabled_tools"):
        listed = fields.custom("enabled_tools", read_patterns, (), expected)
    if fields.has("disabled_tools"):
        barred = fields.custom("disabled_tools", read_patterns, ("*",), expected)
    return Switches(fields.flag("disabled", default=base.disabled), listed, barred)
