"""What a report says, gathered: results with their layouts, what is missing, where everything comes from."""

from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.errors import DataError
from vindeby.results import maps
from vindeby.results.result_set import ResultSet
from vindeby.results.snapshot import Snapshot, TaskState
from vindeby.text import as_ranges


def results_data(result_set: ResultSet) -> dict[str, Any]:
    """Farms, types and results for the page's script, which begins with the best by the objective (of this sign)."""
    rows, losses = result_set.rows, result_set.wake_losses()
    objective = None if result_set.campaign is None else result_set.campaign.objective
    layouts = _layouts(result_set)
    farms = sorted({int(farm) for farm in rows["farm_idx"]})
    # A mixed farm's types are listed as one, apart from the others.
    type_of_row = [
        (int(type_idx), int(farm) if result_set.mixed_cell(int(farm), int(type_idx)) else -1)
        for farm, type_idx in zip(rows["farm_idx"], rows["type_idx"], strict=True)
    ]
    types = sorted(set(type_of_row))
    frames = {
        farm: maps.frame_of(
            result_set.campaign,
            farm,
            (layout for layout, mine in zip(layouts, rows["farm_idx"] == farm, strict=True) if mine),
        )
        for farm in farms
    }
    results = [
        {
            "key": row["key"].decode(errors="replace"),
            "farm": farms.index(int(row["farm_idx"])),
            "type": types.index(its_type),
            "seed": int(row["ss_seed"]),
            "n": int(layout.shape[1]),
            "objective": maps.plain(row["objective"], 4),
            "aep": maps.plain(row["aep"], 3),
            "loss": maps.plain(100 * loss, 3),
            "lcoe": maps.plain(row["lcoe_eur_per_mwh"], 4),
            "seconds": maps.plain(row["seconds"], 2),
            "layout": maps.pack_layout(layout, frames[int(row["farm_idx"])]),
        }
        for row, loss, layout, its_type in zip(rows, losses, layouts, type_of_row, strict=True)
    ]
    return {
        "farms": [maps.farm_data(result_set.campaign, farm, frames[farm]) for farm in farms],
        "types": [
            maps.type_data(result_set.campaign, kind, result_set.mixed_cell(farm, kind))
            for kind, farm in types
        ],
        "results": results,
        "sign": 1.0 if objective is None else objective.sign,
    }


def _layouts(result_set: ResultSet) -> list[FloatArray]:
    """Every layout, in the order of the rows; an empty one where there is none that could be drawn."""
    found = []
    for key in result_set.rows["key"].tolist():
        try:
            found.append(result_set.layout(key.decode(errors="replace")))
        except DataError:
            found.append(np.empty((2, 0)))
    return found


def missing_by_cell(snapshot: Snapshot) -> list[tuple[str, str, str, str]]:
    """What has no valid result: farm, type, state, and the seeds in few words."""
    found = []
    if not snapshot.axes.known:
        return []
    for farm, type_ in np.ndindex(snapshot.states.shape[:2]):
        cell = snapshot.states[farm, type_]
        for state in (state for state in TaskState if state != TaskState.DONE):
            seeds = [snapshot.axes.seeds[index] for index in np.flatnonzero(cell == state)]
            if seeds:
                words = "never finished" if state == TaskState.OPEN else state.name.lower()
                label = snapshot.axes.cell_label(farm, type_)
                found.append((snapshot.axes.farms[farm], label, words, as_ranges(seeds).replace(",", ", ")))
    return found


Best = tuple[str, str, str, str, float, float, float | None, float | None]


def best_table(result_set: ResultSet) -> list[Best]:
    """For each farm and type: the best key, turbines, its energy, the median energy, its wake loss and its LCOE."""
    rows, losses = result_set.rows, result_set.wake_losses()
    found = []
    for (farm, kind), best in sorted(result_set.best().items()):
        mine = (rows["farm_idx"] == farm) & (rows["type_idx"] == kind)
        found.append(
            (
                result_set.farm_name(farm),
                result_set.cell_name(farm, kind),
                rows["key"][best].decode(errors="replace"),
                result_set.turbines_in_words(rows[best]),
                float(rows["aep"][best]),
                float(np.nanmedian(rows["aep"][mine])),
                maps.plain(100 * losses[best], 3),
                maps.plain(rows["lcoe_eur_per_mwh"][best], 4),
            )
        )
    return found
