"""What only the whole campaign shows: what is refused, and what looks doubtful before anything runs."""
