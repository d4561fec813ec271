"""Vectors from any HTTP endpoint that speaks OpenAI's embeddings API."""

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.batches import batches
from toolcrib.embed.endpoint import REMEDY, Endpoint, TryAgain
from toolcrib.embed.readable import readable
from toolcrib.embed.wire import request_body, vectors_in

MOST_CHARACTERS = 100_000
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 8.0


class RemoteEmbedder:
    """Vectors from `POST {base_url}/embeddings`, in batches. Safe to use from several threads.

    One call of `embed` takes at most `timeout_s`, all its batches, retries and waits together.
    What may pass (a lost connection, 429, 500, 502, 503, 504) is tried up to `retries` times more,
    after 0.5 s, 1 s, 2 s and so on up to 8 s, or after the seconds in `Retry-After`, up to 30.
    Texts are sent as `readable` has them, at most `batch` and 100,000 characters a request.
    """

    def __init__(  # noqa: PLR0913 - one parameter a setting
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        dimensions: int | None = None,
        timeout_s: float = 30.0,
        batch: int = 96,
        retries: int = 3,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises `ConfigError` for an address or a key that cannot be used."""
        self._endpoint = Endpoint(base_url, api_key)
        self._model = model
        self._dimensions = dimensions
        self._timeout_s = timeout_s
        self._batch = batch
        self._retries = retries
        self._sleep = sleep

    @property
    def model(self) -> str:
        """Names the endpoint too: the same name elsewhere may mean other weights."""
        size = f" ({self._dimensions})" if self._dimensions else ""
        return f"{self._model}{size} at {self._endpoint.name}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        ends = time.monotonic() + self._timeout_s
        read = [readable(text) for text in texts]
        some = batches(read, most=self._batch, most_characters=MOST_CHARACTERS)
        rows = [self._vectors(batch, ends) for batch in some]
        if len({matrix.shape[1] for matrix in rows}) > 1:
            raise self._endpoint.error("its vectors have different sizes", REMEDY)
        return np.concatenate(rows) if rows else np.empty((0, 0), dtype=np.float32)

    def close(self) -> None:
        """Close the connections. A later `embed` opens new ones."""
        self._endpoint.close()

    def _vectors(self, texts: list[str], ends: float) -> NDArray[np.float32]:
        answer = self._answer(request_body(self._model, texts, self._dimensions), ends)
        try:
            return vectors_in(answer, count=len(texts), dimensions=self._dimensions)
        except ValueError as error:
            raise self._endpoint.error(str(error), REMEDY) from error

    def _answer(self, body: bytes, ends: float) -> bytes:
        """The answer to one request, asked for again until the retries or the time run out."""
        tries = 0
        while True:
            try:
                return self._endpoint.post(body, ends=ends)
            except TryAgain as failure:
                wait = max(_delay(tries), failure.wait_s)
                if tries == self._retries or wait >= ends - time.monotonic():
                    raise self._endpoint.error(str(failure), failure.remedy) from failure
            self._sleep(wait)
            tries += 1


def _delay(tries: int) -> float:
    return min(FIRST_DELAY_S * 2**tries, LONGEST_DELAY_S)
