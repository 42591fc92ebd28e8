"""windIO 2: a wind energy system and its parts, read into the sections of a campaign."""

from vindeby.interop.windio.system import System, read_system

__all__ = ["System", "read_system"]
