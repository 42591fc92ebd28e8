"""Searches of one prepared method that run in threads at the same time find what each finds alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.layout.small_problems import circle
from vindeby.layout import Gradient, Lattice, Method, Pipeline, RandomStart, Result

METHODS: dict[str, Method] = {
    "lattice": Lattice(trials=40),
    "lattice, gradient": Pipeline([Lattice(trials=40), Gradient(5)]),
    "random-start, gradient": Pipeline([RandomStart(), Gradient(5)]),
}


def found(result: Result) -> tuple[list[float], list[float], float, int]:
    return result.x.tolist(), result.y.tolist(), result.aep_gwh, result.evaluations


@pytest.mark.parametrize("name", METHODS)
def test_searches_in_threads_find_what_each_finds_alone(name: str) -> None:
    search = METHODS[name].prepare(circle(30, 3000.0))
    alone = [found(search(seed, None)) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        together = [found(one) for one in pool.map(lambda seed: search(seed, None), range(8))]
    assert together == alone
