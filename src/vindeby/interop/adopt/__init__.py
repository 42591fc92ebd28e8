"""The adoption of an older script's campaign: the content of its files is saved, checked and published."""

from vindeby.interop.adopt.adopt import adopt
from vindeby.interop.adopt.report import AdoptReport

__all__ = ["AdoptReport", "adopt"]
