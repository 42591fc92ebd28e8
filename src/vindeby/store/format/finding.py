"""Findings: what is wrong with a file or a record, in words for the user."""

from dataclasses import dataclass
from enum import Enum

from vindeby.store.format.rows import Segment
from vindeby.text import one_line


class Verdict(Enum):
    """Why a file or a record cannot be used."""

    MISSING = "missing"
    EMPTY = "empty (0 bytes)"
    TOO_SHORT = "too short"
    NO_SIGNATURE = "no HDF5 signature"
    CANNOT_OPEN = "cannot be opened"
    LEFT_OPEN = "left open by a writer"
    TRUNCATED = "truncated"
    NO_RESULTS = "holds no results"
    CHECKSUM = "checksum mismatch"
    INCOMPLETE = "incomplete record"
    NOT_MARKED = "record without success mark"
    IMPLAUSIBLE = "implausible record"
    FOREIGN = "foreign format"
    ELSEWHERE = "refers to another file"
    CRASHED = "the HDF5 library crashed on it"
    HUNG = "the HDF5 library did not come back from it"


@dataclass(frozen=True)
class Finding:
    """A verdict with its particulars; ``key`` names the record when it is about one."""

    verdict: Verdict
    detail: str = ""
    key: str = ""

    def __str__(self) -> str:
        what = f"{self.verdict.value}: {self.detail}" if self.detail else self.verdict.value
        return one_line(f"{self.key}: {what}" if self.key else what)

    def to_json(self) -> dict[str, str]:
        """Return the finding as plain data for reports."""
        return {"verdict": self.verdict.value, "detail": self.detail, "key": self.key}


def marked_rows(segment: Segment, findings: list[Finding]) -> Segment:
    """Return the records with the success mark, whatever vouches for their bytes; note the others."""
    marked = segment.marked()
    if marked.all():
        return segment
    keys = segment.rows["key"][~marked].tolist()
    findings += [Finding(Verdict.NOT_MARKED, "", key.decode(errors="replace")) for key in keys]
    return segment.take(marked)
