"""Were the results that are there computed by another engine, or by code that was edited since?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from vindeby.assembly.energy import engine_name
from vindeby.campaign import Campaign
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.database import Database
from vindeby.text import plural


def other_engines(run: RunDirectory, campaign: Campaign) -> Iterator[str]:
    """What to say where results stand beside which others of another engine are computed.

    Only code that the campaign does not hold is looked at: vindeby's own changes of results are in the fingerprints.
    """
    if campaign.wake.engine is None or not (run.output.exists() or run.shards.exists()):
        return
    now, found = engine_name(campaign), Counter[str]()
    with Database(run) as database:
        for segment in database.segments():
            for record in segment.records():
                found[str(record.attributes.get("engine", now))] += 1
    del found[now]
    given = campaign.wake.named_code
    if given is not None and given.code:
        edited = sum(
            found.pop(name) for name in list(found) if given.code not in name and f"{given.model} (" in name
        )
        if edited:
            yield (
                f"wake.{given.key}: the code of {given.model} has changed since {plural(edited, 'result')} were "
                "computed; they answer an older version of the campaign"
            )
    if found:
        told = ", ".join(f"{count:,} by {name}" for name, count in found.most_common(3))
        yield (
            f"{plural(sum(found.values()), 'result')} there already come from another engine than {now}: {told}; "
            "they are kept. To compute all with one, begin anew with another -o"
        )
