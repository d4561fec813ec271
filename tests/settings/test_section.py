"""A section takes plain values as they are, and they are what pydantic would have made of them."""

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from toolcrib.settings import (
    ApprovalRule,
    EmbedSettings,
    ProfileSettings,
    SearchSettings,
    Secret,
    Section,
    Setting,
    Settings,
)
from toolcrib.settings.validation import validate

VALUES: tuple[object, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1,
    7,
    70_000,
    0.0,
    0.2,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "on",
    "off",
    "auto",
    "lifts",
    "rrf",
    "ask",
    "3",
    "maybe",
    "\udcff",
    [],
    ["a", "b"],
    ("a",),
    ["a", 1],
    ["read"],
    {},
    {"a": ["b"]},
    {"a": {"mode": "search"}},
    {"limit": 3},
    Path("a"),
    [Path("a"), "b"],
    [{"verdict": "deny"}],
    Secret("s"),
)


def keys(section: type[Section]) -> Iterator[tuple[type[Section], str, Setting]]:
    for key, declared in section.keys.items():
        yield section, key, declared
        if isinstance(declared.default, Section):
            yield from keys(type(declared.default))


ALL = [*keys(Settings), *keys(ProfileSettings), *keys(ApprovalRule)]


def outcome(read: Any, section: type[Section], values: Mapping[str, object]) -> object:
    try:
        return read(section, values)
    except ValueError as error:  # pydantic's
        return str(error)


def made(section: type[Section], values: Mapping[str, object]) -> object:
    base: Any = Section  # without the words of `Settings`
    one = section.__new__(section)
    base.__init__(one, **values)
    return repr({key: getattr(one, key) for key in one.keys if key in one.given})


def judged(section: type[Section], values: Mapping[str, object]) -> object:
    checked = validate(section, values)
    return repr({key: checked[key] for key in section.keys if key in checked})


@pytest.mark.parametrize(("section", "key"), [(each, key) for each, key, _ in ALL], ids=str)
def test_every_value_is_what_pydantic_makes_of_it(section: type[Section], key: str):
    for value in VALUES:
        given = {key: value, **({} if key == "verdict" else needed(section))}
        assert outcome(made, section, given) == outcome(judged, section, given), value


def needed(section: type[Section]) -> dict[str, object]:
    return {"verdict": "ask"} if section is ApprovalRule else {}


def test_plain_settings_need_no_pydantic():
    file = {
        "index": "memory",
        "builtin_tools": False,
        "skills": ["a"],
        "search": {"limit": 3, "weight_vector": 2, "internal": ["a*"]},
        "embed": {"embedder": "none", "api_key": "x", "dimensions": 128},
    }
    code = (
        "import json, sys\nfrom toolcrib.settings import Settings\n"
        "print(Settings(**json.loads(sys.argv[1])), 'pydantic' in sys.modules)"
    )
    command = [sys.executable, "-c", code, json.dumps(file)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    assert done.stdout.endswith(" False\n")
    assert "limit=3" in done.stdout
    assert "'x'" not in done.stdout


def test_a_section_alone_is_refused_in_pydantic_s_words():
    with pytest.raises(ValidationError, match="greater than 0"):
        SearchSettings(limit=0)
    with pytest.raises(ValidationError, match="Extra inputs"):
        SearchSettings.model_validate({"limt": 3})
    with pytest.raises(ValidationError, match="required"):
        ApprovalRule()  # pyright: ignore[reportCallIssue] - that is the point


def test_a_copy_has_what_it_is_told_and_the_rest():
    search = SearchSettings(limit=3, learn=True)
    other = search.model_copy(update={"limit": 4})
    assert (other.limit, other.learn, search.limit) == (4, True, 3)
    assert other != search
    assert other.model_copy(update={"limit": 3}) == search
    assert hash(other.model_copy(update={"limit": 3})) == hash(search)


def test_a_value_that_is_the_default_makes_no_difference():
    assert SearchSettings(limit=5) == SearchSettings()
    assert SearchSettings(limit=5).given == {"limit"}


def test_settings_can_be_copied_and_pickled():
    settings = Settings.model_validate({"search": {"limit": 3}, "embed": {"api_key": "x"}})
    assert copy.deepcopy(settings) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings


def test_nothing_can_be_changed_or_deleted():
    settings = Settings()
    with pytest.raises(AttributeError, match="frozen"):
        del settings.index  # pyright: ignore[reportAttributeAccessIssue] - that is the point
    with pytest.raises(TypeError):
        settings.gateway.profiles["a"] = ProfileSettings()  # pyright: ignore[reportIndexIssue]


def test_a_secret_of_pydantic_is_taken():
    key = EmbedSettings.model_validate({"api_key": SecretStr("x")}).api_key
    assert key == Secret("x")
    assert "x" not in repr(key)
