"""``vindeby pareto OUT.h5``: the fronts of a campaign with two objectives."""

from typing import TYPE_CHECKING

from vindeby.cli.options import CampaignOption, JsonOption, OutputArgument
from vindeby.cli.output import echo, echo_json, echo_table
from vindeby.text import plural

if TYPE_CHECKING:
    from vindeby.results.fronts import ParetoFront


def command(
    output: OutputArgument,
    campaign: CampaignOption = None,
    json_: JsonOption = False,
) -> None:
    """List the results of each farm and type by both objectives; marks what another result dominates."""
    from vindeby.results.fronts import fronts_of
    from vindeby.results.result_set import ResultSet

    result_set = ResultSet(output, campaign=campaign)
    fronts = fronts_of(result_set)
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
    rows = [("key", "weight", "AEP, GWh", title, "")]
    for point in front.points:
        weight = "" if point.weight is None else f"{point.weight:.4f}"
        mark = f"dominated, by {point.lost_gwh:.3f} GWh" if point.is_dominated else ""
        rows.append((point.key, weight, f"{point.aep_gwh:,.3f}", f"{point.other:,.3f}", mark))
    echo_table(rows)
