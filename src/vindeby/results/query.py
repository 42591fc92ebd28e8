"""The results that an expression such as ``aep > 5200 and type == 't1'`` chooses.

The expression has Python's form, but is never executed: it is parsed, and only names of columns, numbers, texts,
arithmetic, comparisons, ``in``, ``and``, ``or`` and ``not`` are evaluated, for all results at once.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError

LONGEST = 10_000
"""Characters of an expression."""
_ARITHMETIC: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_COMPARISONS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
EXAMPLE = "aep > 5200 and type == 't1'"


class Labels:
    """A column of texts with two forms each, such as ``generic-15mw`` and ``t1``; a query may use either."""

    def __init__(self, *forms: NDArray[np.str_]) -> None:
        self.forms = forms

    def __array__(self, *_: Any, **__: Any) -> NDArray[np.str_]:
        """Return the first of the forms."""
        return self.forms[0]

    @classmethod
    def of(cls, prefix: str, numbers: Sequence[int], names: Sequence[str]) -> Labels:
        """Return the names, and the numbers after a prefix as their short form."""
        return cls(np.array(names, np.str_), np.array([f"{prefix}{number}" for number in numbers], np.str_))

    def matching(self, text: str) -> NDArray[np.bool_]:
        """Return whether either form is this text."""
        found: NDArray[np.bool_] = np.any([form == text for form in self.forms], axis=0)
        return found


def refuse_unknown(names: Collection[str], known: Collection[str]) -> None:
    """Refuse a name that is not a column."""
    for name in names:
        if name not in known:
            raise ArgumentError(f"{name!r} is not a column of these results; they have {', '.join(known)}")


class Query:
    """An expression over the columns of results."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise self._refusal(f"has {len(text):,} characters, of at most {LONGEST:,}")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
            self.names = sorted({node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)})
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise self._refusal(f"cannot be read: {getattr(error, 'msg', error)}") from None

    def _refusal(self, why: str) -> ArgumentError:
        return ArgumentError(f"query: {self.text[:200]!r} {why}; write e.g. {EXAMPLE!r}")

    def matches(self, columns: Mapping[str, Any], length: int) -> NDArray[np.bool_]:
        """Return, for each of ``length`` results, whether the expression is true."""
        refuse_unknown(self.names, columns)
        try:
            with np.errstate(all="ignore"):
                found = self._value(self._tree, columns)
        except (TypeError, ValueError, np.exceptions.DTypePromotionError):
            raise self._refusal("compares what cannot be compared, such as a number with a text") from None
        except (RecursionError, OverflowError, ZeroDivisionError) as error:
            raise self._refusal(f"cannot be computed: {error}") from None
        if np.asarray(found).dtype != np.bool_:
            raise self._refusal("is not a condition")
        return np.array(np.broadcast_to(found, (length,)))

    def _value(self, node: ast.AST, columns: Mapping[str, Any]) -> Any:
        match node:
            case ast.Name(id=name):
                return columns[name]
            case ast.Constant(value=int() | float() | str() as value):
                return value
            case ast.BoolOp(op=how, values=parts):
                joined = np.logical_and if isinstance(how, ast.And) else np.logical_or
                return reduce(joined, [self._condition(part, columns) for part in parts])
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return ~self._condition(part, columns)
            case ast.UnaryOp(op=ast.USub(), operand=part):
                return -_numbers(self._value(part, columns))
            case ast.BinOp(left=left, op=how, right=right) if type(how) in _ARITHMETIC:
                sides = (_numbers(self._value(side, columns)) for side in (left, right))
                return _ARITHMETIC[type(how)](*sides)
            case ast.Compare(left=left, ops=ops, comparators=others):
                pairs = zip([left, *others], ops, others, strict=False)
                return reduce(np.logical_and, [self._compared(*pair, columns) for pair in pairs])
        raise self._refusal(f"has {ast.unparse(node)[:80]!r}, which a query does not evaluate")

    def _condition(self, node: ast.AST, columns: Mapping[str, Any]) -> NDArray[np.bool_]:
        found = np.asarray(self._value(node, columns))
        if found.dtype != np.bool_:
            raise self._refusal(f"has {ast.unparse(node)[:80]!r}, which is not a condition")
        return found

    def _compared(
        self, left: ast.expr, how: ast.cmpop, right: ast.expr, columns: Mapping[str, Any]
    ) -> NDArray[np.bool_]:
        first = self._value(left, columns)
        if isinstance(how, ast.In | ast.NotIn):
            if not isinstance(right, ast.List | ast.Tuple):
                raise self._refusal("has 'in' without a list; write e.g. seed in [0, 7]")
            each = [_equal(first, self._value(one, columns)) for one in right.elts]
            found = reduce(np.logical_or, each, np.zeros(1, np.bool_))
            return found if isinstance(how, ast.In) else ~found
        second = self._value(right, columns)
        if isinstance(how, ast.Eq | ast.NotEq):
            found = _equal(first, second)
            return found if isinstance(how, ast.Eq) else ~found
        if type(how) not in _COMPARISONS:
            raise TypeError
        return np.asarray(_COMPARISONS[type(how)](_numbers(first), _numbers(second)))


def _numbers(value: Any) -> FloatArray:
    if np.asarray(value).dtype.kind not in "fiub":
        raise TypeError
    return np.asarray(value, np.float64)


def _equal(first: Any, second: Any) -> NDArray[np.bool_]:
    labels, other = (first, second) if isinstance(first, Labels) else (second, first)
    if isinstance(labels, Labels):
        if not isinstance(other, str):
            raise TypeError
        return labels.matching(other)
    sides = np.asarray(first), np.asarray(second)
    if len({side.dtype.kind == "U" for side in sides}) == 2:
        raise TypeError
    return np.asarray(sides[0] == sides[1])
