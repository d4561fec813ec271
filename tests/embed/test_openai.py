import json
import socket
from threading import Event
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embed.loopback import (
    answer,
    backwards,
    drip,
    hang,
    hang_up,
    send,
    send_data,
    vector,
)
from toolcrib.embed.openai import OpenAIEmbedder, batches, call_within, request_body, vectors_in
from toolcrib.embed.protocol import LONGEST_TEXT
from toolcrib.errors import ConfigError, EmbedError

KEY = "sk-very-secret"
BOUNDS: Any = {"timeout_s": 60.0, "batch": 96, "retries": 3}


@pytest.fixture
def slept():
    return []


@pytest.fixture
def embedder(loopback, slept):
    def make(*, timeout_s: float = 60.0, batch: int = 96, retries: int = 3, **options: Any):
        bounds = {"timeout_s": timeout_s, "batch": batch, "retries": retries}
        made.append(OpenAIEmbedder(loopback.url, "tiny", sleep=slept.append, **bounds, **options))
        return made[-1]

    made: list[OpenAIEmbedder] = []
    yield make
    for one in made:
        one.close()


def unit(text):
    return np.array(vector(text)) / np.linalg.norm(vector(text))


def test_one_request_carries_model_texts_and_key(loopback, embedder):
    rows = embedder(api_key=f" {KEY}\n").embed(["read", "写"])
    np.testing.assert_allclose(rows, [unit("read"), unit("写")], rtol=1e-6)
    [request] = loopback.seen
    assert request.path == "/v1/embeddings"
    assert request.body == '{"model":"tiny","input":["read","写"]}'.encode()
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_no_key_is_sent(loopback, embedder):
    embedder(api_key=None).embed(["a"])
    assert "Authorization" not in loopback.seen[0].headers


def test_dimensions_are_asked_for_and_checked(loopback, embedder):
    small = embedder(dimensions=4)
    assert small.embed(["a"]).shape == (1, 4)
    assert json.loads(loopback.seen[0].body)["dimensions"] == 4
    loopback.script = [send_data([{"index": 0, "embedding": [1, 2, 3]}])]
    with pytest.raises(EmbedError, match="vectors of 3 numbers came instead of 4"):
        small.embed(["a"])


def test_the_model_is_named_with_size_and_place_without_secrets(loopback):
    host = loopback.url.removeprefix("http://")
    made = OpenAIEmbedder(
        f"http://me:{KEY}@{host}/?key={KEY}", "tiny", dimensions=4, api_key=KEY, **BOUNDS
    )
    assert made.model == f"tiny (4) at {loopback.url}/embeddings"
    assert KEY not in repr(made)
    made.embed(["a"])
    assert loopback.seen[0].path == f"/v1/embeddings?key={KEY}"
    made.close()


def test_no_texts_need_no_request(loopback, embedder):
    assert embedder().embed([]).shape == (0, 0)
    assert not loopback.seen


def test_many_texts_go_in_batches_and_come_back_in_order(loopback, embedder):
    texts = [f"text {number}" for number in range(5)]
    rows = embedder(batch=2).embed(texts)
    assert loopback.inputs == [texts[:2], texts[2:4], texts[4:]]
    np.testing.assert_allclose(rows, [unit(text) for text in texts], rtol=1e-6)


def test_long_texts_are_cut_and_share_no_request_beyond_its_bound(loopback, embedder):
    embedder().embed(["x" * 1_000_000] * 20)
    assert [len(texts) for texts in loopback.inputs] == [12, 8]
    assert loopback.inputs[0][0] == "x" * LONGEST_TEXT


def test_a_broken_surrogate_pair_is_mended(loopback, embedder):
    embedder().embed(["a\ud83d"])
    assert loopback.inputs == [["a\ufffd"]]


def test_vectors_that_come_out_of_order_are_put_in_order(loopback, embedder):
    loopback.script = [backwards]
    rows = embedder().embed(["a", "b", "c"])
    np.testing.assert_allclose(rows, [unit("a"), unit("b"), unit("c")], rtol=1e-6)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again_after_doubling_delays(loopback, embedder, slept, status):
    loopback.script = [send(status)] * 3
    assert embedder().embed(["a"]).shape == (1, 8)
    assert slept == [0.5, 1.0, 2.0]


def test_delays_stop_growing(loopback, embedder, slept):
    loopback.script = [send(500)] * 6
    embedder(retries=6).embed(["a"])
    assert slept == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]


