"""Shared parts of the methods that move all turbines along the gradient."""
