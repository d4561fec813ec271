"""The pin of a capability: a hash of its whole definition, equal only if all of it is.

A source that has more to pin than we know fields for makes the pin itself, and the pool keeps it.
"""

from dataclasses import fields

from toolcrib.model import Capability
from toolcrib.text.canonical import digest


def pin(capability: Capability) -> str:
    """A hash of every field but the pin itself, and of the kind."""
    definition = {field.name: getattr(capability, field.name) for field in fields(capability)}
    return digest(definition | {"pin": "", "kind": capability.kind})
