"""Results in groups that have the same values of some columns, such as farm, type or an axis: how good they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from vindeby.results.result_set import ResultSet


class Group(NamedTuple):
    """The rows of a result set, those with an energy, that have these values of the columns."""

    values: tuple[Any, ...]
    rows: NDArray[np.intp]


def groups_of(results: ResultSet, names: Sequence[str]) -> list[Group]:
    """Return the groups in the order of farm, type, combination and seed; ArgumentError for an unknown column."""
    columns = [np.asarray(column).tolist() for column in results.columns(names).values()]
    rows: dict[tuple[Any, ...], list[int]] = {}
    for row in results.in_order().tolist():
        if not np.isnan(results.rows["aep"][row]):
            rows.setdefault(tuple(column[row] for column in columns), []).append(row)
    return [Group(values, np.array(mine, np.intp)) for values, mine in rows.items()]


def summaries(results: ResultSet, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each group: its values, how many results it has, and their AEP (GWh) and best wake loss."""
    losses, aep, worths = results.wake_losses(), results.rows["aep"], results.worths()
    table = []
    for values, rows in groups_of(results, names):
        best = rows[np.argmax(np.nan_to_num(worths[rows], nan=-np.inf))]
        mine = aep[rows]
        figures = {
            "results": len(rows),
            "best": results.key_of(best),
            "aep_best": float(aep[best]),
            "aep_median": float(np.median(mine)),
            "aep_mean": float(mine.mean()),
            "aep_std": float(mine.std(ddof=1)) if len(mine) > 1 else np.nan,
            "wake_loss_best": float(losses[best]),
        }
        table.append(dict(zip(names, values, strict=True)) | figures)
    return table
