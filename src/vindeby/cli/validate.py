"""``vindeby validate OUT.h5``: is every result whole and possible?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from vindeby.cli.options import CampaignOption, JsonOption, argument, option
from vindeby.cli.output import echo, echo_json, say
from vindeby.text import one_line, plural

if TYPE_CHECKING:
    from vindeby.campaign import Campaign
    from vindeby.store.validate import Check, ValidationReport

_SHOWN = 50


def command(
    output: Path = argument(
        "OUT.h5", "The database, of vindeby or of another script, or a folder of worker files.", ...
    ),
    campaign: CampaignOption = None,
    deep: bool = option("--deep", "Compute every AEP again from its layout.", False),
    json_: JsonOption = False,
) -> None:
    """Check every result: whole, marked, unchanged, expected, and possible; exit 1 when one is not."""
    from vindeby.assembly.energy import engine_warning
    from vindeby.assembly.physics import notes_of, physics_checks
    from vindeby.assembly.starts import Starts
    from vindeby.campaign.starts import has_starts
    from vindeby.results.sources import campaign_of, kept_campaign, named_output
    from vindeby.store.disk.run_directory import RunDirectory, write_verdicts
    from vindeby.store.validate import validate

    output = named_output(output)
    run = RunDirectory(output)
    loaded = campaign_of(run, campaign, lambda: None if output.is_dir() else kept_campaign(output))
    if loaded is not None and deep and (warning := engine_warning(loaded)):
        say(warning)
    checks = physics_checks(loaded, deep=deep)
    if deep and loaded is not None and has_starts(loaded):
        checks.append(Starts(loaded).check)
    if deep and loaded is not None and loaded.stored is not None:
        from vindeby.assembly.evaluation import EvaluationCheck  # loads Numba

        checks.append(EvaluationCheck(loaded, output))
    expected = None if loaded is None else loaded.fingerprints()
    report = validate(run, expected=expected, checks=checks)
    report.notes += notes_of(checks)
    if deep:
        report.not_computed_again = _skipped(report, loaded, checks)
    elif loaded is not None and expected is not None:
        write_verdicts(run, loaded.dumps(), report.verdicts(expected))
    if json_:
        echo_json(report.to_json())
    else:
        _print(report, campaign)
    if loaded is None and deep:
        say("--deep needs the campaign: no AEP was computed again")
    if loaded is None:
        say("no campaign is kept with it: what should be there is unknown; name it with --campaign FILE")
    if not report.valid:
        raise typer.Exit(1)


def _skipped(report: ValidationReport, campaign: Campaign | None, checks: list[Check]) -> dict[str, int]:
    """Return the number of records that were not computed again, by reason."""
    counted = [check.not_computed_again for check in checks if hasattr(check, "not_computed_again")]
    reason = "no campaign" if campaign is None else "method call"
    return dict(sum(counted, Counter[str]())) if counted else {reason: report.records}


def _print(report: ValidationReport, campaign: Any) -> None:

    from vindeby.store.states import TaskState
    from vindeby.store.validate import repeated

    verdict = "valid" if report.valid else "NOT valid"
    skipped = sum(report.not_computed_again.values())
    why = ", ".join(report.not_computed_again)
    left_out = f", {skipped} not computed again ({why})" if skipped else ""
    echo(
        f"{report.path}: {verdict}: {plural(report.records, 'record')} in {plural(report.files, 'file')}{left_out}"
    )
    for entry in report.contents:
        parts = [plural(entry.found, "record")] if entry.found else []
        parts += [str(finding) for finding in entry.findings if not finding.key]
        echo(f"  {entry.path}: {entry.size} bytes: {one_line('; '.join(parts))}")
    often = repeated(report.issues, _SHOWN)
    for what, count in often:
        echo(f"  {count} records: {one_line(what)}")
    said = {what for what, _ in often}
    listed = {entry.path for entry in report.contents}
    rest = [
        issue for issue in report.issues if issue.what not in said and (issue.key or issue.file not in listed)
    ]
    for issue in rest[:_SHOWN]:
        echo(f"  {issue}")
    if len(rest) > _SHOWN:
        echo(f"  and {len(rest) - _SHOWN} more; --json lists all")
    if report.missing:
        few = sum(entry.state == TaskState.INVALID for entry in report.missing)
        invalid = f" ({few} of them invalid)" if few else ""
        echo(
            f"  {plural(len(report.missing), 'expected result is', 'expected results are')} missing{invalid}; "
            f"`vindeby missing {report.path}{f' --campaign {campaign}' if campaign else ''}` lists them"
        )
    for note in report.notes:
        echo(f"  note: {one_line(note)}")
