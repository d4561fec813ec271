import pytest

from toolcrib import errors
from toolcrib.errors import ToolcribError

RAISED = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, Exception) and each is not ToolcribError
]


def test_there_are_errors_to_look_at():
    assert {"ConfigError", "UnknownTool", "AmbiguousName", "EvalError"} <= {
        each.__name__ for each in RAISED
    }


@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.__name__)
def test_whoever_catches_the_root_catches_all(error: type[ToolcribError]):
    with pytest.raises(ToolcribError, match="do this next"):
        raise error("do this next")


@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.__name__)
def test_every_error_says_when_it_is_raised(error: type[ToolcribError]):
    assert error.__doc__


def test_ours_are_not_mistaken_for_those_of_the_language():
    assert ToolcribError.__bases__ == (Exception,)
    ours = {(ToolcribError,), (errors.StoreError,)}
    assert all(error.__bases__ in ours for error in RAISED)
