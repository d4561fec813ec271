"""What OpenAI asks of a function, on both of its APIs."""

import re
from collections.abc import Sequence

from toolcrib.model import JsonObject
from toolcrib.testing.provider import ApiRefusal, once_each, refuse, text_of

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
AT_THE_TOP = ("oneOf", "anyOf", "allOf", "enum", "not")


def check_functions(functions: Sequence[JsonObject]) -> None:
    """Raises `ApiRefusal` for a name or for parameters that the API does not take."""
    once_each((text_of(each.get("name")) for each in functions), "Duplicate tool name '{}'")
    for function in functions:
        name, schema = text_of(function.get("name")), function.get("parameters")
        refuse(f"Invalid tool name '{name}'", when=not NAME.fullmatch(name))
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise ApiRefusal(
                f"Invalid schema for function '{name}': schema must have type 'object'"
            )
        refuse(
            f"Invalid schema for function '{name}': alternatives at the top level",
            when=any(each in schema for each in AT_THE_TOP),
        )


def openai_error(message: str) -> JsonObject:
    """A refusal in OpenAI's words."""
    kind = "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}
