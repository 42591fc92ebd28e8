"""Results whose objective is not stored, beside others whose is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.campaign.costed import COSTED
from tests.campaign.zoned import ZONED
from vindeby.assembly.stored_layouts import keys_by_worth
from vindeby.campaign import Campaign
from vindeby.report.gather import results_data
from vindeby.results.columns import columns_of, worths_of
from vindeby.results.result_set import ResultSet
from vindeby.results.web import asset
from vindeby.store.disk.run_directory import RunDirectory
from vindeby.store.format.record import Attribute, Record
from vindeby.store.format.shard import ShardWriter
from vindeby.store.merge.merge import MergeOptions, merge
from vindeby.store.read.database import Database

CORNERS = np.array([[0.0, 1500.0, 0.0, 1500.0], [0.0, 0.0, 1500.0, 1500.0]])


def found(
    key: str, count: int, aep_gwh: float, objective: float | None = None, mixed: bool = False
) -> Record:
    """A result that another program may have left; an energy of 0 means that none was stored."""
    farm, kind, seed = (int(part.lstrip("farmts")) for part in key.split("_"))
    arrays = {"layout": CORNERS[:, :count], "aep": np.array(aep_gwh)}
    if mixed:
        arrays["types"] = np.array([0] * (count - 1) + [1])
    attributes: dict[str, Attribute] = {
        "farm_idx": farm,
        "type_idx": kind,
        "ss_seed": seed,
        "n_turbines": count,
    }
    return Record(key, "", arrays, attributes | ({} if objective is None else {"objective": objective}))


def database(folder: Path, *records: Record) -> RunDirectory:
    run, campaign = RunDirectory(folder / "o.h5").create(), Campaign.loads(COSTED)
    run.freeze_campaign(campaign.dumps())
    ShardWriter(run).publish(records)
    merge(run, MergeOptions(root=campaign.root_attributes()))
    return run


def test_a_fixed_mix_is_known_without_its_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c.yaml").write_text(ZONED)
    run = database(tmp_path, found("farm2_t0_s0", 4, 43.0))
    results = ResultSet(run.output, campaign=str(tmp_path / "c.yaml"))
    results.rows["aep"] = 43.0  # it is invalid without its types
    monkeypatch.setattr(ResultSet, "record", lambda *_: pytest.fail("read"))
    assert results.mean_rated_mw(results.rows).tolist() == [pytest.approx(26 / 6)]
    assert np.isfinite(results.wake_losses()).all()


def test_without_a_campaign_names_are_those_of_the_keys_however_large(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "o.h5").create()
    ShardWriter(run).publish([found("farm1000000_t0_s0", 2, 20.0)])
    results = ResultSet(run.output)
    assert results.axes.farms == ()  # no name for each lower number, which may be millions
    names = results.axes.farm_name(1_000_000), results.axes.type_name(0), results.axes.cell_name(1_000_000, 0)
    assert names == ("farm1000000", "t0", "t0")


def test_with_costs_the_lowest_lcoe_is_best_and_an_unknown_one_is_not_compared(tmp_path: Path) -> None:
    campaign = Campaign.loads(COSTED)
    run = database(
        tmp_path,
        found("farm0_t0_s0", 4, 40.0, objective=60.0),
        found("farm0_t0_s1", 4, 36.0, objective=50.0),
        found("farm0_t0_s2", 4, 70.0),
    )
    with Database(run) as stored:
        rows = columns_of([*stored.segments()])
    keys = [key.decode() for key in rows["key"]]
    worths = dict(zip(keys, worths_of(rows, campaign).tolist(), strict=True))
    assert np.isnan(worths.pop("farm0_t0_s2"))
    assert worths == {"farm0_t0_s0": -60.0, "farm0_t0_s1": -50.0}
    with Database(run) as opened:
        assert keys_by_worth(opened, campaign) == {(0, 0): ["farm0_t0_s1", "farm0_t0_s0"]}


def test_a_report_begins_with_the_best_by_the_objective(tmp_path: Path) -> None:
    run = database(
        tmp_path, found("farm0_t0_s0", 4, 40.0, objective=60.0), found("farm0_t0_s1", 4, 36.0, objective=50.0)
    )
    (tmp_path / "costed.yaml").write_text(COSTED)
    data = results_data(ResultSet(run.output, campaign=str(tmp_path / "costed.yaml")))
    assert (data["sign"], [row["objective"] for row in data["results"]]) == (-1.0, [60.0, 50.0])
    script = asset("report.js")
    assert script.index('["objective", "objective"') < script.index('["aep", "AEP, GWh"')
    assert "sortBy(columns[1][0])" in script
