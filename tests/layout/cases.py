"""Small farms on which smart start must choose the points that TopFarm chooses; shared by test and oracle."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

_SHARES = (3.2, 3.0, 5.2, 7.8, 7.4, 5.9, 8.2, 11.6, 13.0, 11.7, 12.1, 10.9)
FREQUENCY = tuple(share / sum(_SHARES) for share in _SHARES)
WEIBULL_A = (8.65, 7.98, 11.05, 11.31, 12.20, 12.26, 12.61, 13.05, 12.61, 12.06, 12.24, 11.95)
WEIBULL_K = (1.77, 1.87, 2.25, 2.23, 2.41, 2.48, 2.27, 2.26, 2.08, 2.12, 2.25, 2.25)

TURBINES = {
    "10MW": (10.0, 195.0, 121.0),
    "12MW": (12.0, 214.0, 133.0),
    "15MW": (15.0, 240.0, 150.0),
}
"""Rated power (MW), rotor diameter and hub height (m) of generic turbines."""

Ring = tuple[tuple[float, float], ...]

SHAPES: dict[str, tuple[tuple[Ring, ...], tuple[Ring, ...]]] = {
    "slanted": (
        (((703000.0, 6224000.0), (709300.0, 6225100.0), (710500.0, 6231700.0), (702400.0, 6229900.0)),),
        (),
    ),
    "triangle": ((((0.0, 0.0), (9000.0, 1300.0), (2700.0, 8100.0)),), ()),
    "concave": (
        (
            (
                (0.0, 0.0),
                (9000.0, -700.0),
                (9700.0, 3100.0),
                (4100.0, 3900.0),
                (3300.0, 9200.0),
                (-900.0, 8700.0),
            ),
        ),
        (),
    ),
    "two": (
        (
            ((0.0, 0.0), (4100.0, 300.0), (3700.0, 7100.0), (-300.0, 6900.0)),
            ((5300.0, 1100.0), (10100.0, 200.0), (9100.0, 8300.0)),
        ),
        (),
    ),
    "hole": (
        (((0.0, 0.0), (9100.0, 200.0), (9500.0, 9300.0), (-200.0, 8800.0)),),
        (((3100.0, 3300.0), (6200.0, 2900.0), (5900.0, 6100.0), (3500.0, 5800.0)),),
    ),
    "circle": ((), ()),
}
"""Polygons and holes; the circle has none of either."""
CIRCLE = ((1000.0, -500.0), 4100.0)


@dataclass(frozen=True)
class Case:
    """One run of smart start: where, what, and with which seed."""

    shape: str
    count: int
    grid_size: int
    random_pct: float
    seed: int
    turbines: tuple[str, ...] = ("15MW",)
    model: str = "nygaard-2022"
    spacing: float = 3.0
    neighbours: tuple[tuple[float, float], ...] = ()
    directions: tuple[float, ...] | None = None
    speeds: tuple[float, ...] | None = None
    interpolation: Literal["linear", "nearest"] = "linear"

    @property
    def name(self) -> str:
        return "-".join(
            [self.shape, *self.turbines, self.model, f"g{self.grid_size}", f"r{self.random_pct:g}"]
            + [f"n{self.count}", f"s{self.seed}"]
            + (["neighbours"] if self.neighbours else [])
            + (["own-wind"] if self.speeds else [])
            + ([self.interpolation] if self.interpolation != "linear" else [])
        )


_NEAR: Ring = ((-2100.0, 1500.0), (-2600.0, 4700.0), (4600.0, 10900.0), (10900.0, 6100.0))
_SHAPES = tuple(SHAPES)
_TURBINES = tuple(TURBINES)
_OTHERS = ("bastankhah-2014", "niayifar-2016", "iea37", "jensen")


def _all() -> list[Case]:
    cases = [
        Case(shape, 6 + seed, 7 + index % 4, (0.0, 5.0, 30.0, 60.0, 100.0)[(index + seed) % 5], seed,
             turbines=(_TURBINES[(index + seed) % 3],))
        for index, shape in enumerate(_SHAPES)
        for seed in range(7)
    ]  # fmt: skip
    cases += [
        Case(shape, 7, 8, 30.0, index, model=model)
        for index, model in enumerate(_OTHERS)
        for shape in ("slanted", "concave", "hole")
    ]
    cases += [
        Case(shape, 8, 8, percent, seed, turbines=types)
        for shape, percent, seed, types in (
            ("slanted", 0.0, 0, ("10MW", "15MW")),
            ("slanted", 30.0, 1, ("10MW", "15MW")),
            ("concave", 10.0, 2, ("15MW", "10MW")),
            ("two", 50.0, 3, ("12MW", "10MW", "15MW")),
        )
    ]
    cases += [
        Case(shape, 7, 8, percent, seed, neighbours=_NEAR)
        for shape, percent, seed in (("concave", 30.0, 0), ("hole", 10.0, 1), ("two", 0.0, 2))
    ]
    cases += [
        Case("triangle", 6, 8, 20.0, 5, directions=tuple(range(0, 360, 5)), speeds=(8.0, 11.0)),
        Case("two", 9, 9, 20.0, 6, speeds=(5.0, 7.0, 9.0, 11.0, 13.0), spacing=4.0),
        Case("hole", 14, 12, 30.0, 7),
        Case("slanted", 12, 11, 30.0, 8, turbines=("10MW",)),
    ]
    return cases + [replace(case, interpolation="nearest") for case in cases]


CASES = _all()
