"""What a campaign would take: CPU hours, wall time and disk, from a few of its tasks, timed in a scratch folder.

The tasks are computed in this process, on the processor and without limits of time and memory, and published and merged
in a folder that is removed afterwards: nothing of them is kept, and a run computes them again.
"""

import ctypes
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vindeby.assembly.merging import merge_options
from vindeby.campaign import Campaign
from vindeby.campaign.reading.code_files import search_path
from vindeby.campaign.tasks import Cell
from vindeby.errors import TaskError
from vindeby.runner.methods.call import warning
from vindeby.runner.running import workers_of
from vindeby.runner.task_executor import Attempt, Setup, TaskExecutor
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record
from vindeby.store.merge.merge import merge

_CELLS = 3
_VALUES = 8
"""Values of an axis that are timed; further ones take as long as these on average."""
_SHORT_S = 2.0
"""Tasks below this are timed twice, with two seeds."""


@dataclass(frozen=True)
class Estimate:
    """What a campaign would take; times in seconds, sizes in bytes."""

    tasks: int
    timed: tuple[str, ...]
    """The keys of the tasks that were timed."""
    task_s: tuple[float, float]
    """CPU seconds of the shortest and of the longest kind of task, without set-up."""
    cpu_s: float
    """Of all tasks, with the set-up of each farm and type."""
    compile_s: float
    """What the first task took longer than later tasks of the same size: compiling, or loading what was compiled."""
    workers: int
    wall_s: float
    """With so many workers on this machine, if it has nothing else to do."""
    database: float
    """Bytes of OUT.h5; while it is merged, its folder needs about twice as much."""


def estimate(campaign: Campaign, say: Callable[[str], None] = lambda _: None) -> Estimate:
    """Time a few tasks of a campaign; TaskError if one fails. ``say`` is called with what is computed now."""
    if text := warning(campaign, search_path()):
        say(text)
    cells = _chosen([cell for cell in campaign.cells() if cell.combination == 0])
    with ExitStack() as stack:
        kept = os.dup(1)  # what tasks print, from Python or C, goes to standard error
        stack.callback(os.close, kept)
        stack.callback(os.dup2, kept, 1)
        stack.callback(ctypes.CDLL(None).fflush, None)
        stack.enter_context(redirect_stdout(sys.stderr))
        os.dup2(2, 1)
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="vindeby-estimate-"))
        timing = _Timing(campaign, Path(scratch) / "estimate.h5", say)
        cold_s = timing.time(cells[0])
        for cell in cells[1:]:
            timing.time(cell)
        timing.time(cells[0])  # what was compiled for the first is there by now
        timing.compare(cells[0])
        return timing.estimate(max(0.0, cold_s - sum(timing.spent[cells[0].n_turbines])))


