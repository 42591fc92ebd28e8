"""The tasks of a campaign without a valid result, and why: one list for every command that prints or counts them."""

from functools import partial

from vindeby.assembly.done import judged, not_done
from vindeby.campaign import Campaign
from vindeby.campaign.task_index import TaskIndex
from vindeby.results.history import RunHistory
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.columns import former_campaigns
from vindeby.store.read.database import Database
from vindeby.store.states import Known, TaskStatus, missing_tasks


def missing_results(run: RunDirectory, campaign: Campaign) -> list[TaskStatus]:
    """Return the tasks that have no valid result in OUT.h5 and the shards beside it, with their state and why."""
    history = RunHistory(run)
    history.refresh(complete=True)
    if not run.output.exists() and not run.shard_names():
        return missing_tasks(campaign.fingerprints(), Known(**history.known()))
    with Database(run) as database:
        return missing_from(database, campaign, history)


def missing_from(database: Database, campaign: Campaign, history: RunHistory) -> list[TaskStatus]:
    """Return the missing tasks of a database that is open, with the history of its run."""
    run = database.run
    tasks = TaskIndex(campaign, partial(former_campaigns, run, run.campaign_text()))
    invalid = not_done(database, judged(database, campaign))
    known = Known.of(database, invalid=invalid, changes=tasks.changes_since, **history.known())
    return missing_tasks(tasks, known)
