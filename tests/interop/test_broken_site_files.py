"""Site files that are wrong: each refused with words that say what and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.interop import site_examples as examples
from tests.interop.site_examples import LIB, ROSE, SERIES, TAB, wrg
from vindeby.errors import InputError
from vindeby.interop import read_site

TI = {"turbulence_intensity": 0.08}
AT = TI | {"height": 80.0, "roughness": 0.05}
WRG = wrg()

TEXTS: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "lib with blank lines": ("a.lib", LIB.replace("0.000 0.100", "\n0.000 0.100"), AT, "a.lib:3: is blank where"),
    "lib with other counts": ("a.lib", LIB.replace(" 2 2 4", " 1 2 4"), AT, "a.lib:3: has 2 entries, but"),
    "lib that ends early": ("a.lib", "\n".join(LIB.splitlines()[:-1]), AT, "ends before k at height 2"),
    "lib with more": ("a.lib", LIB + "1 2 3 4\n", AT, "a.lib:15: has 1 lines more"),
    "lib with words": ("a.lib", LIB.replace(" 8.0 9.0", " 8.0 nine"), AT, "a.lib:6: has an entry of A"),
    "lib with A of 0": ("a.lib", LIB.replace(" 8.0 9.0", " 0.0 9.0"), AT, "A that are not above 0"),
    "lib without a height": ("a.lib", LIB, TI | {"roughness": 0.0}, "height is missing"),
    "lib at another height": ("a.lib", LIB, AT | {"height": 300.0}, "the file has 50 to 100 m"),
    "lib without turbulence": ("a.lib", LIB, {"height": 80.0, "roughness": 0.05}, "turbulence_intensity is miss"),
    "lib with falling heights": ("a.lib", LIB.replace("50.0 100.0", "100.0 50.0"), AT, "that do not increase"),
    "tab with another count": ("a.tab", TAB.replace(" 4 1.00", " 5 1.00"), TI, "a.tab:4: has 4 entries"),
    "tab that is turned": ("a.tab", TAB.replace("1.00 0.00", "1.00 15.0"), TI, "turns all directions by 15"),
    "tab with falling edges": ("a.tab", TAB.replace("\n 12 ", "\n 7 "), TI, "a.tab:7: has the upper edge 7"),
    "tab without bins": ("a.tab", "\n".join(TAB.splitlines()[:4]), TI, "there are no bins"),
    "tab with a gap": ("a.tab", TAB.replace("500.0 300.0", "500.0 nan"), TI, "is not finite"),
    "tab with a negative": ("a.tab", TAB.replace("500.0 300.0", "500.0 -300.0"), TI, "negative frequency"),
    "wrg with fewer points": ("a.wrg", WRG.replace("2 3 1000", "2 2 1000"), TI, "not on the grid"),
    "wrg with more points": ("a.wrg", WRG.replace("2 3 1000", "2 4 1000"), TI, "ends before a point"),
    "wrg by blanks": ("a.wrg", "2 2 0 0 10\n" + "a 0 0 0 90 9.5 2.2 0 1 1000 95 220\n" * 4, TI, "columns"),
    "wrg with a point twice": ("a.wrg", WRG.replace("      5500", "      5000", 1), TI, "was there before"),
    "wrg with two heights": ("a.wrg", WRG.replace("   90", "   80", 1), TI, "another height"),
    "wrg cut in a line": ("a.wrg", WRG[:-6], TI, "has no k in columns"),
    "rose with a gap": ("a.csv", ROSE.replace("6.0,90,0.15", "6.0,90,"), TI, "a.csv:4: has no frequency"),
    "rose with a bin twice": ("a.csv", ROSE + "6.0,90,0.1\n", TI, "a.csv:10: is the same bin as line 4"),
    "rose of 0": ("a.csv", "ws,wd,freq_val\n8,0,0\n9,0,0\n", TI, "the frequencies sum to 0"),
    "rose with a direction of 400": ("a.csv", ROSE.replace("6.0,90", "6.0,400"), TI, "direction 400 is not"),
    "rose without turbulence": ("a.csv", ROSE, {}, "turbulence_intensity is missing"),
    "rose without speeds": ("a.csv", ROSE.replace("ws", "u10"), TI, "a.csv:1: names no column of wind speed"),
    "series with a word": ("a.csv", SERIES.replace("8.5", "calm"), {}, "a.csv:2: the wind speed is not"),
    "series in percent": ("a.csv", SERIES.replace("0.06", "6"), {}, "not in percent"),
    "series back in time": ("a.csv", SERIES.replace("T01", "T00"), {}, "the time"),
    "series without direction": ("a.csv", SERIES.replace("wd", "x"), {}, "no column of wind direction"),
    "series without turbulence": ("a.csv", SERIES.replace(",ti", ",x"), {}, "turbulence_intensity is miss"),
    "an unknown option": ("a.tab", TAB, TI | {"hight": 80.0}, "hight is not an option of a tab file"),
    "an unknown suffix": ("a.dat", TAB, TI, "does not show it"),
    "an unknown format": ("a.tab", TAB, TI | {"format": "wasp"}, "format is not known"),
    "a binary file": ("a.tab", "\0\1\2", TI, "not a text file"),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_wrong_text_is_refused_with_the_words_that_help(case: str, tmp_path: Path) -> None:
    name, text, options, words = TEXTS[case]
    (tmp_path / name).write_text(text)

    with pytest.raises(InputError) as caught:
        read_site(tmp_path / name, **options)

    assert words in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)


def _with(**changes: Any) -> Any:
    return examples.dataset(**changes)


DATASETS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no P and no Weibull": (lambda: _with().drop_vars("Weibull_k"), {}, "neither P nor Weibull_k"),
    "sectors that begin elsewhere": (
        lambda: _with(coords={"wd": [45.0, 135.0, 225.0, 315.0]}), {}, "number 1 at 45, not at 0 degrees"
    ),
    "uneven sectors": (lambda: _with(coords={"wd": [0.0, 80.0, 180.0, 270.0]}), {}, "at 80, not at 90"),
    "gaps": (lambda: _with(Weibull_A=("wd", [8.0, np.nan, 9.0, 9.0])), {}, "1 gaps in Weibull_A"),
    "no turbulence": (lambda: _with().drop_vars("TI"), {}, "the file does not have it"),
    "turbulence twice": (_with, {"turbulence_intensity": 0.1}, "given here and by the file"),
    "values by turbine": (lambda: _with(TI=("i", [0.1, 0.1]), coords={"i": [0, 1]}), {}, "number of a turbine"),
    "wind speeds replaced": (lambda: _with(WS=10.0), {}, "WS, which replaces"),
    "two norths": (
        lambda: _with(
            replace={"P": ("wd", [0.2, 0.2, 0.3, 0.2, 0.1]), "TI": 0.1},
            coords={"wd": [0.0, 90.0, 180.0, 270.0, 360.0], "ws": [9.8]},
        ), {}, "P that differs between the directions 0 and 360",
    ),
    "P without a wind speed": (
        lambda: _with(replace={"P": ("wd", list(examples.FREQUENCY)), "TI": 0.1}), {}, "wind_speeds must be one"
    ),
    "x without y": (
        lambda: _with(Speedup=("x", [1.0, 1.1]), coords={"x": [0.0, 1.0]}), {}, "give x and y together"
    ),
    "another interpolation": (_with, {"interpolation": "cubic"}, "neither linear nor nearest"),
    "frequencies in percent": (
        lambda: _with(Sector_frequency=("wd", [20.0, 10.0, 30.0, 40.0])), {}, "must be at most 1"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", DATASETS)
def test_wrong_xrsite_is_refused_with_the_words_that_help(case: str, tmp_path: Path) -> None:
    make, options, words = DATASETS[case]
    make().to_netcdf(tmp_path / "site.nc")

    with pytest.raises(InputError) as caught:
        read_site(tmp_path / "site.nc", **options)

    assert words in str(caught.value)


def test_file_that_is_no_netcdf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "site.nc").write_text("not netCDF")

    with pytest.raises(InputError, match="neither netCDF nor HDF5"):
        read_site(tmp_path / "site.nc")


def test_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for name in ("site.nc", "wind.tab"):
        with pytest.raises(InputError, match="no such file"):
            read_site(tmp_path / name, **TI)
