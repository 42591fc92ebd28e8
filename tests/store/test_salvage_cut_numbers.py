"""A number that a cut file has only in part must not be read as another number that could be right."""

from __future__ import annotations

import struct
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.store.examples import rescued
from vindeby.campaign.tasks import KEY_OF_ATTRIBUTES, KeyParts, parse_key
from vindeby.store.foreign.guard import Guard


@pytest.mark.parametrize("kept", [0, 1, 7])
def test_a_record_whose_seed_is_cut_is_not_taken_for_that_of_another_seed(kept: int, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "whole.h5", "w") as file:
        for seed in range(300, 308):
            group = file.create_group(f"farm1_t2_s{seed}")
            group["layout"] = np.full((2, 6), float(seed))
            group.attrs.update(farm_idx=1, type_idx=2, n_turbines=6, diameter=126.0, ss_seed=seed)
    whole = (tmp_path / "whole.h5").read_bytes()
    found = 0
    with Guard() as guard:
        for seed in (303, 304):
            place = whole.index(struct.pack("<q", seed)) + kept
            (tmp_path / "cut.h5").write_bytes(whole[:place])
            _, records = rescued(tmp_path / "cut.h5", guard, KEY_OF_ATTRIBUTES)
            for record in records.values():
                real = int(record.layout[0, 0])
                assert parse_key(record.key) in {None, KeyParts(1, 2, real, "")}, record.attributes
                found += 1
    assert found
