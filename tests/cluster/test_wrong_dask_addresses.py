"""Addresses and scheduler files that cannot be right are refused at once, before a client tries them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vindeby.errors import ArgumentError
from vindeby.runner.cluster.connect import connected


@pytest.fixture
def no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")

    def fail(*_: Any, **__: Any) -> None:
        raise AssertionError("a client was made")

    monkeypatch.setattr(distributed, "Client", type("Client", (), {"__init__": fail}))


@pytest.mark.usefixtures("no_client")
@pytest.mark.parametrize("address", ["foo://bar:1", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:port"])
@pytest.mark.core
def test_an_address_that_cannot_be_one_is_refused(address: str) -> None:
    with (
        pytest.raises(ArgumentError, match="is not the address of a scheduler"),
        connected(address, 1.0),
    ):
        pass


@pytest.mark.usefixtures("no_client")
@pytest.mark.parametrize("text", ["", "not json", "[]", '{"a": 1}', "\x00\xff"])
def test_a_file_that_is_no_scheduler_file_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(text, encoding="latin-1")
    with (
        pytest.raises(ArgumentError, match="is not a scheduler file"),
        connected(str(file), 1.0),
    ):
        pass
