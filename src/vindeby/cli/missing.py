"""``vindeby missing OUT.h5``: the configurations that have no valid result, with their state and why."""

import typer

from vindeby.cli.options import CampaignOption, JsonOption, OutputOrFolderArgument, option
from vindeby.cli.output import echo_json, echo_text, say
from vindeby.errors import ArgumentError
from vindeby.text import one_line, part_of, plural


def command(
    output: OutputOrFolderArgument,
    where: str | None = option("--where EXPRESSION", "Only tasks that this is true for: \"farm == 'west'\"."),
    campaign: CampaignOption = None,
    format: str = option("--format text|csv|json", "How to print the list.", "text"),
    json_: JsonOption = False,
) -> None:
    """List the configurations that have no valid result, with their state and why; exit 1 when there are any."""
    import numpy as np

    from vindeby.results.expected import Expected
    from vindeby.results.history import RunHistory
    from vindeby.results.missing import missing_from
    from vindeby.results.query import Query
    from vindeby.results.sources import campaign_of, open_source
    from vindeby.results.written import FORMS

    if format not in ("text", "csv", "json"):
        raise ArgumentError(f"--format: {format!r} is not known; use text, csv or json")
    source = open_source(output)
    asked = campaign_of(source.run, campaign, source.campaign_text)
    if asked is None:
        raise ArgumentError(
            f"{source.path}: no campaign is kept with these results; name it with --campaign FILE"
        )
    if source.path.is_dir():  # the list of keys alone would not say why they are missing
        for path, records in source.counts().items():
            what = [plural(records, "record")] if records else []
            say(f"{path}: " + "; ".join([*what, *map(str, source.findings.get(path, []))]))
    history = RunHistory(source.run)
    history.refresh(complete=True)
    missing, tasks = missing_from(source, asked, history), asked.fingerprints()
    names = Expected.of(asked).columns_of(tasks)
    chosen = np.ones(len(tasks), bool) if where is None else Query(where).matches(names, len(tasks))
    number_of = {key: number for number, key in enumerate(tasks)}
    rows = [
        {
            "key": one.key,
            **{axis: str(names[axis][number_of[one.key]]) for axis in asked.axes},
            **one.to_json(),
        }
        for one in missing
        if chosen[number_of[one.key]]
    ]
    if json_ or format == "json":
        echo_json(rows)
    elif format == "csv":
        echo_text(FORMS["csv"](rows, ["key", *asked.axes, "state", "why"]))
    else:
        echo_text("".join("\t".join(one_line(part) for part in row.values() if part) + "\n" for row in rows))
    total = int(chosen.sum())
    if rows:
        say(f"{part_of(len(rows), total, 'result')} missing")
        raise typer.Exit(1)
    say(f"{part_of(total, total, 'result')} there")
