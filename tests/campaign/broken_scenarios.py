"""Mistakes in the scenarios of a campaign file, and what must be said about each: the field, the value, the remedy."""

from __future__ import annotations

from tests.campaign.broken import Broken
from tests.campaign.examples import SMALL

NEAR = "{type: five, positions: [[5000, 0], [5000, 1000]]}"


def _scenarios(text: str, *words: str, more: str = "", old: str = "", new: str = "") -> Broken:
    """The small campaign with scenarios that begin on line 39."""
    assert not old or SMALL.count(old) == 1
    base = SMALL.replace(old, new) if old else SMALL
    return Broken(f"{base}scenarios:{text}\n{more}", words)


BROKEN_SCENARIOS: dict[str, Broken] = {
    "no list": _scenarios(" alone", ":39: scenarios: must be a list", "got 'alone'", "write a list"),
    "an empty list": _scenarios(" []", "scenarios", "at least 1"),
    "an entry that is text": _scenarios(" [alone]", "scenarios[0]", "got 'alone'"),
    "an unknown key": _scenarios(
        "\n  - {name: a, neighbors: 1}", ":40: scenarios[0].neighbors", "did you mean 'neighbours'?"
    ),
    "a name twice": _scenarios(
        "\n  - {name: a}\n  - {name: a}", ":41: scenarios[1].name", "entry 0 has the same", "must differ"
    ),
    "a weight of 0": _scenarios(
        "\n  - {name: a, weight: 0}", "scenarios[0].weight", "got 0", "at least 1e-06"
    ),
    "a weight too large": _scenarios(
        "\n  - {name: a, weight: 1.0e+308}", "scenarios[0].weight", "at most 1e+06"
    ),
    "too many samples": _scenarios(
        "".join(
            f"\n  - {{vary: {{wake.a: {{normal: [{one}, 0.001]}}}}, samples: 501}}" for one in (0.04, 0.05)
        ),
        ":39: scenarios",
        "1,002 scenarios",
        "at most 1,000",
        "draw fewer",
    ),
    "a weight of text": _scenarios("\n  - {name: a, weight: half}", "scenarios[0].weight", "got 'half'"),
    "an unknown wake model": _scenarios(
        "\n  - {wake: nygard-2022}", "scenarios[0].wake", "did you mean 'nygaard-2022'?"
    ),
    "a wake parameter out of bounds": _scenarios(
        "\n  - {wake: {jensen: {k: -1}}}", "scenarios[0].wake.jensen.k", "got -1"
    ),
    "a wake model without a gradient": _scenarios(
        "\n  - {wake: cumulative-curl}", "method[1]", "needs a gradient", "cumulative-curl", "random-search"
    ),
    "an engine": _scenarios(
        "\n  - {wake: {pywake: 'py_wake.literature:Nygaard_2022'}}",
        ":40: scenarios[0].wake",
        "vindeby's own wake models",
        "a campaign of its own",
    ),
    "neighbours of an unknown type": _scenarios(
        "\n  - neighbours: {type: six, positions: [[5000, 0]]}",
        ":40: scenarios[0].neighbours[0].type",
        "got 'six'",
        "known: five, tabulated",
    ),
    "a neighbour twice in one scenario": _scenarios(
        "\n  - neighbours: {type: five, positions: [[5000, 0], [5000, 0]]}",
        "scenarios[0].neighbours[0].positions[1]",
        "listed twice",
    ),
    "a neighbour that stands in the campaign": _scenarios(
        f"\n  - neighbours: {NEAR}",
        "scenarios[0].neighbours[0].positions[0]",
        "listed twice",
        more=f"neighbours: {NEAR}\n",
    ),
    "a file that is not there": _scenarios(
        "\n  - {site: dry_years.csv}",
        ":40: scenarios[0].site.time_series.file",
        "no such file",
        "dry_years.csv",
    ),
    "a site of two kinds": _scenarios(
        "\n  - site: {weibull: {turbulence_intensity: 0.1}, states: {}}", "scenarios[0].site.states"
    ),
    "a deviation of 0 degrees": _scenarios(
        "\n  - {direction_std_deg: 0}", "scenarios[0].direction_std_deg", "got 0", "greater than 0"
    ),
    "a deviation of 90 degrees": _scenarios(
        "\n  - {direction_std_deg: 90}", "scenarios[0].direction_std_deg", "got 90", "at most 45"
    ),
    "samples of nothing": _scenarios(
        "\n  - {samples: 8}", ":40: scenarios[0]", "vary and samples", "give both"
    ),
    "something that cannot vary": _scenarios(
        "\n  - {vary: {seeds: {normal: [0, 1]}}, samples: 3}",
        "scenarios[0].vary.seeds",
        "is not of the form ^(wind_speed_factor|direction_std_deg|wake",
        "write it in this form",
    ),
    "a wake parameter that the model does not have": _scenarios(
        "\n  - {vary: {wake.k: {normal: [0.04, 0.01]}}, samples: 3}",
        "scenarios[0].vary",
        "nygaard-2022.k = 0.0",
        "Unexpected keyword",
    ),
    "two distributions": _scenarios(
        "\n  - {vary: {wake.a: {normal: [0.04, 0.01], uniform: [0, 1]}}, samples: 3}",
        "scenarios[0].vary.wake.a",
        "gives normal and uniform",
    ),
    "a deviation that is not positive": _scenarios(
        "\n  - {vary: {wake.a: {normal: [0.04, 0]}}, samples: 3}", "vary.wake.a.normal[1]", "got 0"
    ),
    "a draw that cannot be": _scenarios(
        "\n  - {vary: {wind_speed_factor: {normal: [0, 1]}}, samples: 8}",
        "scenarios[0].vary",
        "wind_speed_factor = -",
        "greater than 0",
    ),
    "a wake parameter that cannot be": _scenarios(
        "\n  - {vary: {wake.a: {uniform: [-1, 1]}}, samples: 8}",
        "scenarios[0].vary",
        "nygaard-2022.a = -",
        "greater than",
    ),
    "over nothing": Broken(
        f"{SMALL}objective: {{of: aep, over: worst}}\n",
        (":39: objective.over", "there are none", "give scenarios, or leave it out"),
    ),
    "an unknown way to value": _scenarios(
        " [{name: a}]", "objective.over", "got 'median'", more="objective: {of: aep, over: median}\n"
    ),
    "regret of a method with a clock": _scenarios(
        " [{name: a}]",
        ":38: objective.over",
        "auto with seconds",
        "give auto evaluations instead",
        more="objective: {of: aep, over: regret}\n",
        old="method:\n  - smart-start: {grid_size: 18, random_pct: 30}\n  - gradient\n",
        new="method: {auto: {seconds: 5}}\n",
    ),
    "two objectives over the worst": _scenarios(
        " [{name: a}]",
        "objective.over",
        "a single objective",
        "write mean",
        more="costs: {discount: 0.06, years: 25, turbine: {capex: 8.9e+7}, "
        "cables: {substations: 1, types: [[5, 400]]}}\n"
        "objective: {of: aep, against: cable_length, over: worst}\n",
    ),
    "scenarios of a call": _scenarios(
        " [{name: a}]",
        ":37: scenarios",
        "not a call",
        old="method:\n  - smart-start: {grid_size: 18, random_pct: 30}\n  - gradient\n",
        new="method: {call: 'mine:search'}\n",
    ),
}
