from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.examples import record, records
from vindeby.errors import ArgumentError
from vindeby.store.format.record import RESERVED, Record
from vindeby.store.format.rows import checksum_of, segments_of


def test_arrays_and_attributes_are_reached_by_name() -> None:
    one = record(3)
    assert one.aep == 103.0
    assert one.layout.shape == (2, 5)
    assert one.engine == "vindeby"
    with pytest.raises(AttributeError, match="has no 'power'; it has: aep, layout"):
        one.power  # noqa: B018


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key": ""}, "non-empty name"),
        ({"key": "a/b"}, "without '/'"),
        ({"key": "a\0b"}, "NUL"),
        ({"key": "\ud800"}, "not valid Unicode"),
        ({"arrays": {"status": np.zeros(2)}}, "'status' cannot be the name"),
        ({"arrays": {"names": np.array(["a"])}}, "numbers and booleans are kept"),
        ({"arrays": {"z": np.zeros(2, complex)}}, "numbers and booleans are kept"),
        ({"attributes": {"big": 2**63}}, "does not fit 64 bits"),
        ({"attributes": {"list": [1]}}, "must be text, a number or a bool"),
        ({"arrays": {"a": np.zeros(1)}, "attributes": {"a": 1}}, "both an array and an attribute"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_the_reason(changes: dict[str, Any], message: str) -> None:
    parts = {"key": "k", "fingerprint": "f", "arrays": {"x": np.zeros(2)}, "attributes": {}} | changes
    with pytest.raises(ArgumentError, match=message):
        Record(**parts)


def test_a_record_does_not_change_with_the_array_it_was_made_from() -> None:
    values = np.arange(4.0)
    one = Record("k", "f", {"x": values})
    values[0] = 99
    assert one.x[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        one.x[0] = 1


def test_a_record_can_be_copied_and_pickled() -> None:
    one = record(1)
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one


def changed(one: Record) -> list[Record]:
    """The same record with one thing different."""

    def but(**parts: Any) -> Record:
        same = {
            "key": one.key,
            "fingerprint": one.fingerprint,
            "arrays": one.arrays,
            "attributes": one.attributes,
        }
        return Record(**(same | parts))

    arrays, attributes = dict(one.arrays), dict(one.attributes)
    return [
        but(key=one.key + "0"),
        but(fingerprint="f" + one.fingerprint[1:]),
        but(arrays=arrays | {"aep": np.nextafter(arrays["aep"], 1e9)}),
        but(arrays=arrays | {"aep": np.float32(arrays["aep"])}),
        but(arrays=arrays | {"aep": np.array([arrays["aep"]])}),
        but(arrays=arrays | {"layout": arrays["layout"].T}),
        but(arrays=arrays | {"layout": arrays["layout"].reshape(5, 2)}),
        but(arrays={"layout": arrays["layout"], "AEP": arrays["aep"]}),
        but(arrays={"layout": arrays["layout"]}),
        but(attributes=attributes | {"farm": "Thor øst "}),
        but(attributes=attributes | {"seconds": -1.5}),
        but(attributes=attributes | {"ss_seed": float(attributes["ss_seed"])}),
        but(attributes=attributes | {"more": ""}),
        but(attributes={name: value for name, value in attributes.items() if name != "engine"}),
    ]


def test_the_checksum_changes_with_everything_that_a_reader_sees() -> None:
    one = record(2)
    variants = changed(one)
    assert len({checksum_of(variant) for variant in [one, *variants]}) == len(variants) + 1
    assert all(variant != one for variant in variants)


def test_the_checksum_is_the_same_alone_and_among_others() -> None:
    batch = [*records(40), Record("k", "", {"e": np.zeros((2, 0))}, {"t": ""})]
    together = {
        key.decode(): text.decode()
        for segment in segments_of(batch)
        for key, text in zip(segment.rows["key"], segment.rows["checksum"], strict=True)
    }
    assert together == {one.key: checksum_of(one) for one in batch}


def test_the_checksum_of_this_record_never_changes() -> None:
    """A change here makes every database of an older version look damaged."""
    one = Record(
        "farm0_t0_s0", "ab" * 32, {"layout": np.arange(4.0).reshape(2, 2)}, {"n": 2, "name": "x", "ok": True}
    )
    assert checksum_of(one) == "480b8de00bab8479d3ff0ea6808c0c32d161a10fd23940dde42ac14174843609"


text = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)
values = st.one_of(text, st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans())


def _can_be_a_name(name: str) -> bool:
    return bool(name) and "/" not in name and name not in RESERVED | {".", ".."}


names = text.filter(_can_be_a_name)
shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)
types = st.sampled_from(["<f8", "<f4", "<f2", "<i8", "<i4", "|i1", "|u1", "<u8", "|b1", ">f8"])


@st.composite
def any_record(draw: st.DrawFn) -> Record:
    def array(shape: tuple[int, ...], dtype: str) -> Any:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        data = draw(st.binary(min_size=size, max_size=size))
        raw = np.frombuffer(data, "u1") % 2 if dtype == "|b1" else np.frombuffer(data, "u1")
        return raw.view(dtype).reshape(shape)

    chosen = draw(st.lists(names, unique=True, max_size=6))
    half = draw(st.integers(0, len(chosen)))
    key = draw(names)
    return Record(
        key,
        draw(text),
        {name: array(draw(shapes), draw(types)) for name in chosen[:half]},
        {name: draw(values) for name in chosen[half:]},
    )


@given(st.lists(any_record(), max_size=6, unique_by=lambda one: one.key))
def test_rows_give_back_the_records_they_were_made_from(batch: list[Record]) -> None:
    segments = segments_of(batch)
    assert all(segment.intact().all() for segment in segments)
    back = {one.key: one for segment in segments for one in segment.records()}
    assert back == {one.key: one for one in batch}
