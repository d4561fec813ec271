"""The pin of a capability: a hash of its whole definition, equal only if all of it is.

A source that has more to pin than we know fields for makes the pin itself, and the pool keeps it.
"""

from dataclasses import fields

from toolcrib.model import Capability
from toolcrib.text.canonical import digest


def pin(capability: Capability) -> str:
    """A hash of the kind and of every field but the pin itself and the module."""
    named = (field.name for field in fields(capability) if field.name != "module")
    definition = {name: getattr(capability, name) for name in named}
    return digest(definition | {"pin": "", "kind": capability.kind})
