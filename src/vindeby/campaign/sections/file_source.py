"""Where a section came from that stood in a file of another tool: kept for the record, and decides no result."""

from __future__ import annotations

from vindeby.campaign.sections.values import Section, Text


class FileSource(Section):
    """The name of the file, its format, and what had to be said about reading it."""

    file: Text
    """The name of the file."""
    format: Text
    """Its format."""
    notes: tuple[Text, ...] | None = None
    """What was ignored or converted."""
