"""What a campaign gives when nothing goes wrong: its tasks one after the other in this process, without any pool."""

from __future__ import annotations

from pathlib import Path

from tests.runner.campaigns import results
from vindeby.campaign import Campaign
from vindeby.runner.task_executor import Setup, TaskExecutor
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Record


def undisturbed(folder: Path, campaign: Campaign) -> dict[str, Record]:
    """Every result of a campaign whose tasks wait for ``folder/gate``; tasks that fail have none."""
    (folder / "gate").touch()
    directory = RunDirectory(folder / "undisturbed.h5").create()
    executor = TaskExecutor(Setup(campaign, str(directory.output)), lambda _: None)
    for number, task in enumerate(campaign.tasks()):
        executor.execute(number, task)
    assert executor.close()
    return results(directory.output)
