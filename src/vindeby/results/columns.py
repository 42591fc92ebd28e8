"""Columns of numbers and keys of all results, as monitor, pictures, report and board count and draw them.

Layouts stay where they are until one is asked for; a hundred thousand results take a few megabytes here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vindeby.arrays import FloatArray
from vindeby.campaign import Campaign
from vindeby.campaign.task_index import TaskIndex
from vindeby.campaign.tasks import KeyParts, parse_key
from vindeby.store.format.origin import ORIGINS, origins
from vindeby.store.format.rows import CHECKSUM_WIDTH, Segment, array_field, attribute_field
from vindeby.store.read.columns import PLACE, UNKNOWN, layout_sizes, number_column, places_of

_REAL = ("aep", "objective", "lcoe_eur_per_mwh", "aep_engine", "aep_free", "seconds")
_ORIGIN_TYPE = f"S{max(map(len, ORIGINS))}"


def row_type(key_width: int = 1, fingerprint_width: int = 1) -> np.dtype[Any]:
    """Return the columns as the type of a structured array."""
    numbers = [(name, "<i8") for name in (*PLACE, "combination", "n_turbines")]
    texts = [
        ("key", f"S{key_width}"),
        ("fingerprint", f"S{fingerprint_width}"),
        ("checksum", f"S{CHECKSUM_WIDTH}"),
        ("origin", _ORIGIN_TYPE),
    ]
    return np.dtype([*texts, *numbers, *((name, "<f8") for name in _REAL)])


def columns_of(segments: Sequence[Segment]) -> NDArray[Any]:
    """Return one row for each record; ``aep`` is in GWh and NaN if it is missing or not a positive number."""
    keys, marks = (np.concatenate([one.rows[name] for one in segments]) for name in ("key", "fingerprint"))
    found = np.empty(len(keys), row_type(keys.dtype.itemsize, max(1, marks.dtype.itemsize)))
    found["key"], found["fingerprint"] = keys, marks
    found["checksum"] = np.concatenate([one.rows["checksum"] for one in segments])
    found["origin"] = np.concatenate([origins(one.rows) for one in segments])
    sizes = layout_sizes(segments)
    found["n_turbines"] = np.where(sizes > 0, sizes, UNKNOWN)
    for name in _REAL:
        found[name] = number_column(segments, name)
    found["aep"][~(np.isfinite(found["aep"]) & (found["aep"] > 0.0))] = np.nan
    found["farm_idx"], found["type_idx"], found["ss_seed"] = places_of(segments).T
    found["combination"] = 0
    # The result of a function without wind counts, though it has no energy.
    names = [set(segment.rows.dtype.names or ()) for segment in segments]
    without = [0.0 if attribute_field("returns") in mine else np.nan for mine in names]
    lengths = list(map(len, segments))
    has_none = np.repeat([array_field("aep") not in mine for mine in names], lengths)
    found["aep"][has_none] = np.repeat(without, lengths)[has_none]
    return found


def by_task(every: NDArray[Any], tasks: TaskIndex) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the results of a campaign, each with the numbers of the task that it answers, and the other results.

    ``combination`` is the number of its combination in the campaign; UNKNOWN where it has none such.
    """
    is_stale, moved = np.zeros(len(every), np.bool_), dict[int, KeyParts]()
    has_axes = bool(tasks.campaign.axes)
    numbers = {one.tag: one.index for one in tasks.campaign.combinations}
    for row, (key, mark) in enumerate(zip(every["key"].tolist(), every["fingerprint"].tolist(), strict=True)):
        if mark and tasks.get(key.decode(errors="replace")) != mark.decode(errors="replace"):
            task = tasks.answered_by(mark.decode(errors="replace"))
            if task is None:
                is_stale[row] = True
            else:
                moved[row] = KeyParts.of(task)
                continue
        if has_axes and (parts := parse_key(key.decode(errors="replace"))) is not None:
            moved[row] = parts
    rows = every.copy() if moved else every
    for row, parts in moved.items():
        for name, number in zip(PLACE, parts[:3], strict=True):
            rows[name][row] = number
        rows["combination"][row] = numbers.get(parts.tag, UNKNOWN)
    stale = rows[is_stale]
    return (rows[~is_stale] if len(stale) else rows), stale


def worths_of(rows: NDArray[Any], campaign: Campaign | None) -> FloatArray:
    """Return what each result is worth where results of its farm and type are compared: its objective, or its energy.

    The larger the better: the worth of an LCOE is negative. A result has an objective where costs or scenarios decide.
    Where it is not stored, as in files of other programs, it is NaN.
    """
    aep, objective = np.array(rows["aep"]), rows["objective"]
    if campaign is not None and campaign.axes:
        for index, variant in enumerate(campaign.variants):
            mine = rows["combination"] == index
            aep[mine] = worths_of(rows[mine], variant)
        return aep
    if campaign is None or campaign.objective is None or campaign.objective.is_of_energy:
        return aep
    return np.where(np.isnan(aep), aep, campaign.objective.sign * objective)
