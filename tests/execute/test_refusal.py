import re
from pathlib import Path
from typing import get_args

import toolcrib
from toolcrib.execute import CallRefused
from toolcrib.execute.gates import RefusalCode

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
SOURCES = Path(toolcrib.__file__).parent


def test_a_refusal_says_that_nothing_was_sent():
    error = CallRefused("not_allowed", "rights", "ask", ticket="t").error
    assert (error.effect, error.retryable, error.ticket) == ("not_sent", False, "t")


def test_every_code_of_a_call_is_documented():
    page = PAGE.read_text(encoding="utf-8")
    made = [
        code
        for path in SOURCES.rglob("*.py")
        for code in re.findall(r'(?:CallError|_failure)\(\s*"(\w+)"', path.read_text("utf-8"))
    ]
    assert "deadline" in made
    assert [code for code in {*get_args(RefusalCode), *made} if f"| `{code}` |" not in page] == []
