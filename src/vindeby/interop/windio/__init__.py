"""windIO 2: a wind energy system and its parts, read into the sections of a campaign."""
