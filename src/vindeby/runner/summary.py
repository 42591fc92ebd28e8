"""The end of a run: merge, validate, and a summary for the user."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from vindeby.assembly.done import Judge
from vindeby.assembly.merging import merge_options
from vindeby.assembly.physics import notes_of
from vindeby.assembly.value import LCOE
from vindeby.campaign import Campaign
from vindeby.runner.protocol import REMEDIES, Failure, Kind
from vindeby.runner.resume import Part, ResumeState, TaskSpace
from vindeby.store.disk.lock import Lock
from vindeby.store.disk.run_directory import RunDirectory, write_verdicts
from vindeby.store.format.record import Record
from vindeby.store.merge.audit import MergeReport
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.validate import ValidationReport, validate
from vindeby.text import plural


@dataclass
class Summary:
    """The summary of a run; ``complete`` says whether every requested result exists and is valid."""

    output: Path
    total: int
    resume_state: ResumeState
    done: int = 0
    failed: dict[str, Failure] = field(default_factory=dict)
    """Tasks that failed in this run for good, with the reason of each."""
    seconds: float = 0.0
    part: Part | None = None
    merged: MergeReport | None = None
    validation: ValidationReport | None = None
    aep_by_farm: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Lowest and highest AEP of each farm, in GWh per year."""
    lcoe_by_farm: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The lowest and highest LCOE of each farm, in EUR per MWh, if the campaign has costs."""

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        failed = f", {plural(len(self.all_failed), 'task')} failed" if self.all_failed else ""
        part = "" if self.part is None else f" (part {self.part})"
        return (
            f"<Summary {str(self.output)!r}{part}: {self.safe:,} of {plural(self.total, 'result')}, {state}{failed}; "
            f"computed {self.done:,} in {self.seconds:.1f} s>"
        )

    @property
    def failures(self) -> Counter[Kind]:
        """The number of tasks that failed in this run, by kind of failure."""
        return Counter(failure.kind for failure in self.failed.values())

    @property
    def safe(self) -> int:
        """The number of results that exist."""
        return self.resume_state.done + self.done

    @property
    def all_failed(self) -> dict[str, Failure]:
        """The tasks that failed for good, in this run or before."""
        before = {
            key: Failure(Kind(task.kind), task.reason, task.traceback, task.log)
            for key, task in self.resume_state.failed.items()
        }
        return before | self.failed

    @property
    def remedies(self) -> dict[str, str]:
        """The remedy for each kind of failure that occurred."""
        return {failure.kind.value: REMEDIES[failure.kind] for failure in self.all_failed.values()}

    @property
    def complete(self) -> bool:
        """Return whether every requested result exists and is valid."""
        if self.failed or self.resume_state.failed:
            return False
        return self.part is not None or (self.validation is not None and self.validation.valid)


def finish_up(
    space: TaskSpace,
    judge: Judge,
    directory: RunDirectory,
    summary: Summary,
    *,
    say: Callable[[str], None],
    lock: Lock,
) -> None:
    """Merge and validate, unless this is a part, to whose campaign others may still add results."""
    if summary.part is not None or not (directory.shard_paths() or directory.output.exists()):
        return
    how = MergeOptions(on_bad="skip", wait_s=600.0, progress=say, confirm=lock.confirm)
    options = merge_options(space.campaign, how, invalid=summary.resume_state.verdicts.invalid.keys())
    summary.merged = merge(directory, options)
    expected = options.asked
    energies = _EnergyRanges(space.campaign, judge)
    report = summary.validation = validate(directory, expected=expected, checks=[energies])
    lock.confirm()
    write_verdicts(directory, space.text, report.verdicts(expected))
    for note in notes_of(judge.checks):
        report.notes.append(note)
        say(note)
    summary.aep_by_farm, summary.lcoe_by_farm = (
        {space.campaign.farms[farm].name: ranges[farm] for farm in sorted(ranges)}
        for ranges in (energies.by_farm, energies.lcoe_by_farm)
    )


class _EnergyRanges:
    """A wrapper around a judge's checks that records the lowest and highest AEP of each farm's results."""

    def __init__(self, campaign: Campaign, judge: Judge) -> None:
        self._farms, self._judge = range(len(campaign.farms)), judge
        self.by_farm: dict[int, tuple[float, float]] = {}
        self.lcoe_by_farm: dict[int, tuple[float, float]] = {}

    def __call__(self, record: Record) -> list[str]:
        problems = [problem for check in self._judge.checks for problem in check(record)]
        farm, aep = record.attributes.get("farm_idx"), record.arrays.get("aep")
        is_done = not problems and self._judge.is_answer(record)
        if is_done and aep is not None and aep.size and isinstance(farm, int) and farm in self._farms:
            for ranges, value in (
                (self.by_farm, float(aep.min())),
                (self.lcoe_by_farm, record.attributes.get(LCOE)),
            ):
                if isinstance(value, float):
                    low, high = ranges.get(farm, (math.inf, -math.inf))
                    ranges[farm] = min(low, value), max(high, value)
        return problems
