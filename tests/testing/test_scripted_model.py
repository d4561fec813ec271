"""The scripted model over HTTP."""

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from toolcrib.testing import Say, ScriptedModel

ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}


def post(url: str, body: Any) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with urlopen(Request(url, data)) as answer:
        return json.loads(answer.read())


def refused(url: str, body: Any) -> tuple[int, str]:
    with pytest.raises(HTTPError) as raised:
        post(url, body)
    with raised.value as answer:
        return answer.code, answer.read().decode()


def test_a_script_is_played_a_turn_a_request():
    with ScriptedModel([Say("One."), Say("Two.")]) as model:
        url = f"{model.url}/v1/chat/completions"
        said = [post(url, ASK)["choices"][0]["message"]["content"] for _ in range(2)]
        assert said == ["One.", "Two."]
        assert model.is_over
        assert refused(url, ASK)[0] == 400
        assert model.requests[0].json == ASK
        assert model.requests[2].refusal == "the script is over"


def test_a_refused_turn_is_played_at_the_next_request():
    with ScriptedModel([Say("One.")], unknown=["metadata"]) as model:
        url = f"{model.url}/v1/chat/completions"
        status, body = refused(url, ASK | {"metadata": {}})
        assert (status, "metadata: Extra inputs" in body) == (400, True)
        assert post(url, ASK)["choices"][0]["message"]["content"] == "One."


@pytest.mark.parametrize(
    ("path", "body", "status", "why"),
    [
        ("/v1/other", ASK, 404, "no such path"),
        ("/v1/responses", b"{", 400, "no JSON"),
        ("/v1/responses", b"[]", 400, "no JSON object"),
    ],
)
def test_what_cannot_be_played_is_refused(path: str, body: Any, status: int, why: str):
    with ScriptedModel([Say("One.")]) as model:
        code, said = refused(model.url + path, body)
        assert code == status
        assert why in said
        assert not model.is_over
