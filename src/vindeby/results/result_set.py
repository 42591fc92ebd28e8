"""A database as pictures and pages need it: results in columns, layouts by key, and what the campaign knows of both."""

from __future__ import annotations

import copy
import difflib
import fnmatch
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.assembly.stored_turbines import layout_of, own_types
from vindeby.campaign import Campaign
from vindeby.campaign.tasks import Cell, parse_key, task_key
from vindeby.errors import ArgumentError, DataError
from vindeby.results.columns import ResultColumns
from vindeby.results.query import Labels, Query
from vindeby.results.snapshot import Expected
from vindeby.results.sources import (
    GivenCampaign,
    campaign_of,
    has_neighbours,
    open_source,
    turbine_of,
)
from vindeby.store.format.record import Record
from vindeby.store.read.export import COMPUTED, UNKNOWN, attribute_column, attribute_names, progress, texts

if TYPE_CHECKING:
    from vindeby.wake import WindFarm


class ResultSet:
    """What can be seen of a database; everything is worked out when it is first asked for."""

    def __init__(self, path: Path | str, *, campaign: GivenCampaign = None, where: str | None = None) -> None:
        self.source = open_source(path)
        self.path, self.run = self.source.path, self.source.run
        self.results = ResultColumns(self.source)
        self.campaign: Campaign | None = campaign_of(self.run, campaign, self.source.campaign_text)
        self.results.leave_out_invalid(self.campaign)
        self._farms: dict[tuple[tuple[int, ...], int | None], WindFarm] = {}
        self.where = where
        self._kept: BoolArray | None = None
        if where is not None:
            self._kept = self._chosen(Query(where))

    def with_campaign(self, campaign: Campaign) -> ResultSet:
        """The same results as another campaign sees them, which has the same farms, types and seeds."""
        other = copy.copy(self)
        vars(other).update(campaign=campaign, _farms={})
        return other

    def __repr__(self) -> str:
        known = "no campaign" if self.campaign is None else f"campaign {self.campaign.name!r}"
        return f"<ResultSet {str(self.path)!r}: {len(self.rows):,} results, {known}>"

    def _repr_html_(self) -> str:
        return progress(self.path.name, self.keys, self.campaign, len(self.source.findings))

    @property
    def rows(self) -> NDArray[Any]:
        """The results, one row each; with ``where``, those that it is true for."""
        return self.results.rows if self._kept is None else self.results.rows[self._kept]

    def _chosen(self, query: Query) -> BoolArray:
        """Which valid results a query is true for."""
        columns, length = self.columns(query.names), len(self.results.rows)
        found = query.matches(columns, length, lambda: attribute_names(list(self.source.segments())))
        valid: BoolArray = ~np.isnan(self.results.rows["aep"])
        return found & valid

    def columns(self, names: Collection[str] = ()) -> dict[str, Any]:
        """The columns that a query can name: those of every result, and of ``names`` those that are attributes."""
        rows = self.rows
        found: dict[str, Any] = {
            "key": np.array([key.decode(errors="replace") for key in rows["key"].tolist()])
        }
        for name, field, name_of in (
            ("farm", "farm_idx", self.farm_name),
            ("type", "type_idx", self.type_name),
        ):
            numbers, short = rows[field].tolist(), "farm" if name == "farm" else "t"
            found[name] = Labels(
                np.array([name_of(number) for number in numbers], np.str_),
                np.array([f"{short}{number}" for number in numbers], np.str_),
            )
        found |= {"seed": rows["ss_seed"], "turbines": rows["n_turbines"]}
        found |= {name: rows[name] for name in ("aep", "objective", "seconds")}
        found["origin"] = np.array([text.decode() or COMPUTED for text in rows["origin"].tolist()], np.str_)
        found["loss"] = self.wake_losses() if "loss" in names else None
        segments = list(self.source.segments()) if set(names) - found.keys() else []
        here = {key: place for place, key in enumerate(texts(segments, "key"))}
        order = [here.get(key, -1) for key in found["key"].tolist()] if here else []
        for name in set(names) & set(attribute_names(segments)) - found.keys():
            column = attribute_column(segments, name)
            none = np.array([""]) if column.dtype.kind == "U" else np.array([np.nan])
            found[name] = np.append(column, none)[
                order
            ]  # the last stands for a record that turned out damaged
        return found

    @cached_property
    def keys(self) -> list[str]:
        """The keys, in the order of farm, type and seed."""
        order = np.lexsort((self.rows["ss_seed"], self.rows["type_idx"], self.rows["farm_idx"]))
        return [key.decode(errors="replace") for key in self.rows["key"][order].tolist()]

    def key_of(self, row: int) -> str:
        """The key of a row."""
        return str(self.rows["key"][row].decode(errors="replace"))

    def record(self, key: str) -> Record:
        """One result; ArgumentError, naming what is like it, when there is none of this name."""
        try:
            return self.source[key]
        except KeyError:
            like = difflib.get_close_matches(key, self.keys, 3)
            near = f"; do you mean {', '.join(like)}?" if like else ""
            raise ArgumentError(
                f"{self.path}: has no result {key!r} among its {len(self.keys):,}{near}"
            ) from None

    def matching(self, pattern: str) -> list[str]:
        """The keys that a pattern such as ``farm0_t5_*`` means, the best first by energy or objective."""
        keys = np.array([self.key_of(row) for row in range(len(self.rows))], np.str_)
        order = np.lexsort((keys, -np.nan_to_num(self.worths(), nan=-np.inf)))
        found = fnmatch.filter(keys[order].tolist(), pattern)
        if not found:
            example = self.keys[0] if self.keys else task_key(0, 0, 0)
            raise ArgumentError(
                f"{self.path}: no result is named like {pattern!r}; names are like {example}, so write "
                f"{example.rsplit('_', 1)[0]}_*, quoted"
            )
        return found

    def layout(self, key: str) -> FloatArray:
        """Positions of a result, x and y in metres."""
        layout = layout_of(self.record(key))
        if layout is None:
            raise DataError(f"{self.path}: result {key} has no layout that could be drawn")
        return layout

    def mixed_cell(self, farm_idx: int, type_idx: int) -> Cell | None:
        """The cell of a farm with a mix of types; None for any other."""
        cell = self.axes.by_place.get((farm_idx, type_idx))
        return cell if cell is not None and cell.mix else None

    def wind_farm(self, type_idx: int, farm_idx: int | None = None) -> WindFarm | None:
        """What a layout of this type, or of the mix of this farm, is worth; None when the campaign is unknown."""
        if self.campaign is None or turbine_of(self.campaign, type_idx) is None:
            return None
        cell = None if farm_idx is None else self.mixed_cell(farm_idx, type_idx)
        types = (type_idx,) if cell is None else cell.type_indices
        if farm_idx is not None and not has_neighbours(self.campaign, farm_idx):
            farm_idx = None  # all farms are alike
        if (types, farm_idx) not in self._farms:
            from vindeby.assembly.wind import wind_farm  # loads numba, which only some pictures need

            self._farms[types, farm_idx] = wind_farm(self.campaign, types, farm_idx, with_engine=False)
        return self._farms[types, farm_idx]

    def own_types(self, key: str) -> IntArray | None:
        """The type of each turbine among those of its farm's mix; None for a farm of one type."""
        record = self.record(key)
        cell = self.mixed_cell(*self.place(key)[:2])
        layout = layout_of(record)
        return None if cell is None or layout is None else own_types(record.arrays, cell, layout.shape[1])

    def wake_free_gwh(self, type_idx: int, n_turbines: int) -> float | None:
        """Energy of this many turbines without wakes; None where it is unknown or depends on the place."""
        farm = self.wind_farm(type_idx)
        if farm is None or farm.locality != "uniform":
            return None
        return farm.wake_free_aep(1) * n_turbines

    def wake_losses(self) -> FloatArray:
        """The share of its wake-free energy that each result loses; NaN where that is not known."""
        losses = np.full(len(self.rows), np.nan)
        for farm_idx, type_idx in set(self.rows[["farm_idx", "type_idx"]].tolist()):
            cell = self.mixed_cell(farm_idx, type_idx)
            farm = self.wind_farm(type_idx, None if cell is None else farm_idx)
            if farm is None:
                continue
            mine = (self.rows["farm_idx"] == farm_idx) & (self.rows["type_idx"] == type_idx)
            if farm.locality == "uniform" and (cell is None or not cell.mix_ranges):  # wherever they stand
                counts = [1] if cell is None else [count for _, count in cell.mix]
                types = np.repeat(np.arange(len(counts)), counts)
                mean = farm.wake_free_aep(len(types), types) / len(types)
                free = mean * self.rows["n_turbines"][mine]
            else:
                keys = map(self.key_of, np.flatnonzero(mine).tolist())
                free = np.array([self._free_gwh(farm, key, is_mixed=cell is not None) for key in keys])
            losses[mine] = 1.0 - self.rows["aep"][mine] / np.where(free > 0.0, free, np.nan)
        return losses

    def _free_gwh(self, farm: WindFarm, key: str, *, is_mixed: bool) -> float:
        """The wake-free energy of one layout where it stands; NaN without a layout, or for one outside the grid."""
        try:
            types = self.own_types(key) if is_mixed else np.zeros((), np.int64)
            x, y = self.layout(key)
            return np.nan if types is None else farm.free_aep_at(x, y, types)
        except (DataError, ArgumentError):
            return np.nan

    def worths(self) -> FloatArray:
        """What each result is worth where results of its farm and type are compared (``ResultColumns.worths``)."""
        worths = self.results.worths(self.campaign)
        return worths if self._kept is None else worths[self._kept]

    def _types(self, row: Any) -> list[int]:
        """The type of each turbine of a mixed farm, or the one type of another; none where they are not known."""
        farm_idx, type_idx = int(row["farm_idx"]), int(row["type_idx"])
        cell = self.mixed_cell(farm_idx, type_idx)
        if cell is None:
            return [type_idx] if turbine_of(self.campaign, type_idx) is not None else []
        if not cell.mix_ranges:
            return [type_idx for type_idx, count in cell.mix for _ in range(count)]
        own = self.own_types(row["key"].decode(errors="replace"))
        return [] if own is None else [cell.type_indices[index] for index in own]

    def mean_rated_mw(self, rows: NDArray[Any]) -> FloatArray:
        """The rated power of a turbine of each of some results, of a mix the mean; NaN where it is not known."""
        rated = (
            () if self.campaign is None else [turbine.rated_power_mw for turbine in self.campaign.turbines]
        )
        found: dict[object, float] = {}
        each = []
        for row, place in zip(rows, rows[["farm_idx", "type_idx"]].tolist(), strict=True):
            cell = self.mixed_cell(*place)
            name = row["key"] if cell is not None and cell.mix_ranges else place
            if name not in found:
                powers = [rated[type_idx] for type_idx in self._types(row)]
                found[name] = float(np.mean(powers)) if powers else np.nan
            each.append(found[name])
        return np.array(each, np.float64)

    def farm_name(self, farm_idx: int) -> str:
        """As the campaign calls it."""
        names = self.axes.farms
        return names[farm_idx] if 0 <= farm_idx < len(names) else f"farm{farm_idx}"

    def type_name(self, type_idx: int) -> str:
        """As the campaign calls it; the name of a mix, where all cells of the type are of this mix."""
        labels = self.axes.type_labels
        return labels[type_idx] if 0 <= type_idx < len(labels) else f"t{type_idx}"

    def cell_name(self, farm_idx: int, type_idx: int) -> str:
        """The type that stands in a farm, or those of its mix."""
        known = 0 <= type_idx < len(self.axes.types)
        return self.axes.cell_label(farm_idx, type_idx) if known else f"t{type_idx}"

    @cached_property
    def axes(self) -> Expected:
        """Farms, types and seeds of the campaign; none where it is not known."""
        if self.campaign is None:
            return Expected((), (), (), None, known=False)
        return Expected.of(self.campaign)

    def range_in_words(self, farm_idx: int, type_idx: int) -> str:
        """`` (of 60 to 66)`` where the search chose how many turbines there are; nothing for a fixed number."""
        cell = self.axes.by_place.get((farm_idx, type_idx))
        return "" if cell is None or cell.fewest_turbines is None else f" (of {cell.counts_in_words})"

    def turbines_in_words(self, row: Any) -> str:
        """How many turbines a result has: ``63``, or where that was chosen ``63 (of 60 to 66)``, ``6 (2 a + 4 b)``."""
        farm_idx, type_idx = int(row["farm_idx"]), int(row["type_idx"])
        words = f"{row['n_turbines']}{self.range_in_words(farm_idx, type_idx)}"
        cell, types = self.mixed_cell(farm_idx, type_idx), self._types(row)
        if self.campaign is None or cell is None or not cell.mix_ranges or not types:
            return words
        parts = [
            f"{types.count(type_idx)} {self.campaign.turbines[type_idx].name}"
            for type_idx in cell.type_indices
        ]
        return f"{words} ({' + '.join(parts)})"

    def best(self) -> dict[tuple[int, int], int]:
        """For each farm and type, the row of the result with the most energy, or the best by the objective."""
        found: dict[tuple[int, int], int] = {}
        worths = self.worths()
        for row in np.argsort(worths):  # NaN last
            if not np.isnan(worths[row]):
                found[int(self.rows["farm_idx"][row]), int(self.rows["type_idx"][row])] = int(row)
        return found

    def by_loss(self) -> list[int]:
        """The rows of valid results: by an objective of cost, else those that lose least to wakes first.

        Where losses are unknown, by energy.
        """
        if self.is_by_cost:
            worths = self.worths()
            return [int(row) for row in np.argsort(-worths, kind="stable") if not np.isnan(worths[row])]
        losses, aep = self.wake_losses(), self.rows["aep"]
        order = np.lexsort((-np.nan_to_num(aep), np.where(np.isnan(losses), 1.0, losses)))
        return [int(row) for row in order if not np.isnan(aep[row])]

    @property
    def is_by_cost(self) -> bool:
        """Whether results are compared by what they cost."""
        objective = None if self.campaign is None else self.campaign.objective
        return objective is not None and objective.is_of_costs

    def best_of_farm(self) -> dict[int, int]:
        """For each farm, the row of its best result (``by_loss``)."""
        found: dict[int, int] = {}
        for row in self.by_loss():
            found.setdefault(int(self.rows["farm_idx"][row]), row)
        return found

    def place(self, key: str) -> tuple[int, int, int]:
        """Farm, type and seed of a key, from the columns or the name."""
        here = np.flatnonzero(self.rows["key"] == key.encode())
        if not len(here):
            return parse_key(key) or (UNKNOWN,) * 3
        row = self.rows[here[0]]
        return int(row["farm_idx"]), int(row["type_idx"]), int(row["ss_seed"])
