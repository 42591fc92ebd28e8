"""What a farm is worth when one turbine moves, and the walks that move one turbine at a time."""
