"""The mean of a Gaussian over a disc."""

from __future__ import annotations

import numpy as np
import pytest

from vindeby.wake.models.overlap import overlap, overlap_exact, overlap_table


def by_quadrature(rho: float, kappa: float) -> float:
    """Gauss-Legendre in radius, equal angles around: both converge fast for a smooth function."""
    node, weight = np.polynomial.legendre.leggauss(80)
    radius = 0.5 * rho * (node + 1)
    angle = np.arange(256) * (2 * np.pi / 256)
    square = radius[:, None] ** 2 + kappa**2 - 2 * radius[:, None] * kappa * np.cos(angle)
    around = np.exp(-0.5 * square).mean(axis=1)
    return float((around * radius * weight).sum() * 0.5 * rho * 2 / rho**2)


@pytest.mark.parametrize("rho", [0.01, 0.3, 1.0, 2.7, 7.9, 12.0])
@pytest.mark.parametrize("kappa", [0.0, 0.5, 1.9, 4.0, 9.0])
def test_the_sum_is_the_integral(rho: float, kappa: float) -> None:
    assert overlap_exact(rho, kappa) == pytest.approx(by_quadrature(rho, kappa), rel=1e-11, abs=1e-18)


def test_a_rotor_of_no_size_is_a_point() -> None:
    assert overlap_exact(0.0, 1.3) == pytest.approx(np.exp(-0.5 * 1.3**2), rel=1e-15)
    assert overlap(overlap_table(), 0.0, 1.3)[0] == pytest.approx(np.exp(-0.5 * 1.3**2), rel=1e-8)


def test_the_table_is_right_to_1e_8() -> None:
    rng = np.random.default_rng(0)
    table = overlap_table()
    for rho, kappa in zip(rng.uniform(0, 9, 3000), rng.uniform(0, 17, 3000), strict=True):
        assert overlap(table, rho, kappa)[0] == pytest.approx(overlap_exact(rho, kappa), abs=1.5e-8)


def test_slopes_are_those_of_the_table() -> None:
    table, h = overlap_table(), 1e-5
    for rho, kappa in ((0.4, 0.2), (1.1, 1.7), (3.3, 4.0), (8.5, 7.0)):
        _, with_rho, with_kappa = overlap(table, rho, kappa)
        up, down = overlap(table, rho + h, kappa)[0], overlap(table, rho - h, kappa)[0]
        assert with_rho == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-9)
        up, down = overlap(table, rho, kappa + h)[0], overlap(table, rho, kappa - h)[0]
        assert with_kappa == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-9)


def test_far_outside_it_is_nothing() -> None:
    assert overlap_exact(1.0, 60.0) == 0.0
    assert overlap(overlap_table(), 1.0, 20.0) == (0.0, 0.0, 0.0)
