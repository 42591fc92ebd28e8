"""The data of a report: results with their layouts, missing results, and where everything comes from."""

from typing import Any

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.errors import DataError
from vindeby.results import maps
from vindeby.results.result_set import CELL, ResultSet
from vindeby.results.snapshot import Snapshot
from vindeby.store.states import TaskState
from vindeby.text import as_ranges


def results_data(result_set: ResultSet) -> dict[str, Any]:
    """Return farms, types and results for the page's script, which begins with the best by the objective."""
    rows, losses = result_set.rows, result_set.wake_losses()
    objective = None if result_set.campaign is None else result_set.campaign.objective
    layouts = _layouts(result_set)
    farms = sorted({int(farm) for farm in rows["farm_idx"]})
    # A mixed farm's types are listed as one, apart from the others.
    cells = result_set.axes.by_place
    mixed = {place[:2] for place, cell in cells.items() if cell.mix}
    type_of_row = [(place[1], place[0] if place[:2] in mixed else -1) for place in rows[CELL].tolist()]
    types = sorted(set(type_of_row))
    cases = [
        ", ".join(result_set.axes.values_of(combination)) for combination in rows["combination"].tolist()
    ]
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
            "case": case,
            "n": int(layout.shape[1]),
            "objective": maps.plain(row["objective"], 4),
            "aep": maps.plain(row["aep"], 3),
            "loss": maps.plain(100 * loss, 3),
            "lcoe": maps.plain(row["lcoe_eur_per_mwh"], 4),
            "seconds": maps.plain(row["seconds"], 2),
            "layout": maps.pack_layout(layout, frames[int(row["farm_idx"])]),
        }
        for row, loss, layout, its_type, case in zip(rows, losses, layouts, type_of_row, cases, strict=True)
    ]
    return {
        "farms": [maps.farm_data(result_set.campaign, farm, frames[farm]) for farm in farms],
        "types": [
            maps.type_data(result_set.campaign, kind, cells.get((farm, kind, 0))) for kind, farm in types
        ],
        "results": results,
        "of_case": ", ".join(result_set.axes.axes),
        "sign": 1.0 if objective is None else objective.sign,
    }


def _layouts(result_set: ResultSet) -> list[FloatArray]:
    """Return every layout, in the order of the rows; an empty one if it cannot be drawn."""
    found = []
    for key in result_set.rows["key"].tolist():
        try:
            found.append(result_set.layout(key.decode(errors="replace")))
        except DataError:
            found.append(np.empty((2, 0)))
    return found


def missing_by_cell(snapshot: Snapshot) -> list[tuple[str, str, str, str]]:
    """Return the tasks without a valid result: farm, type, state, and the seeds in few words."""
    found = []
    if not snapshot.axes.known:
        return []
    for cell, states in zip(snapshot.axes.cells, snapshot.states, strict=True):
        for state in (state for state in TaskState if state != TaskState.DONE):
            seeds = [snapshot.axes.seeds[index] for index in np.flatnonzero(states == state)]
            if seeds:
                farm, values = snapshot.axes.farms[cell.farm_idx], snapshot.axes.values_of(cell.combination)
                label = ", ".join([cell.label(snapshot.axes.types), *values])
                found.append((farm, label, state.word, as_ranges(seeds).replace(",", ", ")))
    return found
