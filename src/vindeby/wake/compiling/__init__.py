"""Compiling loops and caching their machine code on disk, for exactly the same model only."""
