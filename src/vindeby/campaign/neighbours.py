"""The turbines that stand around a farm: those of the campaign and those of the farm, with their types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vindeby.campaign.reading.yaml_text import Path, field_name
from vindeby.campaign.sections.neighbours import NeighbourGroup
from vindeby.campaign.sections.turbines import Turbine
from vindeby.campaign.sections.values import refusal
from vindeby.campaign.tasks import digest

if TYPE_CHECKING:
    from vindeby.campaign.campaign import Campaign

SAME_PLACE_M = 0.01
"""Two turbines nearer than this are one that is listed twice."""


@dataclass(frozen=True)
class Standing:
    """A turbine that stands already."""

    x: float
    y: float
    turbine: Turbine
    group: NeighbourGroup


def neighbours_of(campaign: Campaign, farm_idx: int) -> tuple[Standing, ...]:
    """Every turbine around a farm, those of the campaign first, in the order of the file."""
    groups = (*(campaign.neighbours or ()), *(campaign.farms[farm_idx].neighbours or ()))
    return tuple(one for group in groups for one in standing_in(group, campaign.turbines))


def groups_of(campaign: Campaign, farm_idx: int) -> dict[str, list[Standing]]:
    """The same by the label of their group, for pictures and reports."""
    found: dict[str, list[Standing]] = {}
    for one in neighbours_of(campaign, farm_idx):
        found.setdefault(one.group.label, []).append(one)
    return found


def types_of(standing: Sequence[Standing], own: Sequence[Turbine] = ()) -> tuple[list[Turbine], list[int]]:
    """The turbine types, each description once, ``own`` first; and the index of each turbine's type among them."""
    types = list(own)
    places: dict[int, int] = {}  # by object: comparing descriptions is slow, and there are few
    for one in standing:
        if id(one.turbine) not in places:
            descriptions = [known.description for known in types]
            if one.turbine.description not in descriptions:
                types.append(one.turbine)
                descriptions.append(one.turbine.description)
            places[id(one.turbine)] = descriptions.index(one.turbine.description)
    return types, [places[id(one.turbine)] for one in standing]


def neighbours_identities(campaign: Campaign) -> list[str | None]:
    """For each farm the digest of what stands around it and decides its results; None where nothing does."""
    first = next((index for index, farm in enumerate(campaign.farms) if farm.neighbours is None), 0)
    shared = _identity(campaign, first)
    return [
        shared if farm.neighbours is None else _identity(campaign, index)
        for index, farm in enumerate(campaign.farms)
    ]


def _identity(campaign: Campaign, farm_idx: int) -> str | None:
    """Positions, descriptions of types, and their spacing."""
    standing = neighbours_of(campaign, farm_idx)
    if not standing:
        return None
    types, indices = types_of(standing)
    return digest(
        {
            "types": [turbine.model_dump(exclude={"name"}, exclude_none=True) for turbine in types],
            "spacing_m": [campaign.min_spacing.in_metres(turbine.rotor_diameter_m) for turbine in types],
            "places": [[one.x, one.y, index] for one, index in zip(standing, indices, strict=True)],
        }
    )


def refuse_bad_neighbours(campaign: Campaign) -> None:
    """Refuse types that nothing describes, and turbines that are listed twice."""
    shared = campaign.neighbours or ()
    _refuse_unknown_types(shared, campaign.turbines, ("neighbours",))
    for index, farm in enumerate(campaign.farms):
        _refuse_unknown_types(farm.neighbours or (), campaign.turbines, ("farms", index, "neighbours"))
    own = [index for index, farm in enumerate(campaign.farms) if farm.neighbours]
    for farm_idx in own or [0]:
        places: list[tuple[Path, tuple[float, float]]] = [
            *_places(shared, ("neighbours",)),
            *_places(campaign.farms[farm_idx].neighbours or (), ("farms", farm_idx, "neighbours")),
        ]
        _refuse_twice(places)


def standing_in(group: NeighbourGroup, shared: Sequence[Turbine]) -> Iterator[Standing]:
    """The turbines of one group, each with its type; ``shared`` are the campaign's types."""
    by_name = {turbine.name: turbine for turbine in (*shared, *(group.turbines or ()))}
    for (x, y), name in zip(group.positions, group.type_names, strict=True):
        yield Standing(x, y, by_name[name], group)


def _refuse_unknown_types(groups: Sequence[NeighbourGroup], shared: Sequence[Turbine], at: Path) -> None:
    for index, group in enumerate(groups):
        known = [turbine.name for turbine in (*(group.turbines or ()), *shared)]
        for place, name in enumerate(group.type or ()):
            if name not in known:
                raise refusal(
                    "is the name of no turbine type",
                    remedy=f"known: {', '.join(known)}; describe others under turbines: of this entry",
                    at=(*at, index, "type", place) if len(group.type or ()) > 1 else (*at, index, "type"),
                    value=name,
                )


def _places(groups: Sequence[NeighbourGroup], at: Path) -> Iterator[tuple[Path, tuple[float, float]]]:
    for index, group in enumerate(groups):
        for place, position in enumerate(group.positions):
            yield (*at, index, "positions", place), position


def _refuse_twice(places: Sequence[tuple[Path, tuple[float, float]]]) -> None:
    """In cells of the least distance, so that thousands of turbines take no time."""
    cells: dict[tuple[int, int], list[tuple[Path, tuple[float, float]]]] = {}
    for path, (x, y) in places:
        column, row = round(x / SAME_PLACE_M), round(y / SAME_PLACE_M)
        for beside in ((column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1)):
            for other, (ox, oy) in cells.get(beside, ()):
                if (x - ox) ** 2 + (y - oy) ** 2 < SAME_PLACE_M**2:
                    raise refusal(
                        f"stands where {field_name(other)} stands: a turbine is listed twice",
                        remedy="list each turbine once, for the campaign or for the farm",
                        at=path,
                        value=[x, y],
                    )
        cells.setdefault((column, row), []).append((path, (x, y)))
