"""What one file may cost whoever reads it: bytes, findings and seconds in proportion to its own size.

A few megabytes can describe terabytes: compressed or repeated data, names by the hundred thousand. The child that
reads a file stops when what it hands over would pass these bounds, and the parent stops a child that does not.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from vindeby.store.inspect import Finding, Verdict

_SHORTEST = 64
_LONGEST_TEXT = 1000


class SpentError(Exception):
    """A file gives more than it may; what was read so far counts."""


@dataclass
class Budget:
    """Counts down the bytes of results, and collects findings up to a number."""

    result_bytes: int
    most_findings: int
    findings: list[Finding] = field(default_factory=list)
    left_out: int = 0
    _spent: int = 0

    def spend(self, size: int) -> None:
        """So many bytes are about to be read or sent; SpentError when there are not as many left."""
        self._spent += size + _SHORTEST
        if self._spent > self.result_bytes:
            raise SpentError

    def note_spent(self) -> None:
        """Say that the file gives more than it may."""
        what = f"it gives more than {self.result_bytes} bytes of results, too many for its size"
        self.note(Verdict.IMPLAUSIBLE, f"{what}; the rest is left out")

    def note(self, verdict: Verdict, detail: str = "", key: str = "") -> None:
        """One finding; beyond a number they are only counted."""
        if len(self.findings) < self.most_findings:
            self.findings.append(Finding(verdict, detail[:_LONGEST_TEXT], key[:_LONGEST_TEXT]))
        else:
            self.left_out += 1

    def close(self) -> list[dict[str, str]]:
        """The findings, and how many more there were."""
        if self.left_out:
            rest = Finding(Verdict.INCOMPLETE, f"{self.left_out} more findings are not listed")
            return [finding.to_json() for finding in [*self.findings, rest]]
        return [finding.to_json() for finding in self.findings]
