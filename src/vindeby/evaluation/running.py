"""The whole of an evaluation: the study, its layouts, what is there already, then a run like any campaign's.

The database is opened read-only. Killed at any moment, call it again to resume.
"""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from vindeby.campaign import Campaign
from vindeby.campaign.doubts import notes_about_files
from vindeby.campaign.tasks import cell_key
from vindeby.errors import ArgumentError, CampaignError, InputError
from vindeby.evaluation.as_campaign import call_of, campaign_of, source_of
from vindeby.evaluation.selection import StudySelection
from vindeby.evaluation.stored_layouts import Case, StoredLayouts
from vindeby.evaluation.study import Study
from vindeby.runner.running import run
from vindeby.runner.summary import Summary
from vindeby.runner.supervisor import Watcher
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.text import plural


def evaluate(
    database: str | Path,
    study: str | Path | dict[str, Any],
    output: str | Path,
    *,
    overrides: Sequence[str] = (),
    workers: int | None = None,
    device: str | None = None,
    part: str | None = None,
    retry_failed: bool = False,
    replace_stale: bool = False,
    on_bad: str = "abort",
    take_over: bool = False,
    on_progress: Watcher = lambda _: None,
    on_message: Callable[[str], None] = lambda _: None,
) -> Summary:
    """Evaluate stored layouts as a study says, into a database of its own; call it again to resume after any crash.

    Args:
        database: The OUT.h5 with the layouts.
        study: The path of a study file, or its content as plain data.
        output: The database to make.
        overrides: Changes of the study, such as ``"output=power"``.
        workers: As in ``vindeby.run``, and so are the arguments below.
        device: What computes powers: ``"cpu"``, ``"cuda"`` or ``"auto"``.
        part: A fixed share of the tasks.
        retry_failed: Try again what failed.
        replace_stale: Evaluate layouts again that have changed since an earlier call; otherwise they are refused.
        on_bad: What to do when a file with results is bad.
        take_over: Take the study away from the process that runs it.
        on_progress: Called whenever something has changed.
        on_message: Called with each message.
    """
    campaign = study_campaign(database, study, overrides)
    if Path(output).absolute() == Path(database).absolute():
        raise ArgumentError(f"{output}: is the database that is evaluated; name another file with -o")
    if not replace_stale:
        refuse_changed_source(campaign, Path(output))
    for note in notes_about_files(campaign):
        on_message(f"warning: {note}")
    return run(
        campaign,
        output,
        workers=workers,
        device=device,
        part=part,
        retry_failed=retry_failed,
        replace_stale=replace_stale,
        on_bad=on_bad,
        take_over=take_over,
        on_progress=on_progress,
        on_message=on_message,
    )


def study_campaign(
    database: str | Path, study: str | Path | dict[str, Any], overrides: Sequence[str] = ()
) -> Campaign:
    """The campaign that evaluates a study: every case, with the layouts that are chosen now."""
    loaded, document = Study.load(study, overrides)
    stored = StoredLayouts(Path(database))
    try:
        return campaign_of(loaded, document, stored, StudySelection(loaded, document, stored))
    finally:
        stored.close()


def refuse_changed_source(campaign: Campaign, output: Path) -> None:
    """InputError where results that are there were made of layouts that have changed since."""
    text = RunDirectory(output.absolute()).campaign_text()
    try:
        former = None if text is None else Campaign.loads(text, f"{output} (campaign)")
    except CampaignError:
        return  # the run says what is wrong with it
    if former is None or call_of(former) is None:
        return
    before, now = _layouts_of(former), _layouts_of(campaign)
    for name, layouts in now.items():
        kept = before.get(name, layouts)
        fewer = f"only {plural(len(layouts), 'layout')} of {name}"
        for was, means in zip_longest(kept, layouts[: len(kept)], fillvalue=fewer):
            if was != means:
                raise InputError(
                    f"{source_of(campaign, output)}: {output} holds evaluations of {was}, but the study now means "
                    f"{means} (key and checksum: the layout, the best layout or the seeds have changed); nothing was "
                    "changed; use --replace-stale to compute them again, or another -o"
                )


def _layouts_of(campaign: Campaign) -> dict[str, list[str]]:
    """Every layout that an evaluation uses: by farm and type what is evaluated, by its key what stands around it."""
    call = call_of(campaign)
    assert call is not None, "the campaign is that of a study"
    layouts: Any = call.parameters["layouts"]
    types = [turbine.name for turbine in campaign.turbines]
    around = [one.pinned for text in call.cases or () for one in Case.loads(text).neighbours]
    own = {
        f"{campaign.farms[cell.farm_idx].name} {cell.label(types)}": layouts[
            cell_key(cell.farm_idx, cell.type_idx)
        ]
        for cell in campaign.cells()
    }
    return own | {one.key: [str(one)] for one in around}
