"""Dask workers that come back again and again without doing anything: a nanny restarts a worker whatever it dies of.

Each time it has another address, so only what stays the same tells that it is the same: the address of its nanny, or
its name. One that was lost several times in a row before anything was finished on it is not used any more. Where it is
the only one, it has more tries: the cause may be a task, which the plan finds and sets aside meanwhile.
"""

from __future__ import annotations

from collections import Counter

from vindeby.runner.cluster.node import Node

LOSSES = 3
LOSSES_ALONE = 10


class Restarts:
    """How often each Dask worker was lost in a row without a result, and which are not used any more."""

    def __init__(self) -> None:
        self._fruitless: Counter[str] = Counter()
        self._given_up: set[str] = set()

    def lost(self, node: Node, *, alone: bool) -> str:
        """Count a loss; why the Dask worker is given up, if it is now."""
        if not node.identity:
            return ""
        if node.fruitful:
            del self._fruitless[node.identity]
            return ""
        self._fruitless[node.identity] += 1
        count = self._fruitless[node.identity]
        if count < (LOSSES_ALONE if alone else LOSSES):
            return ""
        self._given_up.add(node.identity)
        return (
            f"the Dask worker {node} was lost and came back {count} times in a row without finishing a task "
            f"({node.identity}); it is not used any more, see its own log for what ends it, such as its memory limit"
        )

    def is_given_up(self, identity: str) -> bool:
        """Is this Dask worker, under whatever address, not to be used?"""
        return identity in self._given_up
