"""Campaign data for a merge, and the check whether a campaign belongs to the results that are already stored.

``run`` and ``merge`` differ in when and how they merge, never in what counts.

OUT.h5 and its run directory belong to one campaign. That campaign may grow (more seeds, farms, turbine types) and its
parameters may be edited, which makes earlier results stale. A campaign that shares nothing with what is there is
another one, and its results go to another file.

A campaign belongs where a result is found that answers it (the same fingerprint); or, when everything was
edited, where the campaign there has the same name and at least one farm and one turbine type in common, by name or
by description. Results without a campaign and without fingerprints (of another script) belong to any campaign that
asks for one of their keys.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path

from vindeby.campaign import Campaign
from vindeby.campaign.sections.farm import Farm
from vindeby.campaign.sections.turbines import TurbineSection
from vindeby.campaign.task_index import TaskIndex
from vindeby.campaign.tasks import EVALUATED_ARRAYS, RESULT_ARRAYS
from vindeby.errors import ArgumentError, CampaignError, DataError, InputError, StorageError
from vindeby.store.disk.files import check_output
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.merge.rekey import needs_rekeying
from vindeby.store.read.database import Database
from vindeby.store.states import fingerprints
from vindeby.text import plural


def merge_options(
    campaign: Campaign | None, options: MergeOptions | None = None, *, invalid: Collection[str] = frozenset()
) -> MergeOptions:
    """Return the options with the campaign's root attributes, units, fingerprints and invalid records.

    ``invalid`` are checksums of records that others may replace. Without a campaign only the units are known.
    """
    is_evaluated = campaign is not None and campaign.stored is not None
    return replace(
        options or MergeOptions(),
        root={} if campaign is None else campaign.root_attributes(),
        array_attributes={**RESULT_ARRAYS, **(EVALUATED_ARRAYS if is_evaluated else {})},
        asked={} if campaign is None else TaskIndex(campaign),
        invalid=invalid,
    )


def rekey_results(
    run: RunDirectory, campaign: Campaign, confirm: Callable[[], None], say: Callable[[str], None]
) -> bool:
    """Merge where results are not under the keys of their tasks, so that they need not be computed again.

    Returns whether anything was merged.
    """
    if not (run.output.exists() or run.shard_names() or run.replaced.exists()):
        return False
    options = merge_options(campaign, MergeOptions(on_bad="skip", wait_s=600.0, confirm=confirm))
    assert isinstance(options.asked, TaskIndex)
    if not needs_rekeying(run, options.asked):
        return False
    for note in merge(run, options).notes:
        say(note)
    return True


def refuse_another_campaign(run: RunDirectory, campaign: Campaign) -> None:
    """Raise InputError if OUT.h5 or its run directory holds results of another campaign; change nothing."""
    text = run.campaign_text()
    if text == campaign.dumps() or not (run.output.exists() or run.shard_names()):
        return
    if text is None:
        with _opened(run) as database:
            text = database.campaign_text
    former = None if text is None else _loaded(text)
    # A text that cannot be read any more does not prove another campaign.
    if text is not None and (former is None or is_edited(former, campaign)):
        return
    with _opened(run) as database:
        have = fingerprints(database)
    expected, marks = campaign.fingerprints(), set(have.values())
    unmarked = former is None and any(have.get(key) == "" for key in expected)
    if not have or unmarked or not marks.isdisjoint(expected.values()):
        return
    holds = f"campaign {former.name!r}" if former else "results of another campaign"
    raise InputError(
        f"{run.output}: holds {holds} ({plural(len(have), 'result')}), with which campaign {campaign.name!r} "
        f"shares nothing; nothing was changed; use -o OTHER.h5 for {campaign.name!r}"
    )


def prepared_directory(output: Path, campaign: Campaign) -> RunDirectory:
    """Return the run directory of a database, made if it is missing; refuse that of another campaign."""
    run = RunDirectory(check_output(output).absolute())
    if not run.output.parent.is_dir():
        raise ArgumentError(f"{output}: there is no folder {run.output.parent}; make it first")
    refuse_another_campaign(run, campaign)
    try:
        return run.create()
    except OSError as error:
        raise StorageError(
            f"{run.path}: cannot be made: {error.strerror}; choose another place for the results with -o"
        ) from None


def _opened(run: RunDirectory) -> Database:
    try:
        return Database(run)
    except DataError as error:
        raise DataError(*error.args, "what it holds is not known; nothing was changed") from error


def _loaded(text: str) -> Campaign | None:
    try:
        return Campaign.loads(text, "the campaign that is kept with the results")
    except CampaignError:
        return None


def is_edited(former: Campaign, campaign: Campaign) -> bool:
    """Return whether both are one campaign with edited parameters: the same name, a farm and a type in common."""
    if former.name != campaign.name or former.is_about_wind != campaign.is_about_wind:
        return False
    return not campaign.is_about_wind or (
        _in_common(former.farms, campaign.farms) and _in_common(former.turbines, campaign.turbines)
    )


def _in_common(some: Iterable[Farm | TurbineSection], others: Iterable[Farm | TurbineSection]) -> bool:
    def description(thing: Farm | TurbineSection) -> object:
        return thing.boundary if isinstance(thing, Farm) else thing.description

    names, described = {one.name for one in some}, [description(one) for one in some]
    return any(other.name in names or description(other) in described for other in others)
