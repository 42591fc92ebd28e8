"""The turbines around a farm, from the campaign and from the farm's own section, with their types."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vindeby.arrays import FloatArray, IntArray
from vindeby.campaign.fields import CampaignFields
from vindeby.campaign.reading.yaml_text import Path
from vindeby.campaign.sections.farm import NeighbourGroup
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.campaign.tasks import digest


@dataclass(frozen=True)
class Standing:
    """An existing turbine of a neighbour."""

    x: float
    y: float
    turbine: TurbineSection
    group: NeighbourGroup


def groups_in(campaign: CampaignFields, farm_idx: int | None = None) -> Iterator[tuple[Path, NeighbourGroup]]:
    """Yield every group of neighbours with its path, those of the campaign first; or only those around a farm.

    Those that only scenarios have, and farms of a database of stored layouts, are left out.
    """
    for index, group in enumerate(campaign.neighbours or ()):
        if isinstance(group, NeighbourGroup):
            yield ("neighbours", index), group
    for number in range(len(campaign.farms)) if farm_idx is None else (farm_idx,):
        for index, group in enumerate(campaign.farms[number].neighbours or ()):
            yield ("farms", number, "neighbours", index), group


def groups_everywhere(
    campaign: CampaignFields, farm_idx: int | None = None
) -> Iterator[tuple[str, Path, NeighbourGroup]]:
    """Yield the groups of ``groups_in`` in each scenario, each once, with the name of the scenario that adds it."""
    seen = set[int]()
    for name, one in (
        [("", campaign)] if not campaign.scenarios else [(w.name, w.campaign) for w in campaign.worlds]
    ):
        for at, group in groups_in(one, farm_idx):
            if id(group) not in seen:
                seen.add(id(group))
                is_shared = one.neighbours is campaign.neighbours or at[0] == "farms"
                yield "" if is_shared else name, at, group


def neighbours_of(campaign: CampaignFields, farm_idx: int) -> tuple[Standing, ...]:
    """Return every turbine around a farm, the neighbours of the whole campaign first, in the order of the file."""
    groups = groups_everywhere(campaign, farm_idx)
    every = [one for _, _, group in groups for one in standing_in(group, campaign.turbines)]
    # A turbine that is in several scenarios is returned once.
    return tuple({(one.x, one.y, one.turbine.name): one for one in every}.values())


def groups_of(campaign: CampaignFields, farm_idx: int) -> dict[str, FloatArray]:
    """Return the neighbours' positions, x and y in metres, by the label of their group, for pictures and reports."""
    found: dict[str, list[tuple[float, float]]] = {}
    for _, _, group in groups_everywhere(campaign, farm_idx):
        found.setdefault(group.label, []).extend(group.positions)
    return {label: np.array(positions).T for label, positions in found.items()}


@dataclass(frozen=True)
class Around:
    """The neighbours of a farm. ``turbines`` are the farm's own types, then the types of neighbours that differ."""

    turbines: list[TurbineSection]
    spacing_m: list[float]
    """The spacing of each type; a pair keeps the mean of its two."""
    x: FloatArray
    y: FloatArray
    types: IntArray
    """An index of ``turbines`` for each neighbour."""

    def __len__(self) -> int:
        return len(self.x)


def around(campaign: CampaignFields, farm_idx: int | None, own: Sequence[TurbineSection] = ()) -> Around:
    """Return the neighbours of the farm whose own turbine types are ``own``; empty without a farm."""
    standing = () if farm_idx is None else neighbours_of(campaign, farm_idx)
    types = list(own)
    places: dict[int, int] = {}  # by object: comparing descriptions is slow, and there are few
    for one in standing:
        if id(one.turbine) not in places:
            descriptions = [known.description for known in types]
            if one.turbine.description not in descriptions:
                types.append(one.turbine)
                descriptions.append(one.turbine.description)
            places[id(one.turbine)] = descriptions.index(one.turbine.description)
    spacing_m = [campaign.min_spacing.in_metres(turbine.rotor_diameter_m) for turbine in types]
    x, y = np.array([(one.x, one.y) for one in standing], np.float64).reshape(-1, 2).T.copy()
    return Around(types, spacing_m, x, y, np.array([places[id(one.turbine)] for one in standing], np.int64))


def identity_around(campaign: CampaignFields, farm_idx: int) -> str | None:
    """Return a digest of a farm's neighbours: positions, type descriptions and spacing; None if there are none."""
    beside = around(campaign, farm_idx)
    if not len(beside):
        return None
    places = zip(beside.x.tolist(), beside.y.tolist(), beside.types.tolist(), strict=True)
    types = [turbine.identity() for turbine in beside.turbines]
    return digest({"types": types, "spacing_m": beside.spacing_m, "places": [[*place] for place in places]})


def standing_in(group: NeighbourGroup, shared: Sequence[TurbineSection]) -> Iterator[Standing]:
    """Yield the turbines of one group, each with its type; ``shared`` are the campaign's types."""
    by_name = {turbine.name: turbine for turbine in (*shared, *(group.turbines or ()))}
    for (x, y), name in zip(group.positions, group.type_names, strict=True):
        yield Standing(x, y, by_name[name], group)


def neighbours_in_words(campaign: CampaignFields) -> list[tuple[str, str]]:
    """Return for each group whose neighbours they are, and what they are: ``all farms``, ``east.csv: 12 x v80``."""
    return [
        (
            f"scenario {scenario}" if scenario else _where(campaign, at),
            f"{group.label}: {', '.join(f'{count} x {name}' for name, count in types.items())}",
        )
        for scenario, at, group in groups_everywhere(campaign)
        for types in (Counter(group.type_names),)
    ]


def _where(campaign: CampaignFields, at: Path) -> str:
    return "all farms" if at[0] == "neighbours" else f"farm {campaign.farms[int(at[1])].name}"
