"""Compile loops, keep their machine code, and find it again, only for the very same model."""
