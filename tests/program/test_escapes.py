"""Programs that try to get out, or to use everything up: none reaches the host.

Each runs as a model's program does. What is refused by the type checker is tried without it too: a
check is no wall.
"""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.execute.counting import CountingSource
from tests.program.conftest import Run
from toolcrib import Crib, Settings
from toolcrib.model import Json, Outcome
from toolcrib.program.sandbox import (
    Checked,
    Ended,
    Failed,
    ProgramProcess,
    Sandbox,
    Step,
    ToolCalled,
)
from toolcrib.wiring import program_limits_of

LIMITS = replace(
    program_limits_of(Settings()), run_s=0.5, memory_mb=32, calls=20, output_kb=64, timeout_s=30.0
)


@pytest.fixture(scope="module")
def sandbox():
    made = Sandbox(2)
    yield made
    made.close()


def unchecked(sandbox: Sandbox, program: str) -> tuple[Step, ProgramProcess]:
    """The first step of a program that the type checker has not seen."""
    process = sandbox.open(LIMITS)
    step = process.check(program, ["shop"], {}, checked=True)
    return process.start() if isinstance(step, Checked) else step, process


OUT = {
    "import os": "import os\nos.system('touch {file}')",
    "__import__": "__import__('os').system('touch {file}')",
    "subprocess": "import subprocess\nsubprocess.run(['touch', '{file}'])",
    "open": "open('{file}', 'w').write('x')",
    "pathlib": "from pathlib import Path\nPath('{file}').write_text('x')",
    "eval": "eval(\"open('{file}', 'w')\")",
    "exec": "exec(\"import os; os.system('touch {file}')\")",
    "socket": "import socket\nsocket.socket()",
    "ctypes": "import ctypes",
    "subclasses": "().__class__.__bases__[0].__subclasses__()",
    "globals": "shop.__class__.__init__.__globals__",
    "builtins": "__builtins__['open']('{file}', 'w')",
    "format": "'{{0.__class__.__init__.__globals__}}'.format(shop)",
    "f-string": "f'{{shop.__class__.__mro__}}'",
    "getattr": "getattr(shop, '__class__').__subclasses__()",
    "frames": "try:\n  1 / 0\nexcept Exception as e:\n  e.__traceback__.tb_frame.f_globals",
    "environment": "import os\nos.environ['HOME']",
    "getenv": "import os\nos.getenv('HOME').lower()",
    "clock": "import time\ntime.time()",
    "date": "from datetime import datetime\ndatetime.now()",
    "sleep": "import time\ntime.sleep(600)",
    "async sleep": "import asyncio\nawait asyncio.sleep(600)",
    "entropy": "import os\nos.urandom(8)",
    "the host's class": "type(shop)()",
}


@pytest.mark.parametrize("name", OUT)
def test_nothing_leads_out(sandbox: Sandbox, tmp_path: Path, name: str):
    file = tmp_path / "out"
    step, process = unchecked(sandbox, OUT[name].format(file=file))
    process.close()
    assert isinstance(step, Failed), step
    assert step.code == "program_failed"
    assert not file.exists()


FORGED = {
    "a group as a function": "shop()",
    "a bare name": "look(at=1)",
    "a name of ours": "toolcrib_begin(at=1)",
    "a dunder": "shop.__init__(at=1)",
    "a group that is none": "bank.pay(to='me')",
    "a unicode look-alike": "ѕhop.look(at=1)",
}


@pytest.mark.parametrize("program", FORGED.values(), ids=FORGED)
def test_a_function_that_is_none_calls_nothing(sandbox: Sandbox, program: str):
    step, process = unchecked(sandbox, program)
    process.close()
    assert isinstance(step, Failed) or (isinstance(step, ToolCalled) and "__" in step.function)


def test_only_what_the_check_has_seen_is_called(
    crib: Crib, shop: CountingSource, monkeypatch: pytest.MonkeyPatch
):
    """A name that is put together on the way was in no word of the program."""
    monkeypatch.setattr("toolcrib.program.check._is_doubtful", lambda _each: True)
    for program in ("getattr(shop, 'se' + 'll')(what='x')", "eval('shop.se' + 'll(what=1)')"):
        asyncio.run(crib.run(f"{program}\nshop"))
    assert not shop.reached


