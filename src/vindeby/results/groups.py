"""Groups of results with the same values of some columns, such as farm, type or an axis, and their quality."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from vindeby.results.result_set import ResultSet


def summaries(results: ResultSet, names: Sequence[str], shown: str = "") -> list[dict[str, Any]]:
    """Return a row for each group: its values, how many results it has, their AEP (GWh), and the best of them.

    Groups are in the order of farm, type, combination and seed; the best is that by what is ``shown`` (``worths``).
    """
    columns = [np.asarray(column).tolist() for column in results.columns(names).values()]
    losses, aep, worths = results.wake_losses(), results.rows["aep"], results.worths(shown)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row in results.in_order().tolist():
        if not np.isnan(aep[row]):
            groups.setdefault(tuple(column[row] for column in columns), []).append(row)
    table = []
    for values, rows in groups.items():
        best, mine = rows[np.argmax(np.nan_to_num(worths[rows], nan=-np.inf))], aep[rows]
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
