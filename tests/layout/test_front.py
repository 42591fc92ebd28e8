"""Two objectives: the weight of each seed, and what it does to a search."""

from __future__ import annotations

import numpy as np

from vindeby.layout.methods.front import weight_of


def test_weights_mirror_the_binary_digits_of_seeds_and_spread_evenly() -> None:
    assert [weight_of(seed) for seed in range(8)] == [0.0, 0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875]
    for count in (16, 64, 20, 33):
        gaps = np.diff(sorted([*map(weight_of, range(count)), 1.0]))
        assert gaps.max() <= 2.0 / count
    assert 0.0 < weight_of(2**32 - 1) < 1.0
