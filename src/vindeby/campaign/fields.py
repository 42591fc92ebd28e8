"""The fields of a campaign file, and what follows from them: how many turbines of which types each farm has."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    SerializationInfo,
    Strict,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_serializer,
    field_validator,
    model_validator,
)

from vindeby.campaign.reading.places import set_whole
from vindeby.campaign.sections.costs import CostsSection, Objective, Over
from vindeby.campaign.sections.farm import AllNeighbours, Amount, Farm, NeighbourGroup, Spacing
from vindeby.campaign.sections.layouts import LayoutsSection
from vindeby.campaign.sections.method import Step, StoredSection, one_step_is_a_pipeline, some_are_alone
from vindeby.campaign.sections.run_options import RunOptions
from vindeby.campaign.sections.site import SiteSection
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.campaign.sections.values import (
    NAMED,
    PACKED,
    CoordinateSystem,
    Count,
    Name,
    Text,
    each_once,
    require,
)
from vindeby.campaign.sections.vary import Scenario, Scenarios, Vary, refuse_bad_paths
from vindeby.campaign.sections.wake_model import NamedCode, WakeSection
from vindeby.campaign.variants import Combination, World, checked_axes, checked_parts, worlds_of

MAX_TASKS = 10_000_000

_Seeds = Annotated[tuple[Annotated[int, Strict(), Field(ge=0, lt=2**32)], ...], Field(min_length=1)]
_Steps = Annotated[tuple[Step, ...], Field(min_length=1)]


def _count_is_a_range(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return value
    is_a_number = isinstance(value, int) and not isinstance(value, bool)
    require(is_a_number, "is neither a number nor a list", "write e.g. 50, or [0, 7, 12]")
    remedy = f"give 1 to {MAX_TASKS:,}, or a list of seeds"
    require(1 <= value <= MAX_TASKS, "is not a number of seeds", remedy)
    return tuple(range(value))


_LEFT_OUT = object()
"""A mark in the data for a field that is left out, whose empty value is not checked."""


def _unless_left_out(value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    return _WITHOUT_WIND[str(info.field_name)] if value is _LEFT_OUT else check(value)


_WITHOUT_WIND: Mapping[str, Any] = {
    "farms": (),
    "turbines": (),
    "min_spacing": Spacing.model_construct(),
    "site": SiteSection.model_construct(),
    "wake": WakeSection.model_construct(),
}
"""The values of these fields in a campaign about a function without wind."""
ABOUT_WIND = (
    *_WITHOUT_WIND,
    "n_turbines",
    "capacity_mw",
    "mix",
    "neighbours",
    "scenarios",
    "costs",
    "objective",
    "start",
)
"""The keys of a campaign file that a campaign about a function without wind leaves out, all of them."""


def _says_what_it_returns(method: Any) -> bool:
    steps = method if isinstance(method, list | tuple) else [method]
    calls = [step.get("call") for step in steps if isinstance(step, dict)]
    return any(isinstance(call, dict) and call.get("returns") is not None for call in calls)


class CampaignFields(Amount):
    """A campaign as a file describes it: every farm x every turbine type x every seed, and how each is computed.

    A campaign about a function without wind has no farms and no turbines, and one task for each seed.
    """

    name: Name
    """The campaign's name."""
    description: Text = ""
    """Words for people."""
    crs: CoordinateSystem | None = None
    """The coordinate reference system whose metres all coordinates are, where it is known; decides no result."""
    farms: Annotated[tuple[Farm, ...], *NAMED, WrapValidator(_unless_left_out)]
    """The farms."""
    turbines: Annotated[tuple[TurbineSection, ...], *NAMED, WrapValidator(_unless_left_out)]
    """The turbine types."""
    neighbours: AllNeighbours | None = None
    """Existing turbines around every farm."""
    min_spacing: Annotated[Spacing, WrapValidator(_unless_left_out)]
    """The least distance between two turbines, such as 3 D or 720 m."""
    costs: CostsSection | None = None
    """The costs of the farm, in EUR; results then carry their cost, LCOE and, with a price, NPV."""
    objective: Objective | None = None
    """The objective by which layouts are compared; AEP by default."""
    site: Annotated[SiteSection, WrapValidator(_unless_left_out)]
    """The wind."""
    wake: Annotated[WakeSection, WrapValidator(_unless_left_out)]
    """The wake model."""
    scenarios: Scenarios | None = None
    """Scenarios of wind, wakes or neighbours, by name; the objective says how a layout is valued over all of them."""
    start: LayoutsSection | None = None
    """The layouts that searches start from; by default the first step makes one."""
    method: Annotated[
        tuple[Step, ...],
        BeforeValidator(one_step_is_a_pipeline, Step | _Steps),
        Field(min_length=1),
        AfterValidator(some_are_alone),
    ]
    """How layouts are searched: one step, or a list of steps."""
    seeds: Annotated[_Seeds, AfterValidator(each_once), BeforeValidator(_count_is_a_range, Count | _Seeds)]
    """A number n of seeds (0 to n - 1), or a list of them."""
    vary: Vary | None = None
    """Further axes: each has named values, and each value sets fields of the campaign."""
    run: RunOptions = RunOptions()
    """The options of running the campaign; they decide no result."""
    _combination: Combination = PrivateAttr(default=Combination())

    @property
    def combination(self) -> Combination:
        """The values of the axes that this campaign is made with; without values where there are no axes."""
        return self._combination

    def set_combination(self, combination: Combination) -> None:
        """Store the values of the axes that this campaign is made with."""
        self._combination = combination

    @property
    def named_code(self) -> list[NamedCode]:
        """The Python code that the campaign names for its wakes and its search steps."""
        named = [self.wake.named_code, *(step.python for step in self.method)]
        return [code for code in named if code is not None]

    @property
    def is_about_wind(self) -> bool:
        """Return whether the campaign has farms, turbines and wind, or only a function that is called once per seed."""
        return bool(self.farms)

    @cached_property
    def worlds(self) -> tuple[World, ...]:
        """The scenarios in the order of the file, each with the campaign as it is in it; none without scenarios."""
        return worlds_of(self)

    @property
    def over(self) -> Over:
        """The statistic by which a layout is valued over the scenarios."""
        return (self.objective.over if self.objective else None) or "mean"

    @property
    def returned_arrays(self) -> tuple[str, ...] | None:
        """The arrays that a result has instead of a layout and an energy, where a function says what it returns."""
        return next((step.call.returns for step in self.method if step.call and step.call.returns), None)

    @property
    def groups(self) -> tuple[NeighbourGroup, ...]:
        """The turbines that stand already around every farm, without farms of a database of stored layouts."""
        return tuple(one for one in self.neighbours or () if isinstance(one, NeighbourGroup))

    @property
    def stored(self) -> StoredSection | None:
        """The section on the stored layouts to evaluate; None for a campaign that searches."""
        return self.method[0].stored

    @property
    def stated_site(self) -> SiteSection:
        """The site in which energies are stated, whatever the bins of the search are; ``site`` itself if it is fine."""
        return self.site.stated(turbine.operating_range for turbine in self.turbines)

    def site_identity(self) -> dict[str, Any]:
        """Return the wind data that decide results: the search's wind, and the wind speeds of stated energies."""
        stated, identity = self.stated_site.weibull, self.site.identity()
        if stated is None or self.site.weibull is None or stated.wind_speeds == self.site.weibull.wind_speeds:
            return identity
        return {**identity, "stated_speeds": stated.wind_speeds}

    @property
    def total_configs(self) -> int:
        """The number of tasks."""
        cells = sum(len(self.turbines) if self.mix_of(farm) is None else 1 for farm in self.farms)
        return (cells if self.is_about_wind else 1) * len(self.seeds)

    def turbine_count(self, farm: Farm, turbine: TurbineSection) -> int:
        """Return the number of turbines of this type in this farm; 0 if not even one fits the capacity."""
        return self.level_of(farm).count(turbine.rated_power_mw)

    def level_of(self, farm: Farm) -> Amount:
        """Return the level, farm or campaign, that gives the number of turbines in a farm."""
        return farm if farm.amount_is_said else self

    def mix_of(self, farm: Farm) -> tuple[tuple[int, int], ...] | None:
        """Return the type numbers that a farm mixes, and the count of each type; None for a farm of one type."""
        return self.in_order(self.level_of(farm).turbines_by_type()) or None

    def in_order(self, mix: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
        """Return a mix by type numbers, in the order of the campaign's list, whatever the order of keys."""
        return tuple((index, mix[one.name]) for index, one in enumerate(self.turbines) if one.name in mix)

    @model_validator(mode="before")
    @classmethod
    def _wind_may_be_left_out(cls, data: Any) -> Any:
        if isinstance(data, dict):
            data = {**data, **set_whole(data, cls.model_fields)}
        if not isinstance(data, dict) or data.keys() & set(ABOUT_WIND):
            return data
        empty = dict.fromkeys(_WITHOUT_WIND, _LEFT_OUT)
        return {**empty, **data} if _says_what_it_returns(data.get("method")) else data

    @field_validator("vary", mode="after")
    @classmethod
    def _axes_are_known(cls, axes: dict[str, dict[str, Any]] | None) -> dict[str, dict[str, Any]] | None:
        if axes is None:
            return None
        refuse_bad_paths(axes, cls.model_fields)
        return checked_axes(cls, axes)

    @field_serializer("vary")
    def _write_axes(self, axes: Any, info: SerializationInfo) -> Any:
        is_packed = isinstance(info.context, dict) and info.context.get(PACKED)
        return checked_axes(type(self), axes, context=info.context) if axes and is_packed else axes

    @field_validator("scenarios", mode="after")
    @classmethod
    def _scenarios_are_whole(cls, given: dict[str, Scenario] | None) -> dict[str, Scenario] | None:
        if given is None:
            return None
        found = checked_parts(cls, {(name,): one.sets for name, one in given.items()})
        return {name: one.model_copy(update=found[name,]) for name, one in given.items()}

    @field_serializer("scenarios")
    def _write_scenarios(self, given: Any, info: SerializationInfo) -> Any:
        if not given:
            return None
        found = checked_parts(
            type(self), {(name,): one.sets for name, one in given.items()}, context=info.context
        )
        return {name: {"weight": one.weight, **found[name,]} for name, one in given.items()}
