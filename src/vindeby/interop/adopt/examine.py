"""The check whether a record of another script is a result of this campaign, and what is stored of it.

The layout must pass what every result of the campaign must pass. An energy that was stored is kept where the
campaign's wake model gives the same to ``TOLERANCE_STORED_AEP``; where it is missing, 0 or not a number, it is computed
anew. Any other energy says that the script computed something else (other wind, other turbines, other wakes): such a
record is doubtful, and is adopted only when the caller wants its layout with an energy computed anew.
"""

import math
from collections.abc import Mapping

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.assembly.done import Judge
from vindeby.assembly.physics import AEP_ORIGIN, RECOMPUTED, STORED, TOLERANCE_STORED_AEP, CampaignCheck
from vindeby.assembly.stored_turbines import largest_diameter_m
from vindeby.assembly.value import values_of
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell, KeyParts, parse_key, task_key
from vindeby.store.format.record import Attribute, Record

_NUMBERS = ("farm_idx", "type_idx", "ss_seed")
_SMALL_GWH = 1e-9
"""An energy that no check objects to, where only the layout is looked at."""


class RefusedError(Exception):
    """A record is not adopted; the text says why, and which option would adopt it."""


class Examiner:
    """Examines the records of a script against one campaign."""

    def __init__(self, campaign: Campaign, *, recompute_aep: bool = False) -> None:
        self.campaign, self._recompute_aep = campaign, recompute_aep
        self._judge, self._check = Judge(campaign), CampaignCheck(campaign)
        self._own_function = any(step.call for step in campaign.method)

    def key_of(self, record: Record) -> str:
        """Return the configuration of a record, by its name or else by its attributes; empty if neither says."""
        numbers = parse_key(record.key)
        if numbers is None:
            said = [record.attributes.get(name) for name in _NUMBERS]
            whole = [int(one) for one in said if isinstance(one, int | float) and _is_index(one)]
            numbers = KeyParts(whole[0], whole[1], whole[2], "") if len(whole) == len(said) else None
        return "" if numbers is None else task_key(*numbers)

    def asked(self, key: str) -> bool:
        """Return whether the campaign has this configuration."""
        return self._judge.asked(key) is not None

    def adopt(self, key: str, record: Record, provenance: Mapping[str, Attribute]) -> Record:
        """Return the record to publish under ``key``; raise RefusedError if it cannot be a result of the campaign."""
        if not key:
            raise RefusedError("neither its name nor its attributes say which configuration it is of")
        asked = self._judge.asked(key)
        cell = self.campaign.cell_of(key)
        if asked is None or cell is None:
            raise RefusedError(f"the campaign has no configuration {key}")
        if record.fingerprint:  # vindeby itself made it
            if record.fingerprint != asked:
                raise RefusedError("vindeby computed it for another campaign, or another version of this one")
            return self._possible(record)
        for name, number in zip(_NUMBERS, (parse_key(key) or ())[:3], strict=True):
            stated = record.attributes.get(name)
            if stated is not None and stated != number:
                raise RefusedError(f"its attribute {name} is {stated}, but its name says {number}")
        layout, change = self._layout(record, cell)
        stored_gwh = _stored_energy(record)
        attributes = self._attributes(key, cell, record, {**provenance, **change})
        arrays = {**{name: value for name, value in record.arrays.items() if name != "aep"}, "layout": layout}
        placed = Record(key, "", arrays, attributes)
        if wrong := self._judge.why_not(self._energy(placed, _SMALL_GWH)):
            raise RefusedError(wrong)
        return self._with_energy(placed, stored_gwh)

    def _layout(self, record: Record, cell: Cell) -> tuple[FloatArray, dict[str, Attribute]]:
        """Return the layout as (2, n), x then y, and a description of what was changed in it."""
        stored = record.arrays.get("layout")
        if stored is None:
            raise RefusedError("it has no layout")
        layout = stored.astype(np.float64)
        if layout.ndim == 2 and layout.shape[1] == 2 and len(layout) != 2 and len(layout) == cell.n_turbines:
            return layout.T.copy(), {"adopted_layout": "transposed"}
        return layout, {}

    def _attributes(
        self, key: str, cell: Cell, record: Record, more: Mapping[str, Attribute]
    ) -> dict[str, Attribute]:
        every: dict[str, Attribute] = {
            "n_turbines": cell.n_turbines,
            "diameter": largest_diameter_m(self.campaign, cell),
            "farm": self.campaign.farms[cell.farm_idx].name,
            "turbine": cell.label([turbine.name for turbine in self.campaign.turbines]),
        }
        numbers = dict(zip(_NUMBERS, (parse_key(key) or ())[:3], strict=True))
        stated = {
            name: value
            for name, value in record.attributes.items()
            if name not in record.arrays and name != "aep"
        }
        return {**every, **stated, **numbers, **more}

    def _with_energy(self, placed: Record, stored_gwh: float | None) -> Record:
        if self._own_function:  # only that function knows how it counts energy
            if not stored_gwh:
                raise RefusedError("no energy was stored, and only the campaign's function can compute it")
            return self._possible(self._energy(placed, stored_gwh, {AEP_ORIGIN: STORED}))
        given_gwh = self._check.energy_gwh(placed)
        if given_gwh is None:
            raise RefusedError("its energy cannot be computed")
        if not stored_gwh:
            return self._possible(self._energy(placed, given_gwh, {AEP_ORIGIN: RECOMPUTED}))
        difference = (stored_gwh - given_gwh) / given_gwh
        kept = self._energy(placed, stored_gwh, {AEP_ORIGIN: STORED})
        if abs(difference) <= TOLERANCE_STORED_AEP and not self._judge.why_not(kept):
            return kept
        if abs(difference) <= TOLERANCE_STORED_AEP or self._recompute_aep:
            return self._possible(
                self._energy(placed, given_gwh, {AEP_ORIGIN: RECOMPUTED, "stated_aep": stored_gwh})
            )
        raise RefusedError(
            f"aep is {stored_gwh:.9g} GWh, but with the campaign's wind and wake model the layout gives "
            f"{given_gwh:.9g} GWh ({difference:+.3%}); --recompute-aep adopts it with that"
        )

    def _energy(
        self,
        placed: Record,
        energy_gwh: float,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Record:
        arrays = {**placed.arrays, "aep": np.array(energy_gwh)}
        cell = self.campaign.cell_of(placed.key)
        values = {} if cell is None else values_of(self.campaign, cell, arrays)
        return Record(placed.key, "", arrays, {**placed.attributes, **values, **(attributes or {})})

    def _possible(self, record: Record) -> Record:
        if wrong := self._judge.why_not(record):
            raise RefusedError(wrong)
        return record


def _is_index(value: float) -> bool:
    return math.isfinite(value) and value == int(value) >= 0


def _stored_energy(record: Record) -> float | None:
    stored = record.arrays.get("aep")
    return (
        float(stored.item())
        if stored is not None and stored.size == 1 and np.isfinite(stored).all()
        else None
    )
