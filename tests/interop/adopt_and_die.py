"""Adopts in a process of its own and kills it with -9 at a place: ``python -m tests.interop.adopt_and_die PLACE``.

Run in the folder of the campaign, with ``t`` and ``c.yaml`` in it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vindeby.campaign import Campaign
from vindeby.interop.adopt import adopt as adopting
from vindeby.interop.adopt.report import AdoptReport
from vindeby.store.format.shard import ShardWriter

PLACES = (
    "after the first shard",
    "before the merge",
    "before the report",
)


def die(*_: Any, **__: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def then_die(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function once, and the end."""

    def once(*words: Any, **named: Any) -> None:
        function(*words, **named)
        die()

    return once


def main(place: str) -> None:
    module = vars(sys.modules[adopting.__module__])
    module["_BATCH"] = 2
    if place == "after the first shard":
        ShardWriter.publish = then_die(ShardWriter.publish)  # type: ignore[method-assign]
    elif place == "before the merge":
        module["merge"] = die
    elif place == "before the report":
        AdoptReport.keep = die  # type: ignore[method-assign]
    adopting([Path("t")], Path("new.h5"), Campaign.load("c.yaml"))


if __name__ == "__main__":
    main(sys.argv[1])
