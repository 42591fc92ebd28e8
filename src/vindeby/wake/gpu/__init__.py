"""Many layouts of one farm at once on a GPU: the same models, compiled for CUDA from the same functions.

``devices`` finds the card and says why there is none; ``turning``, ``by_state`` and ``by_table`` are the kernels;
``batches`` moves layouts to the card and results back. Nothing here is imported before a farm asks for a GPU.
"""
