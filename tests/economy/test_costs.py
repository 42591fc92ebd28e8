"""Costs, LCOE and NPV: against their definitions summed up year by year."""

import numpy as np
import pytest

from vindeby.arrays import FloatArray
from vindeby.economy import CableTree, CostParts, Costs, DepthGrid, Foundation, capital_recovery
from vindeby.errors import ArgumentError

RNG = np.random.default_rng(28)
GRID = DepthGrid(
    np.sort(RNG.uniform(0, 9000, 12)), np.sort(RNG.uniform(0, 7000, 9)), RNG.uniform(8.0, 70.0, (12, 9))
)
TABLE = Foundation(GRID, table=([10.0, 20.0, 35.0, 60.0], [1e6, 1.4e6, 3.1e6, 8e6]), fixed=4e5)
POLYNOMIAL = Foundation(GRID, polynomial=(5e5, 2e4, -1e2, 9.0), fixed=1e5)


def _places(many: int) -> tuple[FloatArray, FloatArray]:
    """Places well inside the grid."""
    (west, south, east, north), rng = GRID.bounds, np.random.default_rng(many)
    return rng.uniform(west + 9.0, east - 9.0, many), rng.uniform(south + 9.0, north - 9.0, many)


def _grid(*given: object) -> DepthGrid:
    return DepthGrid(*map(np.array, given))


def test_capital_recovery_repays_the_investment_in_equal_yearly_amounts() -> None:
    for discount, years in [(0.0661, 25), (0.03, 20), (0.0, 30), (1e-13, 30), (0.2, 1)]:
        paid = sum(
            capital_recovery(discount, years) / (1.0 + discount) ** year for year in range(1, years + 1)
        )
        assert paid == pytest.approx(1.0, rel=1e-9)


def test_the_lcoe_is_the_price_at_which_the_net_present_value_is_zero() -> None:
    parts, aep_gwh, discount, years = CostParts(4.0e9, 1e8, 5e7, 1.5e8, 9.7e7), 4321.0, 0.0661, 25
    costs = Costs(0.0, 0.0, discount, years)
    assert abs(costs.npv_eur(parts, aep_gwh, costs.lcoe_eur_per_mwh(parts, aep_gwh))) < 1e-6 * 4.3e9
    yearly = [(aep_gwh * 1000 * 90.0 - 9.7e7) / (1 + discount) ** year for year in range(1, years + 1)]
    assert costs.npv_eur(parts, aep_gwh, 90.0) == pytest.approx(sum(yearly) - 4.3e9, rel=1e-12)
    assert costs.lcoe_eur_per_mwh(parts, 0.0) == float("inf")


def test_a_foundation_costs_what_its_table_or_polynomial_says() -> None:
    depth = np.array([0.0, 10.0, 15.0, 47.5, 60.0, 99.0])
    np.testing.assert_allclose(TABLE.at_depth(depth), [1.4e6, 1.4e6, 1.6e6, 5.95e6, 8.4e6, 8.4e6], rtol=1e-12)
    np.testing.assert_allclose(
        POLYNOMIAL.at_depth(depth), 6e5 + 2e4 * depth - 1e2 * depth**2 + 9.0 * depth**3, rtol=1e-12
    )


def test_costs_are_the_sum_of_their_parts_and_follow_the_places() -> None:
    costs = Costs([9e7, 1.2e8], [2e6, 3e6], 0.0661, 25, TABLE, fixed=1.2e9)
    x, y = _places(30)
    types = np.arange(30) % 2
    parts = costs.parts(x, y, types, cables_eur=5e7)
    assert parts.turbines == 15 * (9e7 + 1.2e8)
    assert parts.opex == 15 * 5e6
    assert parts.capex == pytest.approx(
        parts.turbines + TABLE.at_depth(GRID.at(x, y)).sum() + 5e7 + 1.2e9, rel=1e-14
    )
    each = costs.places(x, y, types)
    others = costs.recovery * (5e7 + 1.2e9)
    assert each.sum() + others == pytest.approx(costs.yearly_eur(parts), rel=1e-13)
    one = Costs(9e7, 2e6, 0.0661, 25)
    assert one.parts(x, y, types).capex == 30 * 9e7


def test_a_kept_cable_tree_costs_its_lengths() -> None:
    x, y = _places(5)
    tree = CableTree(
        ends=np.array([[0, -1], [1, 0], [2, 1], [3, -2], [-1, 4]]),
        eur_per_m=np.array([700.0, 400.0, 300.0, 300.0, 300.0]),
        substations=np.array([[1000.0, 2000.0], [5000.0, 3000.0]]),
        detour_m=np.array([0.0, 12.0, 0.0, 0.0, 0.0]),
    )
    places = [*zip(x, y, strict=True)]
    ends = [(places[0], (1000, 2000)), (places[1], places[0]), (places[2], places[1])]
    ends += [(places[3], (5000, 3000)), (places[4], (1000, 2000))]
    lengths = [np.hypot(a[0] - b[0], a[1] - b[1]) for a, b in ends]
    assert tree.eur(x, y) == pytest.approx(np.dot(tree.eur_per_m, lengths) + 400 * 12, rel=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: capital_recovery(-1.0, 25), "discount must be a fraction above -1"),
        (lambda: capital_recovery(0.05, 0), "years must be above 0, not 0"),
        (lambda: Costs(float("nan"), 0.0, 0.05, 25), "turbine_capex must be finite"),
        (lambda: Foundation(GRID, table=([10, 10], [1, 2])), "depths that increase"),
        (lambda: Foundation(GRID, table=([10, 20], [1, 2, 3])), "as many costs"),
        (lambda: Foundation(GRID, polynomial=[float("inf")]), "must be finite"),
        (lambda: _grid([0, 0], [0, 1], np.ones((2, 2))), "x of a depth grid"),
        (lambda: _grid([0, 1], [0, 1], np.ones((2, 3))), r"shape \(2, 2\), not \(2, 3\)"),
        (lambda: _grid([0, 1], [0, 7], [[1, np.nan], [1, 1]]), "depth of a depth grid must be finite"),
        (lambda: GRID.refuse_outside((-1.0, 900.0, 5000.0, 3000.0), "area"), r"area, from \(-1, 900\)"),
    ],
)
def test_wrong_figures_are_refused_with_a_reason(make: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        make()  # type: ignore[operator]
