"""The axes of a campaign and its scenarios: named values, each of which sets fields of the campaign.

Each value of an axis is searched for itself; scenarios are valued together.
"""

import keyword
import math
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from vindeby.campaign.reading.places import parts_of
from vindeby.campaign.reading.problems import nearest
from vindeby.campaign.sections.values import Name, Number, Section, refusal, require
from vindeby.campaign.tasks import EVALUATED_ARRAYS, RESULT_ARRAYS
from vindeby.text import listed

NOT_VARIED = ("name", "description", "crs", "farms", "turbines", "seeds", "run", "vary")
"""Fields of a campaign that no axis sets: farms, types and seeds are axes of their own."""
TAKEN = frozenset((
    *RESULT_ARRAYS, *EVALUATED_ARRAYS, "aep_engine", "aep_gwh", "aep_origin", "aep_searched", "aep_start", "area_km2",
    "block", "cable_length_m", "capacity_factor", "capex_eur", "checksum", "combination", "device", "diameter",
    "engine", "evaluations", "farm", "farm_idx", "fingerprint", "internal_wakes", "key", "latitude", "layout_key",
    "layout_seed", "neighbour_layouts", "lcoe_eur_per_mwh", "lcoe_start",
    "longitude", "loss", "n_turbines", "npv_eur", "npv_start", "objective", "origin", "repeatable", "returns", "search",
    "search_status", "seconds", "seed", "ss_seed", "stale", "start_moved_m", "status", "turbine", "turbines", "type",
    "type_idx", "version", "wake_loss", "weight", "x", "y", "zone_idx", "zone_name",
))  # fmt: skip
"""Names of attributes, arrays, columns and dimensions of results, which no axis may have."""
MOST_COMBINATIONS = 50_000

Values = Mapping[str, Any]
"""The settings of each value of an axis, by the name of the value."""


def _with_good_names(axes: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    for axis in axes:
        usable = axis.isascii() and axis.isidentifier() and not keyword.iskeyword(axis)
        require(
            usable, "is not a name for an axis", "use letters, digits and _, and begin with a letter", axis
        )
        wrong = "cannot be an axis of its own, because results have something else of this name"
        remedy = (
            f"choose another name; to vary a field {axis}, set it in each value: how: {{a: {{{axis}: ...}}}}"
        )
        require(axis not in TAKEN, wrong, remedy, axis)
        wrong = "cannot be varied"
        require(axis not in NOT_VARIED, wrong, f"an axis sets any field but {', '.join(NOT_VARIED)}", axis)
    return axes


Vary = Annotated[
    dict[str, Annotated[dict[Name, Any], Field(min_length=1)]],
    Field(min_length=1),
    AfterValidator(_with_good_names),
]


def refuse_bad_paths(axes: Mapping[str, Values], fields: Mapping[str, Any]) -> None:
    """Refuse values that set unknown fields, other fields than their neighbours, or those of another axis."""
    many = math.prod(map(len, axes.values()))
    require(many <= MOST_COMBINATIONS, f"makes {many:,} combinations", f"stay below {MOST_COMBINATIONS:,}")
    setters: dict[str, str] = {}
    for axis, values in axes.items():
        first, *_ = values
        paths = _paths(axis, first, values[first], fields)
        for name, value in values.items():
            for path in sorted(_paths(axis, name, value, fields) ^ paths):
                lacking, other = (name, first) if path in paths else (first, name)
                wrong = f"does not set {path}, which {other!r} sets"
                require(False, wrong, "let every value of an axis set the same fields", axis, lacking)
        for path in sorted(paths):
            before = setters.setdefault(path, axis)
            require(before == axis, f"sets {path}, as the axis {before} does", "set it in one of them", axis)


def _paths(axis: str, name: str, value: Any, fields: Mapping[str, Any]) -> set[str]:
    is_own = axis not in fields
    if is_own and (not isinstance(value, dict) or not value):
        remedy = f"write {name}: {{FIELD: VALUE}}, or name the axis like a field: {_known(fields)}"
        raise refusal("is not a mapping of fields to values", remedy=remedy, at=(axis, name), value=value)
    for path in value if is_own else ():
        field = path.partition(".")[0]
        require(
            field in fields, f"begins with {field!r}, which is not a field", _known(fields), axis, name, path
        )
        require(field not in NOT_VARIED, "cannot be varied", _known(fields), axis, name, path)
    return {*parts_of(axis, value, fields)}


def _known(fields: Mapping[str, Any]) -> str:
    return f"fields: {', '.join(sorted({*fields} - {*NOT_VARIED}))}"


def axes_in_words(axes: Mapping[str, Collection[str]]) -> str:
    """Return the axes in words, e.g. ``wake (nygaard, jensen), method (smart, auto)``."""
    return ", ".join(f"{axis} ({listed(values, None, most=6)})" for axis, values in axes.items())


OF_A_SCENARIO = ("site", "wake", "neighbours")
"""The fields that a scenario may set."""
_MOST_SCENARIOS = 1000


class Scenario(Section):
    """A scenario of the wind, the wakes or the neighbours; whatever the scenario does not set is as in the campaign.

    Its other keys are paths of what it sets, as in a value of an axis.
    """

    model_config = ConfigDict(extra="allow")
    weight: Annotated[Number, Field(ge=1e-6, le=1e6)] = 1.0
    """The weight of the scenario in a mean, relative to the others."""

    @property
    def sets(self) -> dict[str, Any]:
        """The settings of the scenario, by path."""
        return dict(self.model_extra or {})

    @model_validator(mode="after")
    def _fields_are_known(self) -> Self:
        for path in self.sets:
            is_known = path.partition(".")[0] in OF_A_SCENARIO
            require(is_known, "is not a known key", nearest(path, [*OF_A_SCENARIO, "weight"]), path)
        return self


Scenarios = Annotated[dict[Name, Scenario], Field(min_length=1, max_length=_MOST_SCENARIOS)]