def _chosen(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells with the fewest turbines, the most, and some in between; each number once."""
    by_size = sorted({cell.n_turbines: cell for cell in cells}.items())
    places = np.unique(np.linspace(0, len(by_size) - 1, _CELLS).round().astype(int))
    return [by_size[place][1] for place in places]


class _Timing:
    """The tasks that were timed, and their results in the scratch folder."""

    def __init__(self, campaign: Campaign, output: Path, say: Callable[[str], None]) -> None:
        self._campaign, self._output, self._say = campaign, output, say
        RunDirectory(output).create()
        self._raised: list[BaseException | None] = []
        self._executor = TaskExecutor(
            Setup(campaign, str(output)), lambda _: None, solved=self._raised.append
        )
        self.spent: dict[int, tuple[float, float]] = {}
        """CPU seconds by number of turbines: of the set-up, and of one task."""
        self._records: dict[str, Record] = {}
        self._factors: dict[tuple[str, str], float] = {}
        """By axis and value, how much longer a task takes than with the first value."""

    def compare(self, first: Cell) -> None:
        """Time a task like one that was timed in combinations that differ in one axis, the first few of each axis."""
        others = {one.combination.index: one.combination.values for one in self._campaign.one_at_a_time()[1:]}
        values, timed = self._campaign.combinations[0].values, Counter[str]()
        spent = self.spent.copy()
        for cell in self._campaign.cells():
            if cell.combination not in others or cell.place[:2] != first.place[:2]:
                continue
            ((axis, name),) = set(others[cell.combination].items()) - set(values.items())
            timed[axis] += 1
            if timed[axis] <= _VALUES:
                self.time(cell)  # with what is compiled for it
                self.time(cell)
                self._factors[axis, name] = self.spent[cell.n_turbines][1] / spent[first.n_turbines][1]
        self.spent = spent

    def _factor(self, cell: Cell) -> float:
        """Return how much longer the tasks of a cell take than in the first combination."""
        first = self._campaign.combinations[0].values
        factor = 1.0
        for axis, name in self._campaign.combinations[cell.combination].values.items():
            known = [one for (other, _), one in self._factors.items() if other == axis] or [1.0]
            factor *= 1.0 if name == first[axis] else self._factors.get((axis, name), float(np.mean(known)))
        return factor

    def time(self, cell: Cell) -> float:
        """Time a task of a cell, two if they are short; the CPU seconds of the first with its set-up."""
        seeds = self._campaign.seeds
        first_s, task_s = self._attempt(cell, seeds[0])
        set_up_s = first_s - task_s
        if first_s < _SHORT_S and len(seeds) > 1:
            task_s = 0.5 * (task_s + self._attempt(cell, seeds[1])[1])
        self.spent[cell.n_turbines] = set_up_s, task_s
        return first_s

    def _attempt(self, cell: Cell, seed: int) -> tuple[float, float]:
        """Return the CPU seconds of a task with its set-up, and those of the search alone."""
        (task,) = cell.tasks([seed])
        self._say(f"timing {task.key}")
        began_cpu, began = time.process_time(), time.perf_counter()
        attempt: Attempt = self._executor.attempt(task)
        cpu_s, seconds = time.process_time() - began_cpu, time.perf_counter() - began
        if isinstance(self._raised[-1], KeyboardInterrupt):
            raise self._raised[-1]
        if not isinstance(attempt.outcome, Record):
            raise TaskError(f"{task.key} failed, so nothing can be estimated: {attempt.outcome}")
        self._records[task.key] = attempt.outcome
        return cpu_s, cpu_s * min(1.0, attempt.seconds / seconds)

    def estimate(self, compile_s: float) -> Estimate:
        campaign, sizes = self._campaign, sorted(self.spent)
        cells = campaign.cells()
        numbers = {cell.place[:2]: cell.n_turbines for cell in reversed(cells) if cell.combination == 0}
        counts = [numbers.get(cell.place[:2], cell.n_turbines) for cell in cells]
        set_ups, tasks = (
            np.interp(counts, sizes, [self.spent[size][part] for size in sizes]) for part in (0, 1)
        )
        tasks = tasks * [self._factor(cell) for cell in cells]
        cpu_s = float(set_ups.sum() + len(campaign.seeds) * tasks.sum())
        workers = min(workers_of(campaign.run), campaign.total_configs)
        # The last task of each worker has nobody to share it with.
        wall_s = max(cpu_s / workers, float((set_ups + tasks).max())) + compile_s
        return Estimate(
            tasks=campaign.total_configs,
            timed=tuple(self._records),
            task_s=(float(tasks.min()), float(tasks.max())),
            cpu_s=cpu_s,
            compile_s=compile_s,
            workers=workers,
            wall_s=wall_s,
            database=self._database_size(),
        )

    def _database_size(self) -> float:
        """Return the bytes of the database of all tasks, from those of the first result and of all results so far."""
        sizes = []
        for number, record in enumerate(self._records.values()):
            self._executor.publisher.add(number, record, 0.0)
            if number == 0:
                self._executor.publisher.flush()
                sizes.append(self._merged())
        self._executor.close()
        sizes.append(self._merged())
        timed = len(self._records)
        each = (sizes[1] - sizes[0]) / (timed - 1) if timed > 1 else float(sizes[0])
        return sizes[0] + each * (self._campaign.total_configs - 1)

    def _merged(self) -> int:
        merge(self._output, merge_options(self._campaign))
        return self._output.stat().st_size
