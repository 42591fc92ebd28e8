"""The digest of code holds everything its machine code is made of, and nothing that differs by process."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, Self

import numba
import numpy as np
import pytest

from vindeby.wake.compiling.code_digest import SourceWalk, digest_of

SOURCE = '''
import math
import numba
import numpy as np

FACTOR = 2.0
NAMES = ("a", "b")
TABLE = np.array([1.0, 2.0, 3.0])
FLAGS = frozenset({"x", "y", "z"})


@numba.njit(fastmath={"contract", "nsz", "arcp"})
def helper(x, shift=1.0):
    """Text."""
    return FACTOR * x + shift + TABLE[1] * math.sqrt(x) + np.exp(-x) + math.pi


@numba.njit
def countdown(x):
    return countdown(x - 1.0) if x > 0.0 else helper(x)


def closure(depth):
    @numba.njit
    def deficit(data, x, *, kind="deep"):
        inner = lambda y: y * 3.0
        return inner(helper(x)) * depth if "a" in NAMES and kind in {"deep", "flat", "wide"} else countdown(x)

    return deficit


deficit = closure(4.0)
'''


def loaded(source: str = SOURCE, **names: Any) -> Callable[..., Any]:
    scope: dict[str, Any] = {"__name__": "mine"}
    exec(compile(source, "mine.py", "exec", dont_inherit=True), scope)
    scope.update(names)
    return scope["deficit"]  # type: ignore[no-any-return]


def text_of(value: object) -> str:
    digest = digest_of(value)
    assert not digest.unknown, digest.unknown
    return digest.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("FACTOR = 2.0", "FACTOR = 2"),
        ('("a", "b")', '("a", "c")'),
        ("2.0, 3.0]", "2.5, 3.0]"),
        ("shift=1.0", "shift=1.5"),
        ('"arcp"', '"afn"'),
        ("math.sqrt(x)", "math.cbrt(x)"),
        ("+ math.pi", "- math.pi"),
        ("np.exp", "math.exp"),
        ("x - 1.0", "x - 2.0"),
        ('kind="deep"', 'kind="flat"'),
        ("y * 3.0", "y * 4.0"),
        ('"wide"', '"huge"'),
        ("closure(4.0)", "closure(5.0)"),
        ("closure(4.0)", "closure(-4.0)"),
        ("@numba.njit\ndef countdown", "@numba.njit(fastmath=True)\ndef countdown"),
    ],
)
def test_whatever_the_code_depends_on_changes_the_digest(old: str, new: str) -> None:
    assert SOURCE.count(old) == 1
    assert text_of(loaded(SOURCE.replace(old, new))) != text_of(loaded())


def test_lines_and_names_of_files_and_other_globals_do_not_change_the_digest() -> None:
    moved = SOURCE.replace("def closure", "\n\n# a comment\nOTHER = object()\n\n\ndef closure").replace(
        'FLAGS = frozenset({"x", "y", "z"})', ""
    )
    assert text_of(loaded(moved)) == text_of(loaded())


def test_the_digest_is_the_same_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.py").write_text("\n\n" + SOURCE)
    script = (
        "from vindeby.wake.compiling.code_digest import digest_of; "
        "import elsewhere; found = digest_of(elsewhere.deficit); print(found.text, found.unknown)"
    )
    for seed in ("1", "2"):  # the second imports compiled bytecode
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(tmp_path)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=120
        )  # fmt: skip
        assert done.stdout.split() == [text_of(loaded()), "[]"]


class Pair(NamedTuple):
    first: float
    second: tuple[int, ...]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0, 0.0), (0.0, -0.0), (1, True), (None, False), ("1", b"1"), (1j, -1j), ((1, 2), [1, 2]),
        ((10**5000,), (10**5000 + 1,)),
        ((1, (2,)), ((1, 2),)), ({"a": 1}, {"a": 2}), ({1, 2}, {1, 3}),
        (Pair(1.0, (2,)), Pair(1.0, (3,))), (Pair, tuple), (np.float32(1), np.float64(1)),
        (np.zeros(2), np.zeros((2, 1))), (np.zeros(2), np.zeros(2, np.float32)),
        (np.arange(5000.0), np.where(np.arange(5000) == 2500, 0.0, np.arange(5000.0))),
        (np.sqrt, np.exp), (abs, min), (float, int), (numba.float64, numba.float32), (np.linalg.norm, np.linalg.det),
    ],
)  # fmt: skip
def test_values_that_differ_have_different_digests(one: object, other: object) -> None:
    assert text_of(one) != text_of(other)


def test_attributes_of_a_users_module_and_of_its_submodules_are_followed() -> None:
    package, module = ModuleType("package"), ModuleType("package.module")
    vars(package).update(module=module)
    vars(module).update(package=package, NUMBER=1.0, unused=object())
    source = "import numba\n@numba.njit\ndef deficit(x):\n    return x + package.module.NUMBER"
    function = loaded(source, package=package)
    before = text_of(function)
    vars(module).update(NUMBER=2.0)
    assert text_of(function) != before


class Exactly(tuple[int, ...]):
    """A tuple that is made of two numbers, not of a tuple."""

    __slots__ = ()

    def __new__(cls, one: int, other: int) -> Self:
        return super().__new__(cls, (one, other))


def test_tuples_of_classes_of_their_own_are_described_and_stay_what_they_are() -> None:
    assert text_of(Exactly(1, 2)) != text_of(Exactly(1, 3))
    for value in (Exactly(1, 2), sys.version_info):
        assert text_of(value)
        assert SourceWalk().value(value) is value
    copy = SourceWalk().value(Pair(1.0, (2,)))
    assert type(copy) is Pair
    assert copy == (1.0, (2,))


def test_a_users_file_with_the_name_of_a_standard_module_is_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vindeby.wake.compiling import code_digest

    code_digest.from_library.cache_clear()
    (tmp_path / "antigravity.py").write_text("NUMBER = 1.0")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("antigravity")
    function = loaded("import numba\n@numba.njit\ndef deficit(x):\n    return gravity.NUMBER", gravity=module)
    before = text_of(function)
    vars(module).update(NUMBER=2.0)
    assert text_of(function) != before
    monkeypatch.delitem(sys.modules, "antigravity")
    code_digest.from_library.cache_clear()


def test_a_container_that_holds_itself_is_not_described() -> None:
    inner: list[object] = [1.0]
    mapping = {"inner": inner}
    inner.append(mapping)
    assert digest_of(mapping).unknown == [mapping]
    assert not digest_of((shared := [1.0], shared)).unknown
