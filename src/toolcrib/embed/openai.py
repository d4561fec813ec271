"""Vectors from any HTTP endpoint that speaks OpenAI's embeddings API.

    texts → batches → request_body → EmbeddingsEndpoint.post → vectors_in → rows of length 1

`OpenAIEmbedder` sends texts in batches and tries again what may pass. `EmbeddingsEndpoint` makes
one request and says what its failures mean. `request_body` and `vectors_in` are the wire, without
I/O.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from threading import Lock, Thread
from typing import TypeVar, cast
from weakref import finalize

import httpx2
import numpy as np
from numpy.typing import NDArray

from toolcrib.embed.protocol import embeddable, unit_rows
from toolcrib.errors import ConfigError, EmbedError
from toolcrib.model import Json
from toolcrib.text import Redactor

MOST_CHARACTERS = 100_000
"""Of all texts of one request."""
FIRST_DELAY_S = 0.5
LONGEST_DELAY_S = 8.0
LONGEST_RETRY_AFTER_S = 30.0
LONGEST_QUOTE = 200

TRANSIENT_STATUSES = frozenset({429, 500, 502, 503, 504})
REMEDIES = {
    401: "check the API key",
    403: "check the API key and what it may use",
    404: "check the address and the name of the model",
    429: "wait, or raise the limit of the account",
} | dict.fromkeys([500, 502, 503, 504], "try again later")
REMEDY = "check the address, the model and the dimensions"

T = TypeVar("T")


class OpenAIEmbedder:
    """Vectors from `POST {base_url}/embeddings`, in batches. Safe to use from several threads.

    One call of `embed` takes at most `timeout_s`, all its batches, retries and waits together.
    What may pass (a lost connection, 429, 500, 502, 503, 504) is tried up to `retries` times more,
    after 0.5 s, 1 s, 2 s and so on up to 8 s, or after the seconds in `Retry-After`, up to 30.
    Texts are sent as `embeddable` makes them, at most `batch` and 100,000 characters a request.
    """

    def __init__(  # noqa: PLR0913 - one parameter a setting
        self,
        base_url: str,
        model: str,
        *,
        timeout_s: float,
        batch: int,
        retries: int,
        api_key: str | None = None,
        dimensions: int | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Raises `ConfigError` for an address or a key that cannot be used."""
        self._endpoint = EmbeddingsEndpoint(base_url, api_key)
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
        sent = [embeddable(text) for text in texts]
        parts = batches(sent, most=self._batch, most_characters=MOST_CHARACTERS)
        rows = [self._vectors(batch, ends) for batch in parts]
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
            except TransientError as failure:
                wait = max(_delay(tries), failure.wait_s)
                if tries == self._retries or wait >= ends - time.monotonic():
                    raise self._endpoint.error(str(failure), failure.remedy) from failure
            self._sleep(wait)
            tries += 1


class TransientError(Exception):
    """A request failed in a way that may pass. `wait_s`: how long the server asks to wait."""

    def __init__(self, cause: str, remedy: str, wait_s: float = 0.0) -> None:
        super().__init__(cause)
        self.remedy = remedy
        self.wait_s = wait_s


