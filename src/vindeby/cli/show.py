"""``vindeby show OUT.h5 KEY``: pictures of layouts and of the campaign."""

from pathlib import Path

from vindeby.cli.options import (
    CampaignOption,
    OutputArgument,
    WhereOption,
    argument,
    one_of,
    option,
)
from vindeby.cli.output import echo
from vindeby.errors import ArgumentError
from vindeby.text import listed

PICTURE_NAMES = ("energy", "map", "wind", "wakes", "losses", "front", "series")
"""The keys of ``plots.PICTURES``, repeated here so that matplotlib need not be loaded."""
_NAMES = ", ".join(PICTURE_NAMES)


def command(
    output: OutputArgument,
    key: str | None = argument("KEY", "Which result, e.g. farm0_t5_s0."),
    to: Path | None = option("-o --output FILE", "Where to; .png, .svg or .pdf."),
    direction: float | None = option(
        "--direction DEGREES", "Wakes for wind from here; else the prevailing one."
    ),
    speed: float | None = option("--speed M/S", "The free wind speed for the wakes."),
    best: bool = option("--best", "The best result, instead of a KEY; with --where, of some.", False),
    picture: str | None = option(
        "--picture NAME", f"One of the campaign: {_NAMES}.", autocompletion=one_of(PICTURE_NAMES)
    ),
    where: WhereOption = None,
    campaign: CampaignOption = None,
) -> None:
    """Draw one layout with its wakes, or the campaign; writes a file."""
    from vindeby.plots import PICTURES, layout, save
    from vindeby.plots.style import format_of
    from vindeby.results.result_set import ResultSet

    if [key, best or None, picture].count(None) != 2:
        some = (
            ""
            if key or best or picture
            else f", e.g. {listed(ResultSet(output, campaign=campaign).keys, most=3)}"
        )
        raise ArgumentError(f"show: give one of KEY{some}, --best or --picture NAME")
    if picture is not None and picture not in PICTURE_NAMES:
        raise ArgumentError(f"--picture: {picture!r} is not known; use one of {_NAMES}")
    if to is not None:
        format_of(to)
    results = ResultSet(output, campaign=campaign, where=where)
    key = results.best_key() if best else key
    if key is None:
        name = str(picture)
        axes = PICTURES[name][0](results)
    else:
        name = key
        axes = layout(results, key, direction=direction, speed=speed)
    safe = "".join(letter for letter in name if letter.isalnum() or letter in "_-").strip("_-")
    path = to or Path(f"{safe}.png")
    save(axes.figure, path)
    echo(str(path))
