"""Evaluating many layouts of one farm at once on a GPU, with the same models compiled for CUDA.

``devices`` finds the card and says why there is none; ``turning``, ``by_state`` and ``by_table`` are the kernels;
``batches`` moves layouts to the card and results back. Nothing here is imported before a farm asks for a GPU.
"""
