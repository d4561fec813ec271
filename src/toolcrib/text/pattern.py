"""Regular expressions that cannot hang: the linear-time engine that comes with pydantic."""

from collections.abc import Callable

from pydantic_core import SchemaError, SchemaValidator, core_schema

from toolcrib.text.repeats import steps

LONGEST_PATTERN = 200
MOST_STEPS = 250


class BadPattern(ValueError):
    """A pattern that the engine does not take. The message says why."""


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """A test for whether the pattern occurs anywhere in a text, whatever the case of its letters.

    Look-around and back-references are refused: they are what makes patterns slow. So are many
    repeats: the time is linear in the text, and in the pattern with its repeats written out.
    """
    if len(pattern) > LONGEST_PATTERN:
        message = f"the pattern has {len(pattern)} characters; {LONGEST_PATTERN} is the most"
        raise BadPattern(message)
    if steps(pattern) > MOST_STEPS:
        raise BadPattern(f"the pattern repeats too much: more than {MOST_STEPS} steps")
    try:
        schema = core_schema.str_schema(pattern=f"(?i){pattern}", regex_engine="rust-regex")
        return SchemaValidator(schema).isinstance_python
    except (SchemaError, UnicodeEncodeError) as error:
        raise BadPattern(_reason(error)) from error


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "error" in line), lines[-1])
