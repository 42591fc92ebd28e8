"""Wind turbines: power and thrust as functions of wind speed.

Both curves are kept as pieces, each a cubic polynomial for power and a straight line for the thrust
coefficient, which holds tabulated curves with linear interpolation and the analytic curves of the IEA case
studies exactly. Outside its points a tabulated curve keeps its first and last value, as ``numpy.interp`` and
PyWake do, or is zero, as in FLORIS.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError
from vindeby.units import MW, impossible_power, impossible_rating

Outside = Literal["hold", "zero"]


class Curve(NamedTuple):
    """The starts of pieces (m/s, the first at 0), and one row of coefficients per piece, constant first."""

    start: FloatArray
    coefficients: FloatArray


def joined_points(speed: FloatArray, values: FloatArray, outside: Outside, degree: int) -> Curve:
    """Return points joined by straight lines; outside them the end values hold, or the curve is zero.

    At the last point itself the curve still has its value.
    """
    if outside == "zero" and len(speed) < 2:
        raise ArgumentError(f"a curve needs two wind speeds or more, not {speed.tolist()}")
    slope = np.append(np.diff(values) / np.diff(speed), 0.0)
    coefficients = np.zeros((len(speed), degree + 1))
    coefficients[:, 0], coefficients[:, 1] = values, slope
    if speed[0] > 0:
        below = np.zeros((1, degree + 1))
        below[0, 0] = values[0] if outside == "hold" else 0.0
        speed, coefficients = np.append(0.0, speed), np.concatenate([below, coefficients])
    if outside == "zero":  # the piece before reaches the last point: one of its own would have no width
        speed = np.append(speed[:-1], np.nextafter(speed[-1], np.inf))
        coefficients[-1] = 0.0
    return Curve(speed, coefficients)


def common_pieces(power: Curve, thrust: Curve) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the starts of the pieces of both curves, and the coefficients of each from there."""
    start = np.union1d(power.start, thrust.start)
    return start, _restarted(power, start), _restarted(thrust, start)


def _restarted(curve: Curve, start: FloatArray) -> FloatArray:
    piece = np.searchsorted(curve.start, start, side="right") - 1
    shift = (start - curve.start[piece])[:, None]
    coefficients = curve.coefficients[piece]
    for first in range(coefficients.shape[1] - 1):  # Horner's scheme, once per derivative
        for power in range(coefficients.shape[1] - 2, first - 1, -1):
            coefficients[:, power : power + 1] += shift * coefficients[:, power + 1 : power + 2]
    return coefficients


