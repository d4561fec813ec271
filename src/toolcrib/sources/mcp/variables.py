"""References to variables of ours in a server's configuration: `${NAME}`, `${NAME:-default}`.

VS Code's spelling `${env:NAME}` is understood too. A file then names its secrets without holding
them.
"""

import re
from collections.abc import Iterable, Mapping

from toolcrib.errors import ConfigError

_REFERENCE = re.compile(r"\$\{(?:env:)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")


def references(texts: Iterable[str]) -> tuple[str, ...]:
    """The references in the texts as they are written, sorted, each once."""
    return tuple(sorted({found[0] for text in texts for found in _REFERENCE.finditer(text)}))


def referred_to(texts: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that the texts refer to and that are set, with their values."""
    names = {found["name"] for text in texts for found in _REFERENCE.finditer(text)}
    return {name: environ[name] for name in sorted(names) if environ.get(name)}


def unset(texts: Iterable[str], environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that the texts refer to without a default and that are not set, each once."""
    found = (each for text in texts for each in _REFERENCE.finditer(text))
    named = (each["name"] for each in found if each["default"] is None)
    return tuple(dict.fromkeys(name for name in named if not environ.get(name)))


def filled(text: str, environ: Mapping[str, str]) -> str:
    """The text with its references replaced. Raises `ConfigError` for a variable that is not set.

    What looks like a reference and is none stays as it is: a program may have its own.
    """

    def value(found: re.Match[str]) -> str:
        name, default = found["name"], found["default"]
        if not environ.get(name) and default is None:
            raise ConfigError(f"the variable {name} is not set; set it where Toolcrib is started")
        return environ.get(name) or default

    return _REFERENCE.sub(value, text)


def filled_all(texts: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    return {key: filled(text, environ) for key, text in texts.items()}
