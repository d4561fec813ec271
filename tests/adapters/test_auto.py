"""Which wire is chosen, why, and what a refusal changes."""

from typing import Any, get_args

import pytest

from toolcrib.adapters.auto import Auto
from toolcrib.adapters.auto_table import AS_OF, NATIVE, Provider

HOME = "https://api.anthropic.com"


class Answer(Exception):
    """An error as SDKs raise them."""

    def __init__(self, message: str, status_code: int = 400, body: object = None) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.body = body


@pytest.mark.parametrize(
    ("provider", "model", "endpoint", "mode"),
    [
        ("anthropic", "claude-opus-5-5", HOME, "reference"),
        ("anthropic", "claude-haiku-4-5-20251001", "api.anthropic.com", "reference"),
        ("anthropic", "claude-opus-4-1", HOME, "append"),
        ("anthropic", "claude-opus-9", HOME, "append"),
        ("anthropic", "claude-opus-5-5", "https://api.anthropic.com.evil.example", "append"),
        ("anthropic", "claude-opus-5-5", "http://127.0.0.1:4000", "append"),
        ("openai_responses", "gpt-5.4", "https://api.openai.com/v1/", "output"),
        ("openai_responses", "gpt-5.4-mini-2026-03-17", "https://eu.api.openai.com/v1", "output"),
        ("openai_responses", "gpt-5.4", "https://mine.openai.azure.com/openai/v1", "output"),
        ("openai_responses", "gpt-5.4-nano", "https://api.openai.com/v1", "inject"),
        ("openai_responses", "gpt-5.4-nano", "https://mine.openai.azure.com", "append"),
        ("openai_chat", "gpt-5.5", "https://api.openai.com/v1", "append"),
        ("gemini", "gemini-3-pro", "https://generativelanguage.googleapis.com", "append"),
    ],
)
def test_provider_model_and_endpoint_decide(provider: Any, model: str, endpoint: str, mode: str):
    assert Auto().choose(provider, model, endpoint).mode == mode


def test_a_place_may_need_a_beta_header():
    chosen = Auto().choose(
        "anthropic", "claude-opus-5", "https://us-east5-aiplatform.googleapis.com"
    )
    assert chosen.betas == ("tool-search-tool-2025-10-19",)


def test_the_choice_says_why():
    auto = Auto()
    assert AS_OF in str(auto.choose("anthropic", "claude-opus-5-5", HOME))
    assert "gate.example is not known" in auto.choose("anthropic", "x", "https://gate.example").why
    assert "nearest: claude-" in auto.choose("anthropic", "claude-opus-6", HOME).why
    assert "no native wire" in auto.choose("openai_chat", "gpt-5.5", "api.openai.com").why


@pytest.mark.parametrize(
    ("error", "refused"),
    [
        (Answer("tools.1.custom.defer_loading: Extra inputs are not permitted"), True),
        (Answer("bad request", body={"error": {"message": "unknown type tool_reference"}}), True),
        (Answer("defer_loading", status_code=500), False),
        (Answer("rate limit"), False),
        (Answer("Tool reference 'x' not found in available tools"), False),
        (Answer("cache_control cannot be set when defer_loading is"), False),
        (ValueError("defer_loading"), False),
    ],
)
def test_only_a_refusal_of_the_wire_counts(error: Exception, refused: bool):
    auto = Auto()
    assert auto.refuse(HOME, "reference", error) is refused
    assert auto.choose("anthropic", "claude-opus-5-5", HOME).mode == (
        "append" if refused else "reference"
    )


def test_one_endpoint_says_nothing_about_another():
    auto = Auto()
    assert auto.refuse("https://eu.api.openai.com/v1", "output", Answer("unknown: tool_search"))
    assert auto.choose("openai_responses", "gpt-5.5", "https://eu.api.openai.com").mode == "inject"
    assert auto.choose("openai_responses", "gpt-5.5", "https://api.openai.com").mode == "output"


def test_every_provider_is_in_the_table():
    assert set(NATIVE) == set(get_args(Provider))