def test_a_lost_connection_is_made_again(loopback, embedder, slept):
    loopback.script = [hang_up]
    embedder().embed(["a"])
    assert slept == [0.5]


@pytest.mark.parametrize(
    ("asked", "waited"),
    [("7", 7.0), ("0", 0.5), ("9" * 500, 30.0), ("-3", 0.5), ("nan", 0.5), ("soon", 0.5)],
)
def test_the_server_may_ask_for_a_longer_wait_within_bounds(
    loopback, embedder, slept, asked, waited
):
    loopback.script = [send(429, Retry_After=asked)]
    embedder().embed(["a"])
    assert slept == [waited]


def test_retries_end_and_the_error_says_what_to_do(loopback, embedder, slept):
    loopback.script = [send(503, b"busy")] * 9
    with pytest.raises(EmbedError) as caught:
        embedder(retries=2).embed(["a"])
    assert str(caught.value) == (
        f"no vectors from {loopback.url}/embeddings: status 503 (busy); try again later"
    )
    assert len(loopback.seen) == 3
    assert slept == [0.5, 1.0]


def test_nobody_waits_past_the_deadline(loopback, embedder, slept):
    loopback.script = [send(429, Retry_After="25")]
    with pytest.raises(EmbedError, match="status 429; wait, or raise the limit"):
        embedder(timeout_s=20.0).embed(["a"])
    assert not slept


@pytest.mark.parametrize("respond", [hang, drip])
def test_the_deadline_holds_for_a_server_that_is_silent_or_drips(loopback, embedder, respond):
    loopback.script = [respond]
    with pytest.raises(EmbedError, match="no answer in time; try again, or raise the timeout"):
        embedder(timeout_s=0.2).embed(["a"])


def test_the_deadline_is_one_for_all_batches(loopback, embedder):
    loopback.script = [answer, hang]
    with pytest.raises(EmbedError, match="no answer in time"):
        embedder(timeout_s=0.3, batch=1).embed(["a", "b"])


def test_no_time_means_no_request(loopback, embedder):
    with pytest.raises(EmbedError, match="no answer in time"):
        embedder(timeout_s=0.0).embed(["a"])
    assert not loopback.seen


