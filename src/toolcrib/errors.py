"""Everything that Toolcrib raises on purpose.

    ToolcribError
    ├── ConfigError           a setting, or what a program passes to us, cannot be used
    ├── DeclarationError      a file or a function cannot become a capability
    ├── SourceError           a source or a plugin cannot list what it has
    ├── NameTaken             a second capability wants a name that is in use
    ├── UnknownTool           no capability has this name
    ├── AmbiguousName         a bare name fits several capabilities
    ├── BadArguments          a call's arguments do not fit the tool's schema
    ├── StoreError            the catalog or the decisions cannot be opened, read or written
    │   └── StoreAway         the database of a shared store cannot be reached
    ├── EmbedError            an embedder gave no vectors
    ├── ReplyError            a model's reply is another provider's, or is not whole
    └── EvalError             a catalog or query file for `toolcrib eval` is not usable

A message names the cause and the next step. Whoever catches one may show it as it is.
"""

__all__ = [
    "AmbiguousName",
    "BadArguments",
    "ConfigError",
    "DeclarationError",
    "EmbedError",
    "EvalError",
    "NameTaken",
    "ReplyError",
    "SourceError",
    "StoreAway",
    "StoreError",
    "ToolcribError",
    "UnknownTool",
]


class ToolcribError(Exception):
    """The root: catch this to catch everything that Toolcrib raises on purpose."""


class ConfigError(ToolcribError):
    """A setting, a settings file, or what a program passes to us cannot be used."""


class DeclarationError(ToolcribError):
    """A file or a function cannot become a capability. Names file, line and key."""


class SourceError(ToolcribError):
    """A source or a plugin cannot list what it has."""


class NameTaken(ToolcribError):
    """A second capability wants a name that is in use."""


class UnknownTool(ToolcribError):
    """No capability has this name."""


class AmbiguousName(ToolcribError):
    """A bare name fits several capabilities. The message lists them."""


class BadArguments(ToolcribError):
    """A call's arguments do not fit the tool's schema."""


class StoreError(ToolcribError):
    """The catalog file, or the one with decisions, cannot be opened, read or written."""


class StoreAway(StoreError):
    """The database of a shared store cannot be reached. Nobody knows if a last change was kept."""


class EmbedError(ToolcribError):
    """An embedder gave no vectors."""


class ReplyError(ToolcribError):
    """What was handed to a wire is no reply of its provider, or is not whole."""


class EvalError(ToolcribError):
    """A catalog or query file for `toolcrib eval` is not usable."""