class EmbeddingsEndpoint:
    """`{base_url}/embeddings`. Safe to use from several threads.

    It connects on the first `post`, and disconnects on `close` or when nobody has it any more.
    `name` is the address without what may be secret in it: user, password, query. Neither these
    nor the key appear in a message.

    Proxies and certificates that the environment names are not used: settings alone say where
    texts and keys travel, and a server on this machine is reached without a detour.
    """

    def __init__(self, base_url: str, api_key: str | None) -> None:
        """Raises `ConfigError` for an address or a key that cannot be used."""
        self._url = _url(base_url)
        self._key = _key(api_key)
        self._client: httpx2.Client | None = None
        self._opening = Lock()
        self.name = _without_secrets(self._url)

    def post(self, body: bytes, *, ends: float) -> bytes:
        """The body of the answer, by the time `ends` on the monotonic clock.

        Raises `TransientError` for what may pass, else `EmbedError`: also when the time is up.
        """
        try:
            response = self._response(body, ends - time.monotonic())
        except (TimeoutError, httpx2.TimeoutException):
            raise self.error("no answer in time", "try again, or raise the timeout") from None
        except (httpx2.NetworkError, httpx2.RemoteProtocolError) as error:
            raise TransientError(f"no connection ({error})", "check the address") from error
        except httpx2.HTTPError as error:
            raise self.error(type(error).__name__, "check the address") from error
        return self._content(response)

    def error(self, cause: str, remedy: str) -> EmbedError:
        return EmbedError(f"no vectors from {self.name}: {cause}; {remedy}")

    def close(self) -> None:
        """Close the connections. A later `post` opens new ones."""
        with self._opening:
            if self._client:
                self._client.close()
            self._client = None

    def _response(self, body: bytes, left_s: float) -> httpx2.Response:
        if left_s <= 0:
            raise TimeoutError
        client = self._open()
        return call_within(left_s, lambda: client.post(self._url, content=body, timeout=left_s))

    def _content(self, response: httpx2.Response) -> bytes:
        """The body of a success; a redirect is none."""
        if response.is_success:
            return response.content
        status = response.status_code
        cause = f"status {status}{self._quote(response)}"
        remedy = REMEDIES.get(status, REMEDY)
        if status in TRANSIENT_STATUSES:
            raise TransientError(cause, remedy, _retry_after(response))
        raise self.error(cause, remedy)

    def _quote(self, response: httpx2.Response) -> str:
        """The beginning of the server's answer, in one line and without the key."""
        text = Redactor([self._key]).text(" ".join(response.text.split()))
        return f" ({text[:LONGEST_QUOTE]})" if text else ""

    def _open(self) -> httpx2.Client:
        with self._opening:
            if not self._client:
                self._client = httpx2.Client(headers=self._headers(), trust_env=False)
                finalize(self, self._client.close)
            return self._client

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "User-Agent": "toolcrib"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})


def request_body(model: str, texts: Sequence[str], dimensions: int | None) -> bytes:
    body: dict[str, Json] = {"model": model, "input": texts}
    if dimensions:
        body["dimensions"] = dimensions
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def vectors_in(answer: bytes, *, count: int, dimensions: int | None) -> NDArray[np.float32]:
    """The vectors of an answer, in the order of the texts, each of length 1.

    Raises `ValueError` with the reason why it is no answer to `count` texts.
    """
    try:
        embeddings = _by_index(json.loads(answer)["data"])
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise ValueError("what came is not JSON with a list `data` of embeddings") from error
    rows = [embeddings[index] for index in range(count) if index in embeddings]
    if not len(rows) == len(embeddings) == count:
        raise ValueError(f"what came is not one vector for each of {count} texts")
    return unit_rows(rows, count=count, dimensions=dimensions)


def batches(texts: Sequence[str], *, most: int, most_characters: int) -> Iterator[list[str]]:
    """The texts in order, at most `most` at a time and `most_characters` in sum.

    No batch is empty; a text that is longer than the sum goes alone.
    """
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == most or characters + len(text) > most_characters):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def call_within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` returns or raises; `TimeoutError` once it has taken that long.

    HTTP timeouts bound each wait for a byte, not their sum, and no lookup of a name. The work
    therefore has a thread of its own, which is left to end by itself when the time is up.
    """
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            done.set_exception(error)

    Thread(target=run, name="toolcrib-within", daemon=True).start()
    return done.result(timeout=max(seconds, 0.0))


def _by_index(data: object) -> dict[object, object]:
    """Each embedding by the index that it states, or else by its place in the list."""
    items = cast("list[dict[str, object]]", data)
    found = {item.get("index", place): item["embedding"] for place, item in enumerate(items)}
    if len(found) != len(items):
        raise ValueError("two embeddings for one text")
    return found


def _url(base_url: str) -> httpx2.URL:
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL:  # its message may quote a password
        raise ConfigError("the embedder's url is not an address; give one") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigError("the embedder's url is not an http or https address; give one")
    return url.copy_with(path=url.path.rstrip("/") + "/embeddings")


def _without_secrets(url: httpx2.URL) -> str:
    host = url.netloc.decode().rpartition("@")[2]
    return f"{url.scheme}://{host}{url.path}"


def _key(api_key: str | None) -> str:
    key = (api_key or "").strip()
    if not key.isascii() or not key.isprintable():
        raise ConfigError("the API key has characters that no header can carry; set it again")
    return key


def _retry_after(response: httpx2.Response) -> float:
    """The seconds the server asks to wait, within bounds; 0 without any. A date is not read."""
    seconds = response.headers.get("Retry-After", "")
    return min(float(seconds), LONGEST_RETRY_AFTER_S) if seconds.isdecimal() else 0.0


def _delay(tries: int) -> float:
    return min(FIRST_DELAY_S * 2**tries, LONGEST_DELAY_S)
