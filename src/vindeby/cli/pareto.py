"""``vindeby pareto OUT.h5``: the fronts of a campaign with two objectives."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from vindeby.cli.options import JsonOption, OutputArgument, given_campaign, option, taking
from vindeby.cli.output import echo, echo_json, say
from vindeby.text import plural

if TYPE_CHECKING:
    from vindeby.results.fronts import ParetoFront


@taking("given", given_campaign)
def command(
    output: OutputArgument,
    to: Path | None = option("-o --output FILE", "A picture; .png, .svg or .pdf."),
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
        echo_json([front.as_data() for front in fronts])
        return
    for front in fronts:
        _print(front)


def _print(front: "ParetoFront") -> None:
    title, (least, most) = front.against.label, front.reference
    dominated = sum(point.is_dominated for point in front.points)
    echo(f"{front.farm}, {front.type}: {plural(len(front.points), 'result')}, {dominated} of them dominated")
    worst = f"the worst of each objective: {least:,.3f} GWh and {title} {most:,.6g}"
    echo(f"hypervolume {front.hypervolume:,.6g}, the area between the front and {worst}")
    width = max(len(point.key) for point in front.points)
    echo(f"{'key':<{width}}  weight      AEP, GWh  {title:>18}")
    for point in front.points:
        weight = "" if point.weight is None else f"{point.weight:.4f}"
        mark = f"  dominated, by {point.lost_gwh:.3f} GWh" if point.is_dominated else ""
        echo(f"{point.key:<{width}}  {weight:>6}  {point.aep_gwh:12,.3f}  {point.other:18,.3f}{mark}")
