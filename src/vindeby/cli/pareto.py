"""``vindeby pareto OUT.h5``: the fronts of a campaign with two objectives."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vindeby.cli.options import JsonOption, OutputArgument, given_campaign, taking
from vindeby.cli.output import echo, echo_json, say

if TYPE_CHECKING:
    from vindeby.results.fronts import Front


@taking("given", given_campaign)
def command(
    output: OutputArgument,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="A picture; .png, .svg or .pdf.")
    ] = None,
    given: Any = None,
    json_: JsonOption = False,
) -> None:
    """List the results of each farm and type by both objectives; marks what another result dominates."""
    from vindeby.results.fronts import fronts_of
    from vindeby.results.result_set import ResultSet

    result_set = ResultSet(output, campaign=given)
    fronts = fronts_of(result_set)
    if to is not None:
        from vindeby.plots import PICTURES, save

        save(PICTURES["front"][0](result_set).figure, to)
        say(f"wrote {to}")
    if json_:
        echo_json([_as_data(front) for front in fronts])
        return
    for front in fronts:
        _print(front)


def _points(front: "Front") -> list[tuple[Any, ...]]:
    numbers = (front.weights, front.aep_gwh, front.other, front.is_dominated, front.lost_gwh)
    return list(zip(front.keys, *(column.tolist() for column in numbers), strict=True))


def _as_data(front: "Front") -> dict[str, Any]:
    names = ("key", "weight", "aep_gwh", front.against.attribute, "is_dominated", "lost_gwh")
    points = [dict(zip(names, point, strict=True)) for point in _points(front)]
    for point in points:
        point["weight"] = None if point["weight"] != point["weight"] else point["weight"]
    return {
        "farm": front.farm,
        "type": front.type,
        "objectives": ["aep_gwh", front.against.attribute],
        "reference": front.reference,
        "hypervolume": front.hypervolume,
        "points": points,
    }


def _print(front: "Front") -> None:
    about, title = front.against, f"{front.against.title}, {front.against.unit}".rstrip(", ")
    least, most = front.reference
    dominated = int(front.is_dominated.sum())
    corner = f"{least:,.3f} GWh and {most:,.6g} {about.unit or about.title}"
    echo(f"{front.farm}, {front.type}: {len(front.keys)} results, {dominated} of them dominated")
    echo(f"hypervolume {front.hypervolume:.6g}, of the box that ends at {corner}")
    width = max(map(len, front.keys))
    echo(f"{'key':<{width}}  {'weight':>7}  {'AEP, GWh':>12}  {title:>18}")
    for key, weight, aep, other, is_dominated, lost in _points(front):
        mark = f"  dominated, by {lost:.3f} GWh" if is_dominated else ""
        echo(f"{key:<{width}}  {weight:7.4f}  {aep:12,.3f}  {other:18,.3f}{mark}")
