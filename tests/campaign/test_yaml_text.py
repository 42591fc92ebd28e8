from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vindeby.campaign.reading.yaml_text import Origin, read, resolve, write
from vindeby.errors import CampaignError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e6", 1e6),
        ("1.5E-3", 1.5e-3),
        (".5", 0.5),
        ("5.", 5.0),
        ("010", 10),
        ("0x1F", 31),
        ("0o17", 15),
        ("-7", -7),
        ("~", None),
        ("null", None),
        ("", None),
        ("true", True),
        ("no", "no"),
        ("on", "on"),
        ("12:30:45", "12:30:45"),
        ("2026-01-01", "2026-01-01"),
        ("1_000", "1_000"),
        ("-.inf", float("-inf")),
    ],
)
def test_plain_scalars_follow_the_core_schema_of_yaml_1_2(text: str, value: object) -> None:
    assert resolve(text) == value
    assert type(resolve(text)) is type(value)


def test_quoted_scalars_are_text() -> None:
    assert read("a: '12'\nb: \"true\"\n", "f").data == {"a": "12", "b": "true"}


def test_every_value_knows_its_line() -> None:
    document = read("a: 1\nb:\n  - x\n  - c: 2\n    d: 3\n", "f.yaml")
    assert document.origin(("a",)) == Origin("f.yaml", 1)
    assert document.origin(("b", 0)) == Origin("f.yaml", 3)
    assert document.origin(("b", 1, "d")) == Origin("f.yaml", 5)
    assert document.origin(("b", 1, "d", "not there", 7)) == Origin("f.yaml", 5)


def test_a_value_under_its_key_has_the_line_of_the_key() -> None:
    assert read("a:\n  - 1\n", "f").origin(("a",)).line == 1


def test_an_alias_stands_for_its_anchor() -> None:
    assert read("a: &p [1, 2]\nb: *p\nc: {d: *p}\n", "f").data == {
        "a": [1, 2],
        "b": [1, 2],
        "c": {"d": [1, 2]},
    }


def test_an_alias_of_what_is_still_open_is_refused() -> None:
    with pytest.raises(CampaignError, match="stands for nothing complete"):
        read("a: &a [1, *a]\n", "f")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("farms:\n  - name: a\n   boundary: 3\n", "f:3: farms[1]: not valid YAML"),
        (
            "farms:\n  - name: a\n    boundary: [[0, 0],\n  - x\nseeds: 3\n",
            "f:4: farms[0].boundary[1]: not valid",
        ),
        ("name: a\n\tx: 1\n", "f:2: name: not valid YAML"),
        ("farms: {name: a}\n]\n", "f:2: not valid YAML"),
    ],
)
def test_a_mistake_of_form_is_named_by_what_is_read_there(text: str, place: str) -> None:
    with pytest.raises(CampaignError) as refused:
        read(text, "f")
    assert str(refused.value).startswith(place)


_PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(min_size=1, max_size=8), _PLAIN, min_size=1, max_size=5))
@example(
    {
        "a": "1e6",
        "b": "no",
        "c": "0x10",
        "d": "1_0",
        "e": "~",
        "f": "",
        "g": "- x",
        "h": "# y",
        "i": "9" * 5000,
    }
)
@example({"a": "\u2028", "b": "\x85", "c": "a: b", "d": " x ", "e": "\ufeff", "f": "\x07"})
def test_what_is_written_is_read_back_the_same(data: dict[str, Any]) -> None:
    if "<<" in repr(data):
        return
    assert read(write(data), "f").data == data


@given(st.text(max_size=60) | st.text("[]{}:,-&*a1 \n\t'\"#|>!%@`?", max_size=40))
def test_any_text_is_read_or_refused_with_its_name(text: str) -> None:
    told = "some.yaml"
    try:
        read(text, "some.yaml")
    except CampaignError as error:
        told = str(error)
    assert told.startswith("some.yaml")
