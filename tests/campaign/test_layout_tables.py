"""Layouts in tables: positions, types and farms of turbines, and what is refused with its line."""

from __future__ import annotations

import pytest

from vindeby.campaign.reading import tables
from vindeby.campaign.reading.tables import Table, TableReader, read_layout_table
from vindeby.errors import CampaignError


def read(text: str) -> Table:
    return read_layout_table(text, TableReader("ours.csv", "start.file"))


@pytest.mark.parametrize(
    "header", ["x,y", "easting,northing", "x [m],y [m]", "Easting (m),Northing (m)", "# x,y", "E,N", None]
)
def test_positions_are_found_by_their_names(header: str | None) -> None:
    table = read("\n".join(filter(None, [header, "500.5,6000", "900,7000.25"])))
    assert (table.columns, table.words) == ({"x": [500.5, 900.0], "y": [6000.0, 7000.25]}, {})
    assert table.lines == ([1, 2] if header is None else [2, 3])


def test_types_and_farms_stand_beside_positions_in_any_order() -> None:
    table = read("Farm;y;Type;x\nnorth;6000,5;V80;500,5\n\n# a note\nsouth;7000;five MW;900\n")
    assert table.columns == {"x": [500.5, 900.0], "y": [6000.5, 7000.0]}
    assert table.words == {"type": ["V80", "five MW"], "farm": ["north", "south"]}
    assert table.lines == [2, 5]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x,y\n500,6000\nnan,7000\n600,800\n", 3, "the x is not a finite number"),
        ("x,y\n500,6000\n900,inf\n600,800\n", 3, "the y is not a finite number"),
        ("x,y\n500,6000\n900\n", 3, "has no y"),
        ("x,y,type\n500,6000,V80\n900,7000\n", 3, "names no type"),
        ("x,y,farm\n500,6000,\n900,7000,a\n", 2, "names no farm"),
        ("x,y\n500,6000\n900,7000,1\n", 3, "has 3 columns instead of 2"),
        ("x,type\n500,V80\n", 1, "names no column of y"),
        ("x,y,type,model\n500,6000,a,a\n", 1, "columns 3 and 4 both name the type"),
        ("7.5,55.5\n7.6,55.6\n", 1, "look like degrees"),
        ("x [km],y [km]\n500,6000\n", 1, "the column of x is in km; vindeby needs metres"),
        ("x,y\n", 1, "has no rows below a header"),
        ("", 1, "has no rows below a header"),
    ],
)
def test_what_is_not_a_layout_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(CampaignError) as caught:
        read(text)
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"ours.csv:{line}: start.file: ")
    assert words in str(problem)
    assert problem.remedy


def test_a_table_of_too_many_turbines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_TURBINES", 2)
    assert len(read("x,y\n500,1\n600,2\n").rows) == 2
    with pytest.raises(CampaignError, match=r"ours\.csv:4: start\.file: is one row more than 2;"):
        read("x,y\n500,1\n600,2\n700,3\n800,4\n")
