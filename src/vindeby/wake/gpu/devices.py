"""The choice of a device for batches of layouts, with its reason: a usable CUDA card, else the cores.

numba.cuda is imported here alone, when a card is asked for. With ``NUMBA_ENABLE_CUDASIM=1`` it is Numba's simulator,
which runs the same kernels in Python threads: for tests of small farms only.
"""

from __future__ import annotations

import importlib.util
import logging
import warnings
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from vindeby.arrays import FloatArray
from vindeby.errors import ArgumentError

Device = Literal["auto", "cpu", "cuda"]
DEVICES: tuple[Device, ...] = ("auto", "cpu", "cuda")
LEAST_CAPABILITY = (6, 0)
"""The first cards with double precision at a useful rate."""


class Batch(NamedTuple):
    """The results of many layouts: AEP in GWh by layout, its slopes in GWh per metre by layout and turbine."""

    aep: FloatArray
    slope_x: FloatArray
    slope_y: FloatArray


class FoundDevice(NamedTuple):
    """The result of looking for a CUDA card: whether kernels can use it, and ``why``: its name or the problem."""

    usable: bool
    why: str
    memory: int = 0


def cuda_module() -> Any:
    """Return ``numba.cuda``, prepared for versions of NumPy that it does not know yet."""
    if not hasattr(np, "row_stack"):
        # numba-cuda up to 0.30 registers this alias of vstack when it is imported; NumPy 2.5 removed it.
        setattr(np, "row_stack", np.vstack)  # noqa: B010 - an attribute that NumPy's types do not know
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from numba import cuda
    # The driver logs every allocation, and a busy card as an error, which would fill the log of a worker.
    logging.getLogger("numba.cuda.cudadrv.driver").setLevel(logging.CRITICAL)
    return cuda


def is_simulated() -> bool:
    from numba.core import config

    return bool(config.ENABLE_CUDASIM)


@cache
def found_device() -> FoundDevice:
    """Return the CUDA card that would be used, or why there is none."""
    if is_simulated():
        return FoundDevice(True, "Numba's CUDA simulator, which is slow", 2**30)
    if importlib.util.find_spec("numba_cuda") is None:
        return FoundDevice(False, "numba-cuda is not installed: pip install 'vindeby[gpu]'")
    try:
        cuda = cuda_module()
        if not cuda.is_available():
            return FoundDevice(False, f"CUDA finds no card: {_first_line(cuda.cuda_error()) or 'no driver'}")
        card = cuda.get_current_device()
        name = card.name.decode() if isinstance(card.name, bytes) else str(card.name)
        if tuple(card.compute_capability) < LEAST_CAPABILITY:
            return FoundDevice(False, f"{name} is too old: vindeby needs compute capability 6.0")
        free, total = cuda.current_context().get_memory_info()
    except Exception as error:  # noqa: BLE001  a driver can fail in any way, and the cores are always there
        return FoundDevice(False, f"CUDA does not start: {_first_line(error)}")
    return FoundDevice(True, f"{name}, {free / 2**30:.0f} of {total / 2**30:.0f} GiB free", int(free))


def chosen_device(device: Device) -> Literal["cpu", "cuda"]:
    """Return ``cpu`` or ``cuda``; raise ArgumentError where ``cuda`` was asked for and is not available."""
    if device not in DEVICES:
        raise ArgumentError(f"device must be 'auto', 'cpu' or 'cuda', not {device!r}")
    if device == "cpu" or (device == "auto" and is_simulated()):
        return "cpu"
    found = found_device()
    if not found.usable and device == "cuda":
        raise ArgumentError(f"device 'cuda' cannot be used: {found.why}; use device 'auto' or 'cpu'")
    return "cuda" if found.usable else "cpu"


def _first_line(error: object) -> str:
    return str(error or "").strip().partition("\n")[0]
