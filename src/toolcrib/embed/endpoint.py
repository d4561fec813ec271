"""One address that embeds: a request at a time, and what its failures mean."""

import time
from threading import Lock
from weakref import finalize

import httpx

from toolcrib.embed.within import within
from toolcrib.errors import ConfigError, EmbedError
from toolcrib.text.redactor import Redactor

LONGEST_RETRY_AFTER_S = 30.0
LONGEST_QUOTE = 200

PASSING = frozenset({429, 500, 502, 503, 504})
REMEDIES = {
    401: "check the API key",
    403: "check the API key and what it may use",
    404: "check the address and the name of the model",
    429: "wait, or raise the limit of the account",
} | dict.fromkeys([500, 502, 503, 504], "try again later")
REMEDY = "check the address, the model and the dimensions"


class TryAgain(Exception):
    """A request failed in a way that may pass. `wait_s`: how long the server asks to wait."""

    def __init__(self, cause: str, remedy: str, wait_s: float = 0.0) -> None:
        super().__init__(cause)
        self.remedy = remedy
        self.wait_s = wait_s


class Endpoint:
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
        self._client: httpx.Client | None = None
        self._opening = Lock()
        self.name = _shown(self._url)

    def post(self, body: bytes, *, ends: float) -> bytes:
        """The body of the answer, by the time `ends` on the monotonic clock.

        Raises `TryAgain` for what may pass, else `EmbedError`: also when the time is up.
        """
        try:
            response = self._response(body, ends - time.monotonic())
        except (TimeoutError, httpx.TimeoutException):
            raise self.error("no answer in time", "try again, or raise the timeout") from None
        except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
            raise TryAgain(f"no connection ({error})", "check the address") from error
        except httpx.HTTPError as error:
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

    def _response(self, body: bytes, left_s: float) -> httpx.Response:
        if left_s <= 0:
            raise TimeoutError
        client = self._open()
        return within(left_s, lambda: client.post(self._url, content=body, timeout=left_s))

    def _content(self, response: httpx.Response) -> bytes:
        """The body of a success; a redirect is none."""
        if response.is_success:
            return response.content
        status = response.status_code
        cause = f"status {status}{self._quote(response)}"
        remedy = REMEDIES.get(status, REMEDY)
        if status in PASSING:
            raise TryAgain(cause, remedy, _retry_after(response))
        raise self.error(cause, remedy)

    def _quote(self, response: httpx.Response) -> str:
        """The beginning of what the server said, in one line."""
        said = Redactor([self._key]).text(" ".join(response.text.split()))
        return f" ({said[:LONGEST_QUOTE]})" if said else ""

    def _open(self) -> httpx.Client:
        with self._opening:
            if not self._client:
                self._client = httpx.Client(headers=self._headers(), trust_env=False)
                finalize(self, self._client.close)
            return self._client

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "User-Agent": "toolcrib"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})


def _url(base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
    except httpx.InvalidURL:  # its message may quote a password
        raise ConfigError("the embedder's url is not an address; give one") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigError("the embedder's url is not an http or https address; give one")
    return url.copy_with(path=url.path.rstrip("/") + "/embeddings")


def _shown(url: httpx.URL) -> str:
    host = url.netloc.decode().rpartition("@")[2]
    return f"{url.scheme}://{host}{url.path}"


def _key(api_key: str | None) -> str:
    key = (api_key or "").strip()
    if not key.isascii() or not key.isprintable():
        raise ConfigError("the API key has characters that no header can carry; set it again")
    return key


def _retry_after(response: httpx.Response) -> float:
    """The seconds the server asks to wait, within bounds; 0 without any. A date is not read."""
    asked = response.headers.get("Retry-After", "")
    return min(float(asked), LONGEST_RETRY_AFTER_S) if asked.isdecimal() else 0.0
