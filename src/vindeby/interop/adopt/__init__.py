"""A campaign of an older script becomes a run of vindeby: what its files hold is saved, checked and published."""

from vindeby.interop.adopt.adopt import adopt
from vindeby.interop.adopt.report import AdoptReport

__all__ = ["AdoptReport", "adopt"]
