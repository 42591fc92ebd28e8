"""RO-Crate: every file is described, every link leads somewhere, and nobody is made up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.interop import exports
from tests.interop.exports import campaign, record
from vindeby.campaign import Campaign
from vindeby.interop.export.chosen import Selection
from vindeby.interop.export.exporting import Options, export
from vindeby.results.result_set import ResultSet
from vindeby.store.format.record import Record

TOKEN = "swordfish"


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a campaign with a command that holds a token, computed by another version than this one."""
    asked = Campaign.from_data(
        {**campaign().to_data(), "run": {"notify": f"curl https://{TOKEN}@example.org"}}
    )

    def versioned(*given: Any) -> Record:
        one = record(*given)
        return replace(one, attributes={**one.attributes, "version": "0.0.7"})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exports, "record", versioned)
        return exports.database(tmp_path_factory.mktemp("crate") / "layouts.h5", asked)


def exported(stored: Path, to: Path, *keys: str) -> dict[str, dict[str, Any]]:
    export(ResultSet(stored), "ro-crate", to, Selection(keys=keys), Options(force=True))
    graph = json.loads((to / "ro-crate-metadata.json").read_text())["@graph"]
    assert len({entity["@id"] for entity in graph}) == len(graph)
    return {entity["@id"]: entity for entity in graph}


def links(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["@id"]] if value.keys() == {"@id"} else []
        return own + [link for inner in value.values() for link in links(inner)]
    return [link for inner in value for link in links(inner)] if isinstance(value, list) else []


def test_every_file_is_described_and_every_link_leads_somewhere(stored: Path, tmp_path: Path) -> None:
    entities = exported(stored, tmp_path / "c")
    files = {path.name for path in (tmp_path / "c").iterdir()} - {"ro-crate-metadata.json"}
    assert files == {"campaign.yaml", "results.csv", "turbines.csv", "database.h5", "vindeby-export.json"}
    assert {part["@id"] for part in entities["./"]["hasPart"]} == files
    for name in files:
        assert int(entities[name]["contentSize"]) == (tmp_path / "c" / name).stat().st_size
    outside = {"https://w3id.org/ro/crate/1.1"}
    assert {link for entity in entities.values() for link in links(entity)} <= entities.keys() | outside


def test_the_computation_leads_from_the_campaign_to_the_results(stored: Path, tmp_path: Path) -> None:
    entities = exported(stored, tmp_path / "c")
    action = entities["#computation"]
    assert links(action["object"]) == ["campaign.yaml"]
    assert {"@id": "database.h5"} in action["result"]
    assert {"@id": "campaign.yaml"} not in action["result"]
    versions = {entities[one]["softwareVersion"] for one in links(action["instrument"])}
    assert versions == {"0.0.7", "vindeby"}  # of vindeby, and of the engine that the results name
    assert "agent" not in action
    assert not {"Person", "Organization"} & {str(entity["@type"]) for entity in entities.values()}
    kept = Campaign.loads((tmp_path / "c" / "campaign.yaml").read_text())
    assert kept.fingerprints() == campaign().fingerprints()
    assert (tmp_path / "c" / "database.h5").read_bytes() == stored.read_bytes()


def test_a_command_of_the_run_is_in_no_file(stored: Path, tmp_path: Path) -> None:
    exported(stored, tmp_path / "c")
    assert [path.name for path in (tmp_path / "c").iterdir() if TOKEN.encode() in path.read_bytes()] == []
    (frozen,) = Path(f"{stored}.run").glob("campaign.yaml*")
    assert TOKEN in frozen.read_text()  # a resumed run still notifies


def test_a_selection_leaves_the_database_out(stored: Path, tmp_path: Path) -> None:
    entities = exported(stored, tmp_path / "c", "farm0_t0_s0")
    assert "database.h5" not in entities
    assert (tmp_path / "c" / "results.csv").read_text().count("\n") == 2
