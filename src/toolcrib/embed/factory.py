"""Which embedder the settings name. Defaults stand in the settings alone."""

from typing import Literal

from toolcrib.embed.bundled.embedder import BundledEmbedder
from toolcrib.embed.local import LocalEmbedder, LocalPackage
from toolcrib.embed.protocol import Embedder
from toolcrib.errors import ConfigError

EmbedderName = Literal["none", "bundled", "openai"] | LocalPackage


def make_embedder(  # noqa: PLR0913 - one parameter a setting
    *,
    embedder: EmbedderName,
    model: str,
    url: str,
    api_key: str | None,
    timeout_s: float,
    batch: int,
    retries: int,
    dimensions: int | None,
) -> Embedder | None:
    """The embedder of that name, without a cache; None for "none".

    Only "openai" goes out on the network, and only it reads `url`, `api_key`, `timeout_s`, `batch`
    and `retries`. Raises `ConfigError` when a setting is missing or cannot be used, `EmbedError`
    when a local package or its model is not on this machine.
    """
    if embedder == "none":
        return None
    if embedder == "bundled":
        return BundledEmbedder(dimensions)
    if not model:
        raise ConfigError(f"the embedder {embedder!r} has no model; name one")
    if embedder != "openai":
        return LocalEmbedder(embedder, model, dimensions=dimensions)
    from toolcrib.embed.openai import OpenAIEmbedder  # noqa: PLC0415 - an HTTP client is slow to load

    return OpenAIEmbedder(
        url,
        model,
        api_key=api_key,
        dimensions=dimensions,
        timeout_s=timeout_s,
        batch=batch,
        retries=retries,
    )
