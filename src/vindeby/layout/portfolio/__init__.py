"""The parts of ``auto``: its budget, its curve, the starts that race, and what is done with the best of them."""
