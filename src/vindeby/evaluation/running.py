"""The whole of an evaluation: the study, its layouts, what is there already, then a run like any campaign's.

The database is opened read-only. Killed at any moment, call it again to resume.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vindeby.campaign import Campaign
from vindeby.campaign.doubts import notes_about_files
from vindeby.campaign.reading.yaml_text import Document
from vindeby.errors import ArgumentError, CampaignError, InputError
from vindeby.evaluation.as_campaign import call_of, campaign_of
from vindeby.evaluation.selection import Selector
from vindeby.evaluation.stored_layouts import Case, Pinned, StoredLayouts
from vindeby.evaluation.study import Study
from vindeby.runner.running import run
from vindeby.runner.summary import Summary
from vindeby.runner.supervisor import Watcher
from vindeby.store.disk.run_directory import RunDirectory


def _silent(_: object) -> None:
    """Nobody watches."""


def evaluate(
    database: str | Path,
    study: str | Path | dict[str, Any],
    output: str | Path,
    *,
    overrides: Sequence[str] = (),
    workers: int | None = None,
    part: str | None = None,
    retry_failed: bool = False,
    replace_stale: bool = False,
    on_bad: str = "abort",
    take_over: bool = False,
    on_progress: Watcher = _silent,
    on_message: Callable[[str], None] = _silent,
) -> Summary:
    """Evaluate stored layouts as a study says, into a database of its own; call it again to resume after any crash.

    ``database`` is an OUT.h5, ``study`` the path of a study file or its content as plain data, ``output`` the database
    to make. Layouts that have changed since an earlier call are refused, unless ``replace_stale``. The other arguments
    are those of ``vindeby.run``.
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
    loaded, document = _loaded(study, overrides)
    stored = StoredLayouts(Path(database))
    try:
        chosen = Selector(loaded, document, stored).select()
        return campaign_of(loaded, document, stored, chosen)
    finally:
        stored.close()


def _loaded(study: str | Path | dict[str, Any], overrides: Sequence[str]) -> tuple[Study, Document]:
    if isinstance(study, dict):
        return Study.from_data(study, overrides)
    return Study.load(study, overrides)


def refuse_changed_source(campaign: Campaign, output: Path) -> None:
    """InputError where results that are there were made of layouts that have changed since."""
    text = RunDirectory(output.absolute()).campaign_text()
    try:
        former = None if text is None else Campaign.loads(text, f"{output} (campaign)")
    except CampaignError:
        return  # the run says what is wrong with it
    if former is None or call_of(former) is None:
        return
    before, now = _pinned(former), _pinned(campaign)
    changed = [key for key, checksum in now.items() if before.get(key, checksum) != checksum]
    if changed:
        raise InputError(
            f"{_source(campaign)}: {changed[0]} {_and_more(changed)}changed since results in {output} were made of it; "
            "nothing was changed; use --replace-stale to compute them again, or another -o"
        )
    for cell, keys in _evaluated(campaign).items():
        kept = _evaluated(former).get(cell, keys)
        if keys[: len(kept)] != kept:
            raise InputError(
                f"{_source(campaign)}: {output} holds evaluations of {kept[0]}, but the study now means {keys[0]} "
                "(its best layout, or its seeds, have changed); nothing was changed; use --replace-stale to compute "
                "them again, or another -o"
            )


def _and_more(keys: Sequence[str]) -> str:
    return "has " if len(keys) == 1 else f"and {len(keys) - 1} more have "


def _source(campaign: Campaign) -> str:
    call = call_of(campaign)
    return "" if call is None else (call.context or {})["source_database"]


def _evaluated(campaign: Campaign) -> dict[str, list[str]]:
    """By farm and type name the keys of the layouts that are evaluated."""
    call = call_of(campaign)
    layouts: Any = {} if call is None else call.parameters["layouts"]
    found = {}
    for cell in campaign.cells():
        pinned = layouts[f"farm{cell.farm_idx}_t{cell.type_idx}"]
        label = cell.label([turbine.name for turbine in campaign.turbines])
        found[f"{campaign.farms[cell.farm_idx].name} {label}"] = [Pinned.parse(text).key for text in pinned]
    return found


def _pinned(campaign: Campaign) -> dict[str, str]:
    """Every layout that an evaluation uses, with its checksum."""
    call = call_of(campaign)
    assert call is not None
    layouts: Any = call.parameters["layouts"]
    own = [Pinned.parse(text) for texts in layouts.values() for text in texts]
    others = [one.pinned for text in call.cases or () for one in Case.loads(text).neighbours]
    return {one.key: one.checksum for one in (*own, *others)}
