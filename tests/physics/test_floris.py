"""The models of FLORIS: powers of small farms, turbine by turbine, beside the figures that FLORIS computed for them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.physics import floris_cases as cases
from vindeby.errors import ArgumentError
from vindeby.wake import TimeSeriesSite, Turbine, WindFarm
from vindeby.wake.models import WakeModel, bastankhah_2016, cumulative_curl

FIGURES = json.loads(Path(__file__).with_name("floris_figures.json").read_text())
MODELS = {
    "bastankhah-2016": bastankhah_2016(),
    "cumulative-curl": cumulative_curl(),
    "cumulative-curl, turbulence none": cumulative_curl(turbulence="none"),
}


def farm_of(model: WakeModel) -> WindFarm:
    site = TimeSeriesSite(cases.SPEEDS, cases.DIRECTIONS, cases.TURBULENCE)
    power = [1000.0 * kilowatts for kilowatts in cases.POWER_KW]
    turbine = Turbine.tabulated(
        "test", cases.DIAMETER, cases.HUB_HEIGHT, cases.WIND_SPEED, power, cases.THRUST_COEFFICIENT
    )
    return WindFarm(site, turbine, model)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "cumulative-curl" else [])
        for name in sorted(MODELS)
    ],
)
def test_powers_are_those_of_floris(name: str) -> None:
    farm = farm_of(MODELS[name])
    for layout, (x, y) in cases.LAYOUTS.items():
        theirs = np.array(FIGURES["power_w"][name][layout])
        ours = farm.power(x, y)
        free = farm.power([0.0], [0.0])
        assert (theirs < 0.9 * free).any(), "there are wakes to compare"
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11 * 1e7, err_msg=layout)


def test_wakes_on_one_line_depend_on_each_other_in_the_cumulative_model() -> None:
    """Otherwise the row of turbines above would test nothing that two turbines do not."""
    farm = farm_of(cumulative_curl(turbulence="none"))
    x, y = cases.LAYOUTS["row"]
    assert (cases.DIRECTIONS[7], cases.SPEEDS[7]) == (270.0, 8.0)
    for many, differs in ((2, False), (7, True)):
        # A flow map adds up wakes as if each stood alone.
        alone = farm.flow_map(
            x[: many - 1], y[: many - 1], direction=270.0, speed=8.0,
            grid_x=[x[many - 1]], grid_y=[y[many - 1]], turbulence=cases.TURBULENCE,
        ).wind_speed[0, 0]  # fmt: skip
        at_last = farm.wind_speed(x[:many], y[:many])[many - 1, 7]
        assert (abs(at_last - alone) > 0.01) == differs
        assert differs or at_last == pytest.approx(alone, rel=1e-12)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is in other units, or not known")
def test_turbines_abreast_keep_no_depths_in_the_cumulative_model() -> None:
    import resource

    farm, y = farm_of(cumulative_curl()), 1000.0 * np.arange(300)
    farm.aep(0.0 * y, y)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    farm = WindFarm(TimeSeriesSite([9.0] * 4, [270.0] * 4, 0.06), farm.turbines, cumulative_curl())
    y = 1000.0 * np.arange(4000)
    farm.aep(0.0 * y, y)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000, "KiB; it would be 250,000"


def test_the_cumulative_model_refuses_a_gradient_with_the_reason() -> None:
    farm = farm_of(cumulative_curl())
    with pytest.raises(
        ArgumentError, match="cumulative-curl has no gradient; use random-search or annealing"
    ):
        farm.aep_and_gradient([0.0, 900.0], [0.0, 0.0])