EXHAUSTING = {
    "a loop": "while True:\n  pass",
    "a loop that catches": "while 1:\n try:\n  while 1:\n   0\n except BaseException:\n  0",
    "recursion": "def f():\n  return f()\nf()",
    "a list": "[0] * 10**10",
    "a growing list": "x = []\nwhile True:\n  x.append('x' * 1000)",
    "text": "'x' * 10**11",
    "format": "'{:>10000000000}'.format(1)",
    "an integer": "7 ** (10 ** 9)",
    "its digits": "str(7 ** 3000000)",
    "a set": "set(range(10**9))",
    "a sum": "sum(range(10**13))",
    "sorting": "sorted(range(10**9))",
    "output": "while True:\n  print('x' * 10000)",
    "one large print": "print('x' * 10**6)",
    "names": "while True:\n  try:\n    nobody\n  except NameError:\n    pass",
    "a pattern": "import re\nre.match('(a*)*b' * 5, 'a' * 100000)",
    "deep source": "(" * 60_000,
    "an error with a payload": "raise ValueError('x' * 10**6)",
    "a deep error": "x = []\nfor _ in range(100000):\n  x = [x]\nraise ValueError(x)",
}


UNINTERRUPTED = "its digits"
"""One step of the interpreter: on a busy machine the watchdog of the worker may end it first."""


@pytest.mark.parametrize("name", EXHAUSTING)
def test_what_uses_everything_up_is_ended(sandbox: Sandbox, name: str):
    step, process = unchecked(sandbox, EXHAUSTING[name])
    process.close()
    assert isinstance(step, Failed) or name == "a pattern", step
    died = isinstance(step, Failed) and step.code == "program_died"
    assert not died or name == UNINTERRUPTED, "its own limits are enough"
    after, process = unchecked(sandbox, "1 + 1")
    process.close()
    assert after == Ended(2)


@pytest.mark.parametrize("program", ["[0] * 10**8", "'x' * 10**9", "7 ** (10 ** 9)"])
def test_memory_has_a_limit_of_its_own(sandbox: Sandbox, program: str):
    step, process = unchecked(sandbox, program)
    process.close()
    assert isinstance(step, Failed)
    assert step.code == "program_limit"
    assert "memory limit exceeded" in step.message


DEEP = "x = []\nfor _ in range(100000):\n  x = [x]\n"


def test_a_value_that_is_nested_without_end_is_cut(run: Run):
    value: Json = run(f"{DEEP}x", limits=replace(LIMITS, run_s=5.0)).value
    assert json.dumps(value).count("[") == 64


@pytest.mark.parametrize("argument", ["x", "10**100000", "{1}", "shop", "float('nan')"])
def test_an_argument_that_is_no_json_is_refused(run: Run, shop: CountingSource, argument: str):
    program = f"{DEEP}def any(v):\n  return v\nawait shop.look(at=any({argument}))"
    outcome = run(program, limits=replace(LIMITS, run_s=5.0))
    assert outcome.error
    assert not shop.reached


def test_an_integer_without_end_is_told_of(run: Run):
    outcome = run("10 ** 100000", paged=True)
    assert outcome.content == "an integer of 332,193 bits"


def test_a_result_that_is_nested_deep_comes_as_text(run: Run, shop: CountingSource):
    deep: Json = 1
    for _ in range(400):
        deep = [deep]
    shop.answer = lambda _call: Outcome(deep)
    assert run("type(await shop.list_all()) is str").value is True


def test_a_large_result_ends_one_program(run: Run, shop: CountingSource):
    shop.answer = lambda _call: Outcome(["x" * 100] * 700_000)
    error = run("x = await shop.list_all()\nlen(x)", limits=LIMITS).error
    assert error
    assert error.code in {"program_limit", "program_died", "program_failed"}
    shop.answer = lambda _call: Outcome(1)
    assert run("await shop.list_all()").value == 1


def test_text_of_a_program_does_nothing_in_our_messages(run: Run):
    error = run("raise ValueError('\\x1b[31m {} %s \\u202e' + 'x' * 100000)").error
    assert error
    assert "\x1b" not in error.message
    assert "\u202e" not in error.message
    assert len(error.message) < 5_000
