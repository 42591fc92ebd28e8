"""Turbines of WAsP that cut in or out between two points of their table."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.test_review_refusals import WTG
from vindeby.interop import read_turbine


@pytest.mark.filterwarnings("ignore::vindeby.interop.formats.ForeignFileWarning")
def test_the_curve_is_the_tables_up_to_where_it_is_cut(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.wtg", tmp_path / "cut.wtg"
    middle = '<DataPoint WindSpeed="12" PowerOutput="2000000" ThrustCoEfficient="0.5"/>'
    text = WTG.replace('<DataPoint WindSpeed="25"', f'{middle}<DataPoint WindSpeed="25"')
    whole.write_text(text, encoding="utf-8")
    changed = text.replace('CutIn="4"', 'CutIn="4.5"').replace('CutOut="25"', 'CutOut="22.5"')
    cut.write_text(changed, encoding="utf-8")
    inside, outside = [4.5, 4.6, 10.0, 22.4, 22.5], [0.0, 4.4, 22.6, 30.0]
    one, other = read_turbine(whole), read_turbine(cut)
    assert other.power_at(inside) == pytest.approx(one.power_at(inside), rel=1e-12)
    assert other.thrust_coefficient_at(inside) == pytest.approx(one.thrust_coefficient_at(inside), rel=1e-12)
    assert list(other.power_at(outside)) == [0.0] * 4
    assert list(other.thrust_coefficient_at(outside)) == [0.05] * 4