@dataclass(frozen=True, eq=False)
class Turbine:
    """A turbine type.

    ``start`` holds the wind speeds (m/s) at which the pieces begin, ``power`` their polynomials in the
    distance from there, one row of four coefficients (W) a piece, constant first; ``thrust`` the same for the
    thrust coefficient, two a piece. ``start[0]`` is 0 and the last piece is constant. Use
    ``Turbine.tabulated`` or ``Turbine.generic`` to make one.
    """

    name: str
    rotor_diameter_m: float
    hub_height_m: float
    start: FloatArray
    power: FloatArray
    thrust: FloatArray

    def __post_init__(self) -> None:
        for field in ("rotor_diameter_m", "hub_height_m"):
            value = getattr(self, field)
            if not (np.isfinite(value) and value > 0):
                raise ArgumentError(
                    f"turbine {self.name}: {field} must be a positive number of metres, not {value}"
                )
        if self.start.shape != (len(self.power),) or self.start.shape != (len(self.thrust),):
            raise ArgumentError(
                f"turbine {self.name}: every piece needs a start, a power and a thrust polynomial"
            )
        if self.start[0] != 0 or np.any(np.diff(self.start) <= 0):
            raise ArgumentError(f"turbine {self.name}: wind speeds must begin at 0 and increase")
        if np.any(self.power[-1, 1:] != 0) or self.thrust[-1, 1] != 0:
            raise ArgumentError(f"turbine {self.name}: the last piece has no end, so it must be constant")

    def __repr__(self) -> str:
        rated_mw = float(self.power_at(self.start).max()) / MW
        size = f"rotor {self.rotor_diameter_m:g} m, hub {self.hub_height_m:g} m"
        return f"<Turbine {self.name!r}: {rated_mw:.4g} MW, {size}>"

    @staticmethod
    def tabulated(
        name: str,
        rotor_diameter_m: float,
        hub_height_m: float,
        wind_speed: npt.ArrayLike,
        power_w: npt.ArrayLike,
        thrust_coefficient: npt.ArrayLike,
        *,
        thrust_wind_speed: npt.ArrayLike | None = None,
        outside: Outside = "hold",
    ) -> Turbine:
        """Make a turbine from a table, linear between its points.

        Args:
            name: The name of the type.
            rotor_diameter_m: Rotor diameter.
            hub_height_m: Hub height.
            wind_speed: In m/s, increasing, shape (points,).
            power_w: Power in W, shape (points,).
            thrust_coefficient: Shape (points,), or that of ``thrust_wind_speed``.
            thrust_wind_speed: The wind speeds of the thrust coefficient, where they are not those of the power.
            outside: Outside the wind speeds of each, power and thrust ``"hold"`` their first and last values or are
                ``"zero"``.
        """
        _refuse_unknown(name, outside)
        speed, watts, thrust = (np.array(v, np.float64) for v in (wind_speed, power_w, thrust_coefficient))
        thrust_speed = speed if thrust_wind_speed is None else np.array(thrust_wind_speed, np.float64)
        _check_curve(name, "power_w", speed, watts)
        _check_curve(name, "thrust_coefficient", thrust_speed, thrust)
        pieces = common_pieces(
            joined_points(speed, watts, outside, 3), joined_points(thrust_speed, thrust, outside, 1)
        )
        made = Turbine(name, float(rotor_diameter_m), float(hub_height_m), *pieces)
        curve = zip(speed.tolist(), watts.tolist(), strict=True)
        _refuse_power(name, impossible_power(rotor_diameter_m, curve), "power_w in W")
        return made

    @staticmethod
    def generic(name: str, rated_power_mw: float, rotor_diameter_m: float, hub_height_m: float) -> Turbine:
        """Make a turbine from its rating alone, with the curves of PyWake's ``GenericWindTurbine``.

        Args:
            name: The name of the type.
            rated_power_mw: Rated power.
            rotor_diameter_m: Rotor diameter.
            hub_height_m: Hub height.
        """
        if not (np.isfinite(rated_power_mw) and rated_power_mw > 0 and rotor_diameter_m > 0):
            raise ArgumentError(
                f"turbine {name}: rated power and rotor diameter must be positive, "
                f"not {rated_power_mw} MW and {rotor_diameter_m} m"
            )
        _refuse_power(name, impossible_rating(rotor_diameter_m, rated_power_mw), "rated_power_mw in MW")
        return Turbine.tabulated(
            name, rotor_diameter_m, hub_height_m, *_generic_curves(rated_power_mw, rotor_diameter_m)
        )

    @staticmethod
    def cubic(
        name: str,
        rated_power_mw: float,
        rotor_diameter_m: float,
        hub_height_m: float,
        *,
        cut_in: float,
        rated_speed: float,
        cut_out: float,
        thrust_coefficient: npt.ArrayLike,
        thrust_wind_speed: npt.ArrayLike | None = None,
        outside: Outside = "hold",
    ) -> Turbine:
        """Make a turbine whose power grows with the cube of the speed above cut-in.

        Args:
            name: The name of the type.
            rated_power_mw: Rated power.
            rotor_diameter_m: Rotor diameter.
            hub_height_m: Hub height.
            cut_in: In m/s.
            rated_speed: The wind speed from which power is rated, in m/s.
            cut_out: In m/s.
            thrust_coefficient: One number for all wind speeds, or one for each of ``thrust_wind_speed``.
            thrust_wind_speed: In m/s, shape (points,).
            outside: Outside these wind speeds the thrust is ``"hold"``, its first and last value, or ``"zero"``.
        """
        rated = rated_power_mw * MW
        steepness = rated / (rated_speed - cut_in) ** 3
        # At cut-out itself the turbine still runs.
        start = np.array([0.0, cut_in, rated_speed, np.nextafter(cut_out, np.inf)])
        power = np.array([[0, 0, 0, 0], [0, 0, 0, steepness], [rated, 0, 0, 0], [0, 0, 0, 0]], np.float64)
        _refuse_unknown(name, outside)
        if thrust_wind_speed is None:
            thrust_wind_speed, outside = [0.0], "hold"
        points, values = (np.array(v, np.float64, ndmin=1) for v in (thrust_wind_speed, thrust_coefficient))
        _check_curve(name, "thrust_coefficient", points, values)
        pieces = common_pieces(Curve(start, power), joined_points(points, values, outside, 1))
        made = Turbine(name, float(rotor_diameter_m), float(hub_height_m), *pieces)
        why = impossible_power(rotor_diameter_m, [(rated_speed, rated)])
        _refuse_power(name, why, "rated_power_mw in MW")
        return made

    def power_at(self, wind_speed: npt.ArrayLike) -> FloatArray:
        """Return the power in W at these wind speeds."""
        piece, along = self._locate(wind_speed)
        p = self.power[piece]
        return np.asarray(((p[..., 3] * along + p[..., 2]) * along + p[..., 1]) * along + p[..., 0])

    def thrust_coefficient_at(self, wind_speed: npt.ArrayLike) -> FloatArray:
        """Return the thrust coefficient at these wind speeds."""
        piece, along = self._locate(wind_speed)
        return np.asarray(self.thrust[piece, 1] * along + self.thrust[piece, 0])

    def thrust_range(self) -> tuple[float, float]:
        """Return the smallest and the largest thrust coefficient of the whole curve."""
        ends = self.thrust[:-1, 0] + self.thrust[:-1, 1] * np.diff(self.start)
        values = np.concatenate([self.thrust[:, 0], ends])
        return float(values.min()), float(values.max())

    def _locate(self, wind_speed: npt.ArrayLike) -> tuple[npt.NDArray[np.intp], FloatArray]:
        speed = np.maximum(np.asarray(wind_speed, np.float64), 0.0)
        piece = np.searchsorted(self.start, speed, side="right") - 1
        return piece, speed - self.start[piece]