@pytest.mark.parametrize(
    ("status", "remedy"),
    [
        (400, "check the address, the model and the dimensions"),
        (401, "check the API key"),
        (403, "check the API key and what it may use"),
        (404, "check the address and the name of the model"),
        (307, "check the address, the model and the dimensions"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(loopback, embedder, slept, status, remedy):
    body = b'{"error":\n "no %s"}' % KEY.encode() + b"." * 999
    loopback.script = [send(status, body, Location=loopback.url)]
    with pytest.raises(EmbedError) as caught:
        embedder(api_key=KEY).embed(["a"])
    message = str(caught.value)
    assert f'status {status} ({{"error": "no ***"}}...' in message
    assert message.endswith(f"; {remedy}")
    assert len(message) < 400
    assert len(loopback.seen) == 1
    assert not slept


@pytest.mark.parametrize(
    ("respond", "cause"),
    [
        (send(200, b"<html>"), "not JSON with a list `data`"),
        (send_data([]), "not one vector for each of 2 texts"),
        (send_data([{"embedding": [1, float("nan")]}, {"embedding": [1, 2]}]), "finite"),
        (send_data([{"embedding": [1]}, {"embedding": [1, 2]}]), "lists of numbers of one length"),
        (send(200, b"no gzip", Content_Encoding="gzip"), "DecodingError"),
    ],
)
def test_an_answer_that_is_none_is_an_error(loopback, embedder, respond, cause):
    loopback.script = [respond]
    with pytest.raises(EmbedError, match=f"no vectors from {loopback.url}/embeddings: .*{cause}"):
        embedder().embed(["a", "b"])


def test_batches_of_different_sizes_are_an_error(loopback, embedder):
    loopback.script = [answer, send_data([{"index": 0, "embedding": [1, 2]}])]
    with pytest.raises(EmbedError, match="different sizes"):
        embedder(batch=1).embed(["a", "b"])


def test_a_server_that_is_not_there_is_an_error(slept):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        embedder = OpenAIEmbedder(
            url, "tiny", timeout_s=60.0, batch=96, retries=1, sleep=slept.append
        )
        with pytest.raises(EmbedError, match=r"no connection \(.*\); check the address"):
            embedder.embed(["a"])
        embedder.close()
    assert slept == [0.5]


def test_the_environment_names_no_proxy(loopback, embedder, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert len(embedder().embed(["a"])) == 1


def test_connections_are_kept_until_closed_and_open_again(loopback, embedder):
    one = embedder()
    one.close()
    one.embed(["a"])
    one.close()
    assert len(one.embed(["b"])) == 1


@pytest.mark.parametrize("url", ["", "localhost", "ftp://x", "http://", f"http://u:{KEY}"])
def test_an_address_that_cannot_be_used_is_refused_without_quoting_it(url):
    with pytest.raises(ConfigError, match="give one") as caught:
        OpenAIEmbedder(url, "tiny", **BOUNDS)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", ["pass\nword", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused_without_quoting_it(key):
    with pytest.raises(ConfigError, match="set it again") as caught:
        OpenAIEmbedder("http://localhost", "tiny", api_key=key, **BOUNDS)
    assert key not in str(caught.value)


ONE = {"index": 0, "embedding": [1, 0]}
TWO = {"index": 1, "embedding": [0, 1]}


def body_of(data) -> bytes:
    return json.dumps({"data": data}).encode()


def test_a_request_is_these_bytes():
    body = request_body("m", ['say "hi"', "读"], None)
    assert body == '{"model":"m","input":["say \\"hi\\"","读"]}'.encode()
    assert json.loads(request_body("m", ["a"], 256))["dimensions"] == 256


@pytest.mark.parametrize(
    "data",
    [
        [ONE, TWO],
        [TWO, ONE],
        [{"embedding": [1, 0]}, {"embedding": [0, 1]}],
        [{"embedding": [1, 0]}, TWO],
    ],
    ids=["in order", "out of order", "no index", "no zero"],
)
def test_vectors_stand_in_the_order_of_the_texts(data):
    np.testing.assert_array_equal(
        vectors_in(body_of(data), count=2, dimensions=None), [[1, 0], [0, 1]]
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff",
        b"[]",
        b"{}",
        b"null",
        b"[" * 100_000,
        b'{"data": null}',
        b'{"data": 1}',
        b'{"data": {"a": 1}}',
        body_of([1, 2]),
        body_of([{"index": 0}, TWO]),
        body_of([{"index": [], "embedding": [1, 0]}, TWO]),
        body_of([ONE, TWO, TWO]),
        body_of([ONE, ONE]),
    ],
)
def test_no_answer_says_so(body):
    with pytest.raises(ValueError, match="not JSON with a list `data` of embeddings"):
        vectors_in(body, count=2, dimensions=None)


@pytest.mark.parametrize(
    "data",
    [
        [],
        [ONE],
        [ONE, {**TWO, "index": 2}],
        [ONE, {**TWO, "index": -1}],
        [ONE, {**TWO, "index": "1"}],
        [ONE, TWO, {**TWO, "index": 2}],
    ],
)
def test_another_number_of_vectors_is_no_body_of(data):
    with pytest.raises(ValueError, match="not one vector for each of 2 texts"):
        vectors_in(body_of(data), count=2, dimensions=None)


def test_a_batch_ends_at_either_bound():
    assert list(batches(["a", "b", "c"], most=2, most_characters=9)) == [["a", "b"], ["c"]]
    assert list(batches(["aa", "bb", "c"], most=9, most_characters=3)) == [["aa"], ["bb", "c"]]


def test_a_text_beyond_the_sum_goes_alone():
    assert list(batches(["a", "bbbb", "c"], most=9, most_characters=3)) == [["a"], ["bbbb"], ["c"]]


@given(st.lists(st.text(max_size=9)), st.integers(1, 5), st.integers(1, 20))
def test_nothing_is_lost_and_no_bound_is_passed(texts, most, most_characters):
    found = list(batches(texts, most=most, most_characters=most_characters))
    assert [text for batch in found for text in batch] == texts
    assert all(0 < len(batch) <= most for batch in found)
    assert all(sum(map(len, batch)) <= most_characters for batch in found if len(batch) > 1)


def test_it_gives_what_the_work_gives():
    assert call_within(60, lambda: 7) == 7


def test_it_raises_what_the_work_raises():
    with pytest.raises(ZeroDivisionError):
        call_within(60, lambda: 1 / 0)


@pytest.mark.parametrize("seconds", [0.01, 0, -1])
def test_it_does_not_wait_for_work_that_does_not_end(seconds):
    over = Event()
    with pytest.raises(TimeoutError):
        call_within(seconds, over.wait)
    over.set()
