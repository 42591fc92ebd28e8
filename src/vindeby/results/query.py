"""Which results an expression such as ``aep > 5200 and type == 't1'`` chooses.

The expression has Python's form, but is never executed: it is parsed, and only names of columns, numbers, texts,
arithmetic, comparisons, ``in``, ``and``, ``or`` and ``not`` are evaluated, for all results at once.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.errors import ArgumentError

LONGEST = 10_000
"""Characters of an expression."""
_ARITHMETIC: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}
_COMPARISONS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
EXAMPLE = "aep > 5200 and type == 't1'"


class Labels:
    """A column of texts of which each has two forms, as ``generic-15mw`` and ``t1``; either may be asked for."""

    def __init__(self, *forms: NDArray[np.str_]) -> None:
        self.forms = forms

    def __array__(self, *_: Any, **__: Any) -> NDArray[np.str_]:
        """Return the first of the forms."""
        return self.forms[0]

    @classmethod
    def of(cls, prefix: str, numbers: Sequence[int], names: Sequence[str]) -> Labels:
        """Return the names, and the numbers after a prefix as their short form."""
        return cls(np.array(names, np.str_), np.array([f"{prefix}{number}" for number in numbers], np.str_))

    def among(self, texts: set[str]) -> NDArray[np.bool_]:
        """Whether either form is one of these."""
        found: NDArray[np.bool_] = np.any([np.isin(form, list(texts)) for form in self.forms], axis=0)
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
        """Return which of so many results the expression is true for."""
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
        if isinstance(node, ast.Name):
            return columns[node.id]
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
            return node.value
        if isinstance(node, ast.BoolOp):
            parts = [self._condition(part, columns) for part in node.values]
            return (np.logical_and if isinstance(node.op, ast.And) else np.logical_or).reduce(
                np.broadcast_arrays(*parts)
            )
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self._condition(node.operand, columns)
        if isinstance(node, ast.UnaryOp) and type(node.op) in _ARITHMETIC:
            return _ARITHMETIC[type(node.op)](np.asarray(self._number(node.operand, columns)))
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            sides = (np.asarray(self._number(side, columns), np.float64) for side in (node.left, node.right))
            return _ARITHMETIC[type(node.op)](*sides)
        if isinstance(node, ast.Compare):
            return self._comparison(node, columns)
        raise self._refusal(f"has {ast.unparse(node)[:80]!r}, which a query does not evaluate")

    def _condition(self, node: ast.AST, columns: Mapping[str, Any]) -> NDArray[np.bool_]:
        found = np.asarray(self._value(node, columns))
        if found.dtype != np.bool_:
            raise self._refusal(f"has {ast.unparse(node)[:80]!r}, which is not a condition")
        return found

    def _number(self, node: ast.AST, columns: Mapping[str, Any]) -> Any:
        value = self._value(node, columns)
        if isinstance(value, Labels | str) or np.asarray(value).dtype.kind not in "fiub":
            raise TypeError
        return value

    def _comparison(self, node: ast.Compare, columns: Mapping[str, Any]) -> Any:
        found: Any = True
        sides = [node.left, *node.comparators]
        for left, how, right in zip(sides, node.ops, sides[1:], strict=False):
            found = np.logical_and(found, self._pair(left, how, right, columns))
        return found

    def _pair(self, left: ast.expr, how: ast.cmpop, right: ast.expr, columns: Mapping[str, Any]) -> Any:
        first = self._value(left, columns)
        if isinstance(how, ast.In | ast.NotIn):
            if not isinstance(right, ast.List | ast.Tuple):
                raise self._refusal("has 'in' without a list; write e.g. seed in [0, 7]")
            several = [self._value(one, columns) for one in right.elts]
            found = np.zeros(1, np.bool_)
            for one in several:
                found = found | self._equal(first, one)
            return found if isinstance(how, ast.In) else ~found
        second = self._value(right, columns)
        if isinstance(how, ast.Eq):
            return self._equal(first, second)
        if isinstance(how, ast.NotEq):
            return ~self._equal(first, second)
        if type(how) not in _COMPARISONS or any(isinstance(one, Labels | str) for one in (first, second)):
            raise TypeError
        return _COMPARISONS[type(how)](np.asarray(first), np.asarray(second))

    def _equal(self, first: Any, second: Any) -> NDArray[np.bool_]:
        for one, other in ((first, second), (second, first)):
            if isinstance(one, Labels):
                if not isinstance(other, str):
                    raise TypeError
                return one.among({other})
        sides = np.asarray(first), np.asarray(second)
        if len({side.dtype.kind == "U" for side in sides}) == 2:
            raise TypeError
        return np.asarray(sides[0] == sides[1])
