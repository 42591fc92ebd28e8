"""``vindeby report OUT.h5``: one self-contained page about a campaign."""

from pathlib import Path

from vindeby.cli.options import CampaignOption, OutputArgument, QuietOption, WhereOption, option
from vindeby.cli.output import echo, say


def command(
    output: OutputArgument,
    to: Path | None = option("-o --output HTML", "Where to; OUT.html if not given."),
    where: WhereOption = None,
    campaign: CampaignOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write one HTML file with everything: summary, pictures, every layout, failures, provenance."""
    from vindeby.report import build_report
    from vindeby.results.result_set import ResultSet
    from vindeby.store.disk.output_file import write_file

    result_set = ResultSet(output, campaign=campaign, where=where)
    text = build_report(result_set, (lambda _: None) if quiet else say)
    path = to or result_set.path.with_suffix(".html")
    write_file(path, text.encode())
    echo(str(path))
