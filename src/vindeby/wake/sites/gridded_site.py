"""Local wind: a grid of its quantities, and the site that combines it with another site's wind states.

A ``WindGrid`` holds any of: speedup (the free wind speed at a place, divided by that of the site), turning (degrees,
clockwise, added to the wind direction), Weibull parameters and frequency of the sectors, and turbulence intensity.
Heights are those of the hubs. ``loops.local_wind`` is what the compiled loops read.
"""

from dataclasses import KW_ONLY, dataclass, replace
from types import MappingProxyType
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError
from vindeby.units import TOLERANCE_M, count_sectors, first_uneven
from vindeby.wake.sites.site import Interpolation, Site, WeibullSite, WindStates, checked

QUANTITIES = MappingProxyType(
    {
        "speedup": (0.0, 100.0),
        "turning": (-360.0, 360.0),
        "weibull_a": (1e-6, 1e3),
        "weibull_k": (1e-3, 1e3),
        "sector_frequency": (0.0, 1.0),
        "turbulence_intensity": (0.0, 5.0),
    }
)
"""The quantities of a grid, with the smallest and the largest value that makes sense."""


@dataclass(frozen=True, eq=False)
class WindGrid:
    """Local wind over x, y and, if it differs with them, height and direction.

    ``x`` and ``y`` (metres, in the frame of the layouts) and ``height`` (metres above ground) increase, in steps of
    any size. ``direction`` (degrees) are the centres of equal sectors around the whole circle, the first of them
    0; a last one of 360 may repeat the first.

    Each quantity is an array over (x, y, height, direction), in this order. Axes it does not depend on are left out:
    2 axes are x and y; 3 are x, y and the grid's height or direction; 1 is the direction alone, and a number holds
    everywhere. Frequencies are fractions of the year; what they sum up to is left as it is. Weibull parameters and
    frequency belong together: give all three or none.
    """

    x: Any
    y: Any
    _: KW_ONLY
    height: Any = None
    direction: Any = None
    speedup: Any = None
    turning: Any = None
    weibull_a: Any = None
    weibull_k: Any = None
    sector_frequency: Any = None
    turbulence_intensity: Any = None

    def __post_init__(self) -> None:
        """Check the values and replace them by arrays with all four axes, of length 1 where needed."""
        sectors, repeats = (None, False) if self.direction is None else _sectors(self.direction)
        axes = {
            "x": _axis("x", self.x, least=2),
            "y": _axis("y", self.y, least=2),
            "height": None if self.height is None else _axis("height", self.height, least=1),
            "direction": sectors,
        }
        given = [name for name in QUANTITIES if getattr(self, name) is not None]
        arrays = {name: _quantity(name, getattr(self, name), axes, repeats) for name in given}
        for name, array in (axes | arrays).items():
            object.__setattr__(self, name, array)
        if not given:
            raise ArgumentError(f"a wind grid needs at least one quantity: {', '.join(QUANTITIES)}")
        weibull = ("weibull_a", "weibull_k", "sector_frequency")
        missing = [name for name in weibull if name not in given]
        if 0 < len(missing) < len(weibull):
            raise ArgumentError(
                f"weibull_a, weibull_k and sector_frequency belong together; {' and '.join(missing)} "
                "is missing: give all three or none"
            )

    def __repr__(self) -> str:
        held = ", ".join(name for name in QUANTITIES if getattr(self, name) is not None)
        counts = [len(axis) for axis in (self.x, self.y, self.height, self.direction) if axis is not None]
        west, south, east, north = self.bounds
        return (
            f"<WindGrid: {held}; {' x '.join(map(str, counts))} points, "
            f"{(east - west) / 1000:.3g} km x {(north - south) / 1000:.3g} km>"
        )

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Return the west, south, east and north ends."""
        return float(self.x[0]), float(self.y[0]), float(self.x[-1]), float(self.y[-1])

    @property
    def has_weibull(self) -> bool:
        """Return whether probabilities differ from position to position."""
        return self.weibull_a is not None

    def refuse_outside(self, x: FloatArray, y: FloatArray, what: str) -> None:
        """Raise ArgumentError for a position outside, except for rounding; ``what`` names it, e.g. ``turbine``."""
        west, south, east, north = self.bounds
        slack = 10 * TOLERANCE_M  # an area that ends with the grid, and turbines on its edge but for rounding
        outside = ~((x >= west - slack) & (x <= east + slack) & (y >= south - slack) & (y <= north + slack))
        if outside.any():
            i = int(np.argmax(outside))
            raise ArgumentError(
                f"{what} {i} at ({x[i]:.10g}, {y[i]:.10g}) is outside the grid of the local wind, which goes from "
                f"x {west:.10g} to {east:.10g} and y {south:.10g} to {north:.10g}; "
                "give a larger grid, or move it inside"
            )


def _axis(name: str, values: npt.ArrayLike, *, least: int) -> FloatArray:
    array = checked(name, values)
    if array.ndim != 1 or len(array) < least:
        raise ArgumentError(f"{name} must be a list of at least {least} numbers, not of shape {array.shape}")
    falls = np.flatnonzero(np.diff(array) <= 0)
    if len(falls):
        i = int(falls[0])
        raise ArgumentError(f"{name} must increase, but {array[i]:.10g} is followed by {array[i + 1]:.10g}")
    return array


def _sectors(values: npt.ArrayLike) -> tuple[FloatArray, bool]:
    """Return the centres of the sectors without a 360 that repeats 0, and whether there was one."""
    array = _axis("direction", values, least=1)
    centres = array[: count_sectors(array.tolist())]
    if first_uneven(array.tolist()) is not None:
        raise ArgumentError(
            f"direction must be the centres of equal sectors around the circle, beginning with 0, "
            f"not {array.tolist()}; {len(centres)} sectors are {360.0 / len(centres):g} degrees wide"
        )
    return centres, len(centres) < len(array)


def _quantity(
    name: str, values: npt.ArrayLike, axes: dict[str, FloatArray | None], repeats: bool
) -> FloatArray:
    low, high = QUANTITIES[name]
    array = checked(name, values, low=low, high=high)
    lengths = {
        axis: len(at) + (repeats and axis == "direction") for axis, at in axes.items() if at is not None
    }
    own = _axes_of(name, array, lengths)
    if repeats and "direction" in own:
        if not np.array_equal(array[..., -1], array[..., 0]):
            raise ArgumentError(f"{name} differs between the directions 0 and 360, which are the same")
        array = array[..., :-1]
    shape = [array.shape[own.index(axis)] if axis in own else 1 for axis in ("x", "y", "height", "direction")]
    return np.ascontiguousarray(array.reshape(shape))


def _axes_of(name: str, array: FloatArray, lengths: dict[str, int]) -> tuple[str, ...]:
    choices = [(), ("direction",), ("x", "y"), ("x", "y", "height"), ("x", "y", "direction")]
    choices.append(("x", "y", "height", "direction"))
    known = [axes for axes in choices if all(axis in lengths for axis in axes)]
    fitting = [axes for axes in known if tuple(lengths[axis] for axis in axes) == array.shape]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise ArgumentError(
            f"{name} of shape {array.shape} could be over height or over direction, of which the grid has equally "
            "many; give it all four axes"
        )
    shapes = " or ".join(f"{tuple(lengths[a] for a in axes)} over {', '.join(axes)}" for axes in known[1:])
    raise ArgumentError(f"{name} has shape {array.shape}; with these axes it must be a number, {shapes}")


@dataclass(frozen=True, eq=False)
class GriddedSite:
    """A site with local wind on a grid, like PyWake's ``XRSite``.

    ``rose`` gives the wind states of the whole site: directions, speeds, probabilities and turbulence. ``grid``
    says what is different at a turbine, at the height of its hub:

    - ``speedup`` multiplies the wind speed of every state;
    - ``weibull_a``, ``weibull_k`` and ``sector_frequency`` replace the probabilities;
    - ``turbulence_intensity`` replaces that of the states;
    - ``turning`` is added to the wind direction. Wakes follow the turned wind of the turbine that casts them only if
      ``turned_wakes`` is set; without it turning is for output alone, as PyWake does by default.

    Values are linear in x, y and height (``position_interpolation="nearest"``: those of the nearest point), and over
    direction as ``interpolation`` says, where ``nearest`` of two equally near sectors is the next one clockwise.
    Turbulence intensity is always linear. Nothing is extended beyond the grid: a turbine outside is an error.
    """

    rose: Site
    grid: WindGrid
    interpolation: Interpolation = "linear"
    position_interpolation: Interpolation = "linear"
    turned_wakes: bool = False

    def __post_init__(self) -> None:
        for name in ("interpolation", "position_interpolation"):
            if getattr(self, name) not in get_args(Interpolation):
                raise ArgumentError(f"{name} must be 'linear' or 'nearest', not {getattr(self, name)!r}")
        if not isinstance(self.grid, WindGrid):
            raise ArgumentError(f"grid must be a WindGrid, not {self.grid!r}")
        if isinstance(self.rose, GriddedSite):
            raise ArgumentError(
                "the rose of a gridded site must be a site of uniform wind, not a gridded one"
            )
        if self.turned_wakes and self.grid.turning is None:
            raise ArgumentError("turned_wakes needs turning in the grid")

    def __repr__(self) -> str:
        rose = "" if self.grid.has_weibull else f" with {self.rose!r}"
        return f"<GriddedSite: {self.grid!r}{rose}>"

    def states(
        self, directions: npt.ArrayLike | None = None, speeds: npt.ArrayLike | None = None
    ) -> WindStates:
        """Return the wind states of the site; speed, probability and turbulence are local.

        Where the grid holds probabilities, these are the ones at its middle, for pictures and summaries.
        """
        states = self.rose.states(directions, speeds)
        if not self.grid.has_weibull:
            return states
        if states.step is not None:
            raise ArgumentError(
                "a time series has its own weights; leave weibull_a, weibull_k and sector_frequency out of the grid"
            )
        own = self._at_the_middle().states(states.direction, states.speed[: states.shape[1]])
        return replace(states, probability=own.probability)

    def _at_the_middle(self) -> WeibullSite:
        grid = self.grid
        sectors = 1 if grid.direction is None else len(grid.direction)

        def middle(name: str) -> FloatArray:
            values: FloatArray = getattr(grid, name)
            x, y, height = (length // 2 for length in values.shape[:3])
            return np.array(np.broadcast_to(values[x, y, height], (sectors,)))

        frequency, a, k = map(middle, ("sector_frequency", "weibull_a", "weibull_k"))
        return WeibullSite(frequency, a, k, interpolation=self.interpolation)
