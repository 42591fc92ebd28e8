"""Which of the results that are looked at are invalid, by the one definition of done (``assembly.done``).

A look must be quick, and geometry and wind take a second to load. So what ``run``, ``merge``, ``salvage`` and
``validate`` found is read from the run directory (``store.verdicts``), and a result with the fingerprint that is asked
was checked by the worker that published it. Only results that nobody has checked yet, of a database that came from
elsewhere, are checked here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vindeby.results.columns import ResultColumns
from vindeby.results.sources import Folder
from vindeby.store.disk.run_directory import RunDirectory, Verdicts, read_verdicts
from vindeby.store.read.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable

    from vindeby.assembly.done import Judge
    from vindeby.campaign import Campaign


class Judging:
    """Keeps what it has worked out for one text of a campaign."""

    def __init__(self, run: RunDirectory) -> None:
        self._run = run
        self._stamp: tuple[object, ...] = ()
        self._known = Verdicts()
        self._judge: tuple[str, Judge] | None = None
        self._checked: object = None

    def apply(
        self, results: ResultColumns, text: str | None, campaign: Callable[[], Campaign | None]
    ) -> None:
        """Leave out of the results what is invalid; ``text`` is the campaign's, ``campaign`` loads it in full."""
        if text is None:
            return
        source = results.source
        known = self._read(text)
        if isinstance(source, Database) and known.invalid:
            source.pass_over(known.invalid, known.by_key.keys() & set(source.repeated_keys()))
            results.take_new()
        results.leave_out(known.invalid)
        covered = isinstance(source, Database) and known.covers(source.digest)
        if not covered and results.foreign and self._checked != (results.version, text):
            self._check(results, text, campaign())
            self._checked = results.version, text

    def _read(self, text: str) -> Verdicts:
        try:
            status = self._run.verdicts_file.stat()
            stamp: tuple[object, ...] = (text, status.st_ino, status.st_mtime_ns, status.st_size)
        except OSError:
            stamp = (text,)
        if stamp != self._stamp:
            self._stamp, self._known = stamp, read_verdicts(self._run, text)
        return self._known

    def _check(self, results: ResultColumns, text: str, campaign: Campaign | None) -> None:
        source = results.source
        if campaign is None or not isinstance(source, Database | Folder):
            return
        if self._judge is None or self._judge[0] != text:
            from vindeby.assembly.done import Judge  # loads shapely, and perhaps Numba: only here

            self._judge = text, Judge(campaign)
        foreign = (segment.take(segment.rows["fingerprint"] == b"") for segment in source.segments())
        results.leave_out([one.checksum for one in self._judge[1].look_at(foreign)])
