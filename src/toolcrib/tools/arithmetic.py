"""Arithmetic without `eval`: numbers, operators and a few functions, all of them bounded."""

import ast
import math
from collections.abc import Callable, Mapping
from typing import Annotated, TypeAlias, cast

from pydantic import Field

Number: TypeAlias = int | float

MAX_BITS = 10_000
MAX_DIGITS = 300


def calculate(expression: Annotated[str, Field(max_length=500)]) -> Number:
    """Calculate an arithmetic expression exactly as written, such as `(12.5 + 3) * 2 ** 4 / 7`.

    Args:
        expression: Numbers with + - * / // % ** and parentheses; pi, e; abs, ceil, cos, exp,
            floor, log, log10, log2, max, min, round, sin, sqrt, tan. Angles are in radians.
    """
    try:
        result = _value(ast.parse(expression.strip(), mode="eval").body)
    except SyntaxError as error:
        raise ValueError(
            f"{expression!r} is not an expression; write numbers and operators"
        ) from error
    except RecursionError as error:
        raise ValueError("the expression is nested too deeply; calculate parts of it") from error
    if not math.isfinite(result):
        raise ValueError("the result is too large for a number")
    return result


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](_value(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _real(_OPERATORS[type(op)](_value(left), _value(right)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _real(_FUNCTIONS[name](*map(_value, args)))
        case _:
            pass
    raise ValueError(f"{ast.unparse(node)!r:.60} is not arithmetic; the parameter says what is")


def _real(result: object) -> Number:
    """Refuse what is no real number, and integers that would grow without end."""
    if isinstance(result, int):
        _check_size(result.bit_length())
    elif not isinstance(result, float):
        raise ValueError("the result is not a real number")  # noqa: TRY004 - its value is at fault
    return result


def _check_size(bits: int) -> None:
    if bits > MAX_BITS:
        raise ValueError("a number on the way is too large; use smaller ones, or decimals")


def _power(base: Number, exponent: Number) -> object:
    """Refuse, before it is computed, a power whose size alone would be the harm."""
    if isinstance(base, int) and isinstance(exponent, int):
        _check_size(base.bit_length() * abs(exponent))
    return cast("object", base**exponent)


def _round(value: Number, digits: int = 0) -> Number:
    """Halves go to the even neighbour, as in Python."""
    return round(value, max(-MAX_DIGITS, min(digits, MAX_DIGITS))) if digits else round(value)


_CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e}
_SIGNS: Mapping[type[ast.unaryop], Callable[[Number], Number]] = {
    ast.UAdd: lambda value: value,
    ast.USub: lambda value: -value,
}
_OPERATORS: Mapping[type[ast.operator], Callable[[Number, Number], object]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
    ast.Pow: _power,
}
_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "abs": abs,
    "ceil": math.ceil,
    "cos": math.cos,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "max": max,
    "min": min,
    "round": _round,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "tan": math.tan,
}
