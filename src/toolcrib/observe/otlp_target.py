"""Where a collector is: as the settings say, or as the standard `OTEL_*` variables do.

Whoever names a collector in the settings gets that, and no variable changes a thing about it.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from toolcrib.errors import ConfigError

ENDPOINT, HEADERS = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS"
PROTOCOL, OUR_PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"
OFF = (("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none"))


class OtlpTarget(NamedTuple):
    """Where a collector is, by its base address, and the headers that it wants.

    `resource` has what else we say of ourselves.
    """

    url: str
    headers: Mapping[str, str]
    resource: Mapping[str, str] = {}


def standard_target(environ: Mapping[str, str]) -> OtlpTarget | None:
    """What the variables name; None if they name none, or switch it off. Raises `ConfigError`."""
    url = environ.get(ENDPOINT, "")
    if not url or any(environ.get(name, "").strip().lower() == off for name, off in OFF):
        return None
    if environ.get(PROTOCOL, OUR_PROTOCOL) != OUR_PROTOCOL:
        todo = f"set it to {OUR_PROTOCOL}, with the port for that, or set `observe.otlp`"
        raise ConfigError(f"{PROTOCOL} is not spoken here, so no traces are sent; {todo}")
    if urlsplit(url).scheme not in ("http", "https"):
        todo = "write an address such as http://127.0.0.1:4318"
        raise ConfigError(f"{ENDPOINT} is no address of HTTP, so no traces are sent; {todo}")
    named = dict(_pairs(environ.get("OTEL_RESOURCE_ATTRIBUTES", "")))
    if service := environ.get("OTEL_SERVICE_NAME"):
        named["service.name"] = service
    return OtlpTarget(url, dict(_pairs(environ.get(HEADERS, ""))), named)


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """The pairs of `a=1,b=2`, whose values are spelt as in an address."""
    for each in text.split(","):
        name, _, value = each.partition("=")
        if name.strip():
            yield name.strip(), unquote(value.strip())
