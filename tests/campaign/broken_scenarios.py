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
    "no mapping": _scenarios(" [alone]", ":39: scenarios: must be a mapping"),
    "no scenario": _scenarios(" {}", "scenarios", "at least 1"),
    "an entry that is text": _scenarios(" {a: alone}", "scenarios.a", "got 'alone'", "must be a mapping"),
    "an unknown key": _scenarios(
        "\n  a: {neighbors: 1}", ":40: scenarios.a.neighbors", "did you mean 'neighbours'?"
    ),
    "another field of the campaign": _scenarios(
        "\n  a: {seeds: 3}", ":40: scenarios.a.seeds", "is not a known key", "site, wake, neighbours, weight"
    ),
    "a name twice": _scenarios("\n  a: {}\n  a: {}", ":41: scenarios: duplicate key 'a'"),
    "a weight of 0": _scenarios("\n  a: {weight: 0}", "scenarios.a.weight", "got 0", "at least 1e-06"),
    "a weight too large": _scenarios("\n  a: {weight: 1.0e+308}", "scenarios.a.weight", "at most 1e+06"),
    "too many scenarios": _scenarios(
        "".join(f"\n  s{number}: {{}}" for number in range(1001)), ":39: scenarios", "at most 1000"
    ),
    "a weight of text": _scenarios("\n  a: {weight: half}", "scenarios.a.weight", "got 'half'"),
    "an unknown wake model": _scenarios(
        "\n  a: {wake: nygard-2022}", "scenarios.a.wake", "did you mean 'nygaard-2022'?"
    ),
    "a wake parameter out of bounds": _scenarios(
        "\n  a: {wake: {jensen: {k: -1}}}", "scenarios.a.wake.jensen.k", "got -1"
    ),
    "a wake parameter out of bounds by its path": _scenarios(
        "\n  a: {wake.nygaard-2022.a: -1}", "scenarios.a.wake.nygaard-2022.a", "got -1"
    ),
    "a wake parameter that the model does not have": _scenarios(
        "\n  a: {wake.nygaard-2022.k: 0.04}", ":40: scenarios.a.wake.nygaard-2022.k", "is not a known key"
    ),
    "a wake model without a gradient": _scenarios(
        "\n  a: {wake: cumulative-curl}", "method[1]", "needs a gradient", "cumulative-curl", "random-search"
    ),
    "an engine": _scenarios(
        "\n  a: {wake: {pywake: 'py_wake.literature:Nygaard_2022'}}",
        ":40: scenarios.a.wake",
        "vindeby's own wake models",
        "a campaign of its own",
    ),
    "neighbours of an unknown type": _scenarios(
        "\n  a: {neighbours: {type: six, positions: [[5000, 0]]}}",
        ":40: scenarios.a.neighbours.type",
        "got 'six'",
        "known: five, tabulated",
    ),
    "a neighbour twice in one scenario": _scenarios(
        "\n  a: {neighbours: {type: five, positions: [[5000, 0], [5000, 0]]}}",
        "scenarios.a.neighbours.positions[1]",
        "listed twice",
    ),
    "a neighbour that stands beside the farm": _scenarios(
        f"\n  a: {{neighbours: {NEAR}}}",
        "positions[0]",
        "listed twice",
        old="  - name: south\n",
        new=f"    neighbours: {NEAR}\n  - name: south\n",
    ),
    "a file that is not there": _scenarios(
        "\n  a: {site: dry_years.csv}",
        ":40: scenarios.a.site.time_series.file",
        "no such file",
        "dry_years.csv",
    ),
    "a site of two kinds": _scenarios(
        "\n  a: {site: {weibull: {turbulence_intensity: 0.1}, states: {}}}", "scenarios.a.site.states"
    ),
    "a deviation of 0 degrees": _scenarios(
        "\n  a: {site.direction_std_deg: 0}", "scenarios.a.site.direction_std_deg", "got 0", "greater than 0"
    ),
    "a deviation of 90 degrees": _scenarios(
        "\n  a: {site.direction_std_deg: 90}", "scenarios.a.site.direction_std_deg", "got 90", "at most 45"
    ),
    "over nothing": Broken(
        f"{SMALL}objective: {{of: aep, over: worst}}\n",
        (":39: objective.over", "there are none", "give scenarios, or leave it out"),
    ),
    "an unknown way to value": _scenarios(
        " {a: {}}", "objective.over", "got 'median'", more="objective: {of: aep, over: median}\n"
    ),
    "two objectives over the worst": _scenarios(
        " {a: {}}",
        "objective.over",
        "a single objective",
        "write mean",
        more="costs: {discount: 0.06, years: 25, turbine: {capex: 8.9e+7}, "
        "cables: {substations: 1, types: [[5, 400]]}}\n"
        "objective: {of: aep, against: cable_length, over: worst}\n",
    ),
    "scenarios of a call": _scenarios(
        " {a: {}}",
        ":37: scenarios",
        "not a call",
        old="method:\n  - smart-start: {grid_size: 18, random_pct: 30}\n  - gradient\n",
        new="method: {call: 'mine:search'}\n",
    ),
}
