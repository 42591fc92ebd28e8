"""The tasks of a campaign by number, made when they are needed: a million tasks are two lists of a few entries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vindeby.campaign import Campaign, Task, task_key
from vindeby.errors import ArgumentError


class TaskSpace:
    """Task ``number`` is seed ``number % seeds`` of cell ``number // seeds``."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.cells = campaign.cells()
        self.seeds = campaign.seeds

    def __len__(self) -> int:
        return len(self.cells) * len(self.seeds)

    def task(self, number: int) -> Task:
        """The task of this number."""
        cell, seed = divmod(number, len(self.seeds))
        return next(self.cells[cell].tasks((self.seeds[seed],)))

    def key(self, number: int) -> str:
        """Its key, without the cost of its fingerprint."""
        cell, seed = divmod(number, len(self.seeds))
        return task_key(self.cells[cell].farm_idx, self.cells[cell].type_idx, self.seeds[seed])

    def tasks(self) -> Iterator[Task]:
        """Every task, in order."""
        for cell in self.cells:
            yield from cell.tasks(self.seeds)

    def groups(self, numbers: Iterator[int]) -> list[list[int]]:
        """Numbers, sorted into their cells."""
        groups: list[list[int]] = [[] for _ in self.cells]
        for number in numbers:
            groups[number // len(self.seeds)].append(number)
        return groups


@dataclass(frozen=True)
class Part:
    """A fixed share of a campaign, ``3/32``: every 32nd task, beginning with the third."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """From the command line."""
        number, _, of = text.partition("/")
        if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of) <= 1_000_000):
            raise ArgumentError(f"--part: {text!r} is no part; write 3/32 for the third of 32")
        return cls(int(number), int(of))

    def holds(self, number: int) -> bool:
        """Does a task belong to this part?"""
        return number % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
