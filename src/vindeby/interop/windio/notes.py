"""What a reader of windIO has to say about a file: what was taken, ignored, left and chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Missing:
    """A field of the campaign that the file does not give, and why."""

    field: str
    """As ``--set`` names it: ``site.time_series.turbulence_intensity``."""
    why: str
    remedy: str


@dataclass
class Notes:
    """Said to the user, one line each."""

    taken: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    """Where windIO leaves something open, what was chosen."""
    doubtful: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Includes that were not followed."""
    schema: list[str] = field(default_factory=list)
    """Where the file does not keep to windIO's schema; or that it was not checked."""
    missing: list[Missing] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """All of it, each line with a word that says what it is."""
        for word, entries in (
            ("taken", self.taken),
            ("chosen", self.chosen),
            ("warning", self.doubtful),
            ("ignored", self.ignored),
            ("include left", self.left),
            ("schema", self.schema),
        ):
            yield from (f"{word}: {entry}" for entry in dict.fromkeys(entries))
        yield from (f"missing: {one.field}: {one.why}; {one.remedy}" for one in self.missing)
