"""Were the results that are there computed by another version of the engine?"""

from __future__ import annotations

from collections import Counter

from vindeby.assembly.engine_names import engine_name
from vindeby.campaign import Campaign
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.read.database import Database
from vindeby.text import plural


def other_engines(run: RunDirectory, campaign: Campaign) -> str:
    """What to say where results stand beside which others of another engine are computed; empty where none do.

    Only PyWake and FLORIS are looked at: vindeby's own changes of results are in the fingerprints.
    """
    if campaign.wake.engine is None:
        return ""
    now, found = engine_name(campaign), Counter[str]()
    with Database(run) as database:
        for segment in database.segments():
            for record in segment.records():
                found[str(record.attributes.get("engine", now))] += 1
    del found[now]
    if not found:
        return ""
    told = ", ".join(f"{count:,} by {name}" for name, count in found.most_common(3))
    count = plural(sum(found.values()), "result")
    return (
        f"{count} there already come from another engine than {now}: {told}; they are kept. "
        "To compute all with one, begin anew with another -o"
    )
