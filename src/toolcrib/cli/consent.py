"""Who agrees to what a command shows: `--yes`, a person at the terminal, or nobody."""

import sys
from dataclasses import dataclass

import typer

from toolcrib.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Consent:
    """What may be changed without asking, and how it is reported.

    `guided`: Enter alone is a yes, and of our own file only the names of new servers are shown.
    """

    dry_run: bool
    yes: bool
    as_json: bool
    guided: bool = False

    def refuse_silence(self) -> None:
        """Raises `ConfigError` where nobody could be asked and nobody has agreed."""
        if not (self.dry_run or self.yes) and (self.as_json or not at_terminal()):
            raise ConfigError(
                "there is no terminal to ask on; look with --dry-run first, then agree with --yes"
            )

    def agreed(self, question: str) -> bool:
        """Whether to do it: never in a dry run, else by `--yes` or by asking."""
        return not self.dry_run and (self.yes or typer.confirm(question, default=self.guided))


def at_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty()
