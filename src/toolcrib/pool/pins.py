"""The pin of a capability: a hash of its whole definition, equal only if all of it is."""

import hashlib
import json
from dataclasses import fields

from toolcrib.model import Capability


def pin(capability: Capability) -> str:
    """A SHA-256 over canonical JSON of every field but the pin itself, and of the kind."""
    definition = {field.name: getattr(capability, field.name) for field in fields(capability)}
    definition |= {"pin": "", "kind": capability.kind}
    canonical = json.dumps(definition, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
