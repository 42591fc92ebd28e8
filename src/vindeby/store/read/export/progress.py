"""How far a database is, as a notebook shows it: a bar, and a row for each farm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from vindeby.campaign.outline import Outline
from vindeby.campaign.tasks import parse_key
from vindeby.notebook import heading, progress_bar, table
from vindeby.text import plural


def progress(name: str, keys: Iterable[str], outline: Outline | None, bad_files: int = 0) -> str:
    """The progress of the results with these keys, as HTML.

    What is counted is what is there; whether each is valid, ``vindeby validate`` says.
    """
    places = [parse_key(key) for key in keys]
    bad = f"; {plural(bad_files, 'file')} with something wrong" if bad_files else ""
    if outline is None:
        return heading(
            name, f"{plural(len(places), 'result')}; no campaign says how many there should be{bad}"
        )
    seeds, cells = set(outline.seeds), {(cell.farm_idx, cell.type_idx) for cell in outline.cells}
    expected = [place for place in places if place and place[:2] in cells and place[2] in seeds]
    done, asked = Counter(place[0] for place in expected), Counter(farm for farm, _ in cells)
    others = len(places) - len(expected)
    more = f"; {plural(others, 'result')} of no task of this campaign" if others else ""
    title = f"{len(expected):,} of {plural(outline.total_configs, 'result')} of campaign {outline.name}{more}{bad}"
    rows = [
        (f"farm{index}", farm, f"{done[index]:,}", f"{asked[index] * len(seeds):,}")
        for index, farm in enumerate(outline.farms)
    ]
    bar = progress_bar(len(expected), outline.total_configs)
    return heading(name, title) + bar + table(("farm", "name", "results", "expected"), rows)
