"""The energy of a farm when one turbine moves, and the walks that move one turbine at a time."""
