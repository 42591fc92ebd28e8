"""Boundaries in CSV files: columns by their names, and no farm that is transposed or in degrees."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.campaign.test_boundary import load_with_boundary_file
from vindeby.campaign import Campaign
from vindeby.campaign.reading.tables import read_vertices
from vindeby.errors import CampaignError

AREA = ((706694.5, 6224158.25), (711000.0, 6224158.25), (711000.0, 6229000.5), (706694.5, 6229000.5))


def table(columns: str, separator: str = ",", header: str | None = None, decimal: str = ".") -> str:
    """The area as a table; ``columns`` are letters: x, y, i for an identifier, z for a height, and a blank."""
    rows = [] if header is None else [header]
    for index, (x, y) in enumerate(AREA):
        cells = {"x": f"{x}", "y": f"{y}", "i": f"P{index}", "z": "-31.5", " ": ""}
        rows.append(separator.join(cells[column].replace(".", decimal) for column in columns))
    return "\n".join(rows) + "\n"


def refused(tmp_path: Path, text: str, name: str = "a.csv") -> str:
    with pytest.raises(CampaignError) as caught:
        load_with_boundary_file(tmp_path, name, text)
    told = str(caught.value)
    assert len(told.splitlines()) == 1, told
    return told


def polygon_of(campaign: Campaign) -> object:
    return campaign.farms[0].boundary.polygon


@pytest.mark.parametrize(
    ("columns", "header"),
    [
        ("xy", None),
        ("xy", "x,y"),
        ("yx", "y,x"),
        ("yx", "Y,X"),
        ("xy", "easting,northing"),
        ("yx", "northing,easting"),
        ("yx", "Northing (m),Easting (m)"),
        ("xy", "East,North"),
        ("yx", "N,E"),
        ("xy", "E [m],N [m]"),
        ("yx", "y_m,x_m"),
        ("yx", '"y [m]","x [m]"'),
        ("xy", "UTM_X,UTM_Y"),
        ("xy", "X_UTM32N,Y_UTM32N"),
        ("xy", "POINT_X,POINT_Y"),
        ("xy", "x coordinate,y coordinate"),
        ("ixy", "id,x,y"),
        ("iyx", "vertex,northing,easting"),
        ("xyi", "x,y,name"),
        ("ixyz", "point_id,x,y,z"),
        ("ixy", ",x,y"),
        ("ixy", "n,x,y"),
        ("zxiy", "lon,x,lat,y"),
        ("yx", "# y,x"),
        ("xy", "# the tender area, second draft"),
    ],
)
def test_columns_are_found_by_their_names_in_any_order(
    tmp_path: Path, columns: str, header: str | None
) -> None:
    assert polygon_of(load_with_boundary_file(tmp_path, "a.csv", table(columns, header=header))) == AREA


@pytest.mark.parametrize("separator", [";", "\t", ",", ", ", " ; "])
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.tsv"])
def test_columns_may_be_separated_by_commas_semicolons_and_tabs(
    tmp_path: Path, separator: str, name: str
) -> None:
    text = table("iyx", separator, separator.join(["id", "y", "x"]))
    assert polygon_of(load_with_boundary_file(tmp_path, name, text)) == AREA


@pytest.mark.parametrize(
    "text",
    [
        table("xy", ";", "x;y", decimal=","),
        table("xy", "\t", "x\ty", decimal=","),
        table("xy", ";", decimal=","),
        table("xy ", ";", "x;y;", decimal=","),
        "sep=;\n" + table("yx", ";", "y;x", decimal=","),
        table("yx", ",", "y,x").replace("\n", "\r\n"),
        table("yx", ",", "y,x").replace("\n", "\r"),
        "\ufeff" + table("yx", ",", "y,x"),
        table("yx", ",", "# a comment\n\ny,x") + "# the end\n",
        table("yx", ",", "y,x,note"),
        "Tender area\nsurveyed in May\n" + table("yx", ",", "y,x"),
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, text: str) -> None:
    assert polygon_of(load_with_boundary_file(tmp_path, "a.csv", text)) == AREA


def test_a_table_in_latin_1_is_read(tmp_path: Path) -> None:
    text = table("ixy", ";", "Name;x;y")
    load_with_boundary_file(tmp_path, "a.csv", text)
    (tmp_path / "areas" / "a.csv").write_bytes(text.replace("P", "Øst ").encode("latin-1"))
    assert polygon_of(Campaign.load(tmp_path / "c.yaml")) == AREA


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (table("xy", header="lon,lat"), 1, "longitude and latitude, in degrees; vindeby needs metres"),
        ("Latitude;Longitude\n55,5;7,1\n55,6;7,2\n55,5;7,3\n", 1, "project them to metres first"),
        ("id,lat,lon\n1,55.5,7.1\n2,55.6,7.2\n3,55.5,7.3\n", 1, "longitude and latitude"),
        ("# lon,lat\n7.1,55.5\n7.2,55.6\n7.3,55.5\n", 2, "longitude and latitude"),
        ("x [deg],y [deg]\n7.1,55.5\n7.2,55.6\n7.3,55.5\n", 1, "in degrees"),
        ("7.1,55.5\n7.2,55.6\n7.3,55.5\n", 1, "look like degrees"),
        ("55,7\n56,7\n56,8\n", 1, "look like degrees"),
        (
            "x,y\n\n-120.5,55.5\n-120.2,55.6\n-120.3,55.4\n",
            3,
            "if they are metres, name the columns x [m],y [m]",
        ),
        ("easting,northing\n350.5,55.5\n350.2,55.6\n350.3,55.4\n", 2, "look like degrees"),
    ],
)
def test_longitude_and_latitude_are_an_error_that_says_so(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    told = refused(tmp_path, text)
    assert f"a.csv:{line}: farms[0].boundary: " in told
    assert words in told
    assert "project them to metres first, to UTM for example" in told


def test_a_farm_of_a_few_metres_is_read_where_the_header_says_metres(tmp_path: Path) -> None:
    campaign = load_with_boundary_file(tmp_path, "a.csv", "x [m],y [m]\n0,0\n80,0\n80,50\n")
    assert polygon_of(campaign) == ((0.0, 0.0), (80.0, 0.0), (80.0, 50.0))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            table("xyxy", header="x,y,easting,northing"),
            1,
            "columns 1 and 3 both name the x: which of them to use",
        ),
        (table("xyxy", header="X (m),Y (m),E,N"), 1, "columns 1 and 3 both name the x"),
        (table("xyx", header="x,y,x"), 1, "columns 1 and 3 both name the x"),
        (table("xyx", header="x,y,easting"), 1, "columns 1 and 3 both name the x"),
        (table("xy", header="x,z"), 1, "names no column of y"),
        (table("xy", header="a,b"), 1, "names no column of x; name the columns in a header, e.g. x,y"),
        (table("xy", header="x [km],y [km]"), 1, "x is in km; vindeby needs metres; convert it"),
        (table("xy", header="x (ft),y (ft)"), 1, "x is in ft"),
        (table("ixy"), 1, "has no header that says which column is what"),
        (table("xyz"), 1, "name the columns in a header, e.g. x,y"),
        ("0 0\n4000 0\n4000 3000\n", 1, "names no column of x; name the columns in a header, e.g. x,y"),
        ("x,y\n0,0\n4000\n4000,3000\n", 3, "has no y"),
        ("y,id,x\n0,1\n4000,2,7\n4000,3,9\n", 2, "has no x"),
        ("x,y\n0,0\n4000,5,0\n4000,3000\n", 3, "has 3 columns instead of 2"),
        (table("xy", ",", "x,y", decimal=","), 2, "with decimal commas, separate columns by semicolons"),
        ("x;y\n0;0\n4,000;0\n4,000;3,000\n", 3, "may be a decimal comma or separate thousands"),
        ("x;y\n0;0\n1,234,567;0\n1,5;3,5\n", 3, "a comma that is not a decimal comma"),
        ("x;y\n0;0\n4.000,5;0\n1,5;3,5\n", 3, "a comma that is not a decimal comma"),
        ("x;y\n0;0\n4000,5;0\n1.5;3.5\n", 3, "decimal commas and decimal points are mixed"),
        (
            "part,x,y\n" + "".join(f"{i // 4},{i},{i * i}\n" for i in range(500, 508)),
            2,
            "'part' has 2 values",
        ),
        ('x,y\n0,0\n"4000,0\n4000,3000\n', 3, "a quotation mark is not closed"),
        ("x,y\n0," + "9" * 200_000 + "\n", 2, "cannot be split into columns"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, words: str
) -> None:
    told = refused(tmp_path, text)
    assert f"a.csv:{line}: farms[0].boundary: " in told
    assert words in told
    assert len(told) < 500


def test_a_wrong_entry_in_a_table_of_numbers_is_named_with_its_line(tmp_path: Path) -> None:
    told = refused(tmp_path, "id,y,x\n1,0,0\n2,4000,0\n3,abc,3000\n4,0,3000\n")
    assert "a.csv:4: farms[0].boundary: the y is not a number" in told


@given(st.text(max_size=60) | st.text("0123456789.,;\txyen lato\n\"'#-", max_size=80))
@settings(deadline=None, max_examples=400)
def test_any_text_ends_in_vertices_or_in_one_clear_error(text: str) -> None:
    problems: tuple[object, ...] = ()
    try:
        read_vertices(text, "a.csv", "farms[0].boundary")
    except CampaignError as error:
        problems = error.problems
    assert len(problems) <= 1


def test_vertices_above_a_later_header_are_not_dropped(tmp_path: Path) -> None:
    text = "Farm A\n1000,2000\n3000,4000\n5000,2000\nx,y\n7000,1000\n9000,1000\n9000,5000\n"
    assert "a.csv:2: " in refused(tmp_path, text)


@pytest.mark.parametrize("above", ["# a note\n" * 120, "# y,x\n"])
def test_comments_do_not_hide_the_header(tmp_path: Path, above: str) -> None:
    plain = load_with_boundary_file(tmp_path, "a.csv", table("xy", header="x,y"))
    assert polygon_of(load_with_boundary_file(tmp_path, "b.csv", above + table("xy", header="x,y"))) == (
        polygon_of(plain)
    )
