"""``vindeby diff A.h5 B.h5``: what differs between the results of two databases."""

from dataclasses import asdict
from pathlib import Path

import typer

from vindeby.cli.options import JsonOption, argument, option
from vindeby.cli.output import echo, echo_json
from vindeby.text import plural

_LONGEST = 60
_LISTED = 20


def command(
    first: Path = argument("A.h5", "The database to compare with.", ...),
    second: Path = argument("B.h5", "The database that is compared.", ...),
    every: bool = option("--all", "List every result that differs, not only 20.", False),
    json_: JsonOption = False,
) -> None:
    """Compare two databases: results added, removed, better, worse, and fields of the campaign; exit 1 if any."""
    from vindeby.results.difference import difference
    from vindeby.results.result_set import ResultSet

    found = difference(ResultSet(first), ResultSet(second))
    if json_:
        echo_json(asdict(found))
        raise typer.Exit(0 if found.is_empty else 1)
    most = None if every else _LISTED
    echo(f"{second} against {first}, by {found.compared_by}")
    for name, before, after in found.fields[:most]:
        echo(f"  campaign: {name}: {_short(before)} -> {_short(after)}")
    _say_of_rest(len(found.fields), most, "fields of the campaign")
    echo(f"  {plural(found.same, 'result')} the same")
    for word, keys in (("added", found.added), ("removed", found.removed)):
        if keys:
            echo(f"  {plural(len(keys), 'result')} {word}: {', '.join(keys[:most])}")
            _say_of_rest(len(keys), most, f"results {word}")
    lists = found.better, found.worse, found.equal, found.not_comparable
    for word, changed in zip(("better", "worse", "as good", "not comparable"), lists, strict=True):
        if not changed:
            continue
        gains = [one.gain_percent for one in changed if one.gain_percent is not None]
        mean = f", by {sum(gains) / len(gains):+.4f}% on average" if gains else ""
        if changed is found.not_comparable:
            mean = f", as their campaigns differ in {', '.join(found.unlike)}"
        echo(f"  {plural(len(changed), 'result')} {word}{mean}")
        for one in sorted(changed, key=lambda one: -abs(one.gain_percent or 0.0))[:most]:
            other = "" if one.is_same_task else ", from a task with other settings"
            percent = "" if one.gain_percent is None else f" ({one.gain_percent:+.4f}%)"
            figures = f"{one.before:,.3f} -> {one.after:,.3f}{percent}"
            echo(f"    {one.key}: {figures}, {plural(one.moved, 'turbine')} moved{other}")
        _say_of_rest(len(changed), most, f"results {word}")
    if found.not_comparable:
        echo("  to compare the layouts, run `vindeby evaluate` on both databases with the same campaign")
    raise typer.Exit(0 if found.is_empty else 1)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _say_of_rest(count: int, most: int | None, what: str) -> None:
    if most is not None and count > most:
        echo(f"    and {count - most:,} more {what}; --all lists them")
