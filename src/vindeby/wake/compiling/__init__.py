"""How loops are compiled, and how their machine code is kept and found again: only for the very same model."""