def _refuse_power(name: str, why: str, unit: str) -> None:
    if why:
        raise ArgumentError(f"turbine {name}: {why}; give {unit} and rotor_diameter_m in metres")


def _refuse_unknown(name: str, outside: str) -> None:
    if outside not in get_args(Outside):
        raise ArgumentError(f"turbine {name}: outside must be 'hold' or 'zero', not {outside!r}")


def _check_curve(name: str, label: str, speed: FloatArray, values: FloatArray) -> None:
    of = "wind_speed" if label == "power_w" else "the wind speeds of thrust"
    if speed.ndim != 1 or speed.shape != values.shape or len(speed) < 1:
        raise ArgumentError(
            f"turbine {name}: {of} and {label} must be lists of one length, "
            f"not of shapes {speed.shape} and {values.shape}"
        )
    for what, numbers in ((of, speed), (label, values)):
        if not np.all(np.isfinite(numbers)) or np.any(numbers < 0):
            raise ArgumentError(f"turbine {name}: {what} must hold finite numbers >= 0")
    if np.any(np.diff(speed) <= 0):
        raise ArgumentError(f"turbine {name}: {of} must increase; sort the table and drop repeated rows")
    if label == "thrust_coefficient" and np.any(values > 1.5):
        raise ArgumentError(
            f"turbine {name}: thrust_coefficient {values.max()} is not a thrust coefficient (> 1.5)"
        )


def _generic_curves(rated_power_mw: float, diameter: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the curves of PyWake's public ``standard_power_ct_curve`` formula, with its defaults.

    Aerodynamic power at a power coefficient of 0.49 less gear, generator and converter losses, smoothed by 10
    % turbulence; thrust by one-dimensional momentum theory from the power coefficient that this needs, scaled
    so that its flattest part is 0.8, at most 8/9.
    """
    turbulence, density, power_coefficient, flat_thrust = 0.1, 1.225, 0.49, 0.8
    gear_constant, gear_variable, generator, converter = 0.01, 0.014, 0.03, 0.03
    rated = rated_power_mw * 1e3  # kW, so that rounding agrees with the source
    speed = np.arange(0.1, 30, 0.1)
    wind_power = 0.5 * density * np.pi * (diameter / 2) ** 2 * speed**3 / 1000
    aerodynamic = wind_power * power_coefficient
    after_gear = np.maximum(aerodynamic - (gear_constant * rated + gear_variable * aerodynamic), 0.0)
    steady = np.minimum(after_gear * (1 - generator) * (1 - converter), rated)
    spread = turbulence * speed[:, None]
    weight = np.exp(-((speed - speed[:, None]) ** 2) / (2 * spread**2)) / np.sqrt(2 * np.pi * spread**2)
    power = (weight * steady).sum(axis=1) / weight.sum(axis=1)
    needed = (power / (1 - converter) / (1 - generator) + gear_constant * rated) / (1 - gear_variable)
    thrust = _thrust_of_power_coefficient(np.minimum(needed / wind_power, 16 / 27))
    # Below about 2 m/s the losses need more than the Betz limit; the flattest part is looked for above that.
    first = int(np.flatnonzero(thrust < 8 / 9 - 1e-6)[0])
    flattest = first + int(np.argmin(np.abs(np.diff(thrust[first:]))))
    if thrust[flattest] < _thrust_of_power_coefficient(np.array(power_coefficient)):
        flattest = 0
    return speed, power * 1e3, np.minimum(8 / 9, thrust * flat_thrust / thrust[flattest])


def _thrust_of_power_coefficient(power_coefficient: FloatArray) -> FloatArray:
    """Return ct = 4 a (1 - a) for the induction a that solves cp = 4 a (1 - a)^2 (trigonometric root)."""
    y = 27 / 16 * power_coefficient
    induction = 2 / 3 * (1 - np.cos(np.arctan2(2 * np.sqrt(y * (1 - y)), 1 - 2 * y) / 3))
    return np.asarray(4 * induction * (1 - induction))


def iea37_335mw() -> Turbine:
    """Return the 3.35 MW turbine of the IEA Wind Task 37 case studies 1 and 2."""
    return Turbine.cubic(
        "IEA37 3.35MW",
        3.35,
        130.0,
        110.0,
        cut_in=4.0,
        rated_speed=9.8,
        cut_out=25.0,
        thrust_coefficient=8 / 9,
    )


def iea37_10mw() -> Turbine:
    """Return the 10 MW turbine of the IEA Wind Task 37 case studies 3 and 4."""
    return Turbine.cubic(
        "IEA37 10MW", 10.0, 198.0, 119.0, cut_in=4.0, rated_speed=11.0, cut_out=25.0, thrust_coefficient=8 / 9
    )
