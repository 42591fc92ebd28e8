"""Functions for campaigns of the tests: good ones, slow ones, and every way to misbehave."""

from __future__ import annotations

import ctypes
import logging
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import shapely

from vindeby.runner import CallTask


def without_wind(task: Any) -> dict[str, Any]:
    """Numbers that depend on the seed and nothing else."""
    layout = np.random.default_rng(task.seed).uniform(size=(2, 3))
    return {"layout": layout, "extra": layout[:, :1] * 2, "note": "fine"}


def good(task: CallTask) -> dict[str, Any]:
    """A layout that keeps the rules, on points of a grid that depend on the seed and nothing else."""
    area = task.boundary.shape()
    left, bottom, right, top = area.bounds
    across, along = (
        np.arange(left + 1, right, task.min_spacing_m),
        np.arange(bottom + 1, top, task.min_spacing_m),
    )
    x, y = (points.ravel() for points in np.meshgrid(across, along))
    inside = np.flatnonzero(shapely.contains_xy(area, x, y))
    chosen = np.random.default_rng(task.seed).permutation(inside)[: task.n_turbines]
    layout = np.stack([x[chosen], y[chosen]])
    energy_gwh = 50.0 + task.seed % 100_000 / 1000  # never more than the turbines can give
    return {"layout": layout, "aep": energy_gwh, "extra": layout[:, :1] * 2, "note": "fine"}


def boastful(task: CallTask) -> dict[str, Any]:
    """A good layout, with an energy that is so much of what the wake model gives."""
    found = good(task)
    return {**found, "aep": task.wind_farm.aep(*found["layout"]) * task.parameters["share"]}


def slow(task: CallTask) -> dict[str, Any]:
    """The same, after a while; leaves a trace of each time that it was called."""
    if "trace" in task.parameters:
        with Path(task.parameters["trace"]).open("a") as file:
            file.write(f"{task.key}\n")
    time.sleep(task.parameters.get("seconds", 0.03))
    return good(task)


def at_work(task: CallTask) -> dict[str, Any]:
    """Real work of a few hundredths of a second: points pushed apart until they are spread out."""
    random = np.random.default_rng(task.seed)
    left, bottom, right, top = task.boundary.shape().bounds
    layout = random.uniform((left, bottom), (right, top), (task.n_turbines, 2)).T
    for _ in range(task.parameters.get("rounds", 300)):
        apart = layout[:, :, None] - layout[:, None, :]
        distance = np.maximum(np.hypot(*apart), 1.0)
        layout = np.clip(
            layout + 1e5 * (apart / distance**3).sum(axis=2), [[left], [bottom]], [[right], [top]]
        )
    return {**good(task), "spread": layout}


class CannotBePickledError(Exception):
    def __init__(self) -> None:
        super().__init__("a secret that cannot travel")
        self.method = lambda: None

    def __reduce__(self) -> Any:
        raise TypeError("not me")


class CannotBePrintedError(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def _raise(error: BaseException) -> None:
    raise error


def _eat_memory() -> None:
    eaten = []
    while True:
        eaten.append(np.ones(10_000_000))


def _leave_a_grandchild(task: CallTask) -> None:
    code = f"import time; open({task.parameters['grandchild']!r}, 'w').write('x'); time.sleep(1000)"
    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    while not Path(task.parameters["grandchild"]).exists():
        time.sleep(0.01)


def _leave_a_grandchild_and_die(task: CallTask) -> None:
    _leave_a_grandchild(task)
    os._exit(3)


def _print_much() -> None:
    for _ in range(10):
        os.write(2, b"x" * 999_999 + b"\n")


def _speak() -> None:
    print("printed")  # noqa: T201
    warnings.warn("a library warns", RuntimeWarning, stacklevel=1)
    logging.getLogger("library").warning("a library logs")
    subprocess.run(["echo", "from another program"], check=True)


POISONS: dict[str, Any] = {
    "segfault": lambda _: ctypes.string_at(0),
    "exit": lambda _: os._exit(0),
    "abort": lambda _: os.abort(),
    "hang in C": lambda _: re.match(r"(a+)+$", "a" * 60 + "b"),  # it keeps Python's lock for ages
    "hang": lambda _: time.sleep(1000),
    "100 GB": lambda _: bytearray(100_000_000_000),
    "eat memory": lambda _: _eat_memory(),
    "unpicklable": lambda _: _raise(CannotBePickledError()),
    "unprintable": lambda _: _raise(CannotBePrintedError()),
    "sys.exit": lambda _: sys.exit(0),
    "interrupt": lambda _: _raise(KeyboardInterrupt()),
    "kill the group": lambda _: os.killpg(0, signal.SIGKILL),
    "close everything": lambda _: os.closerange(3, 1000),
    "recursion": lambda task: POISONS["recursion"](task),
    "print": lambda _: _print_much(),
    "speak": lambda _: _speak(),
    "grandchild": _leave_a_grandchild,
    "grandchild and death": _leave_a_grandchild_and_die,
}


def poisonous(task: CallTask) -> dict[str, Any]:
    """Good, but for the seeds that ``parameters.poisons`` names."""
    name = task.parameters["poisons"].get(str(task.seed))
    result: Any = good(task)
    if name in POISONS:
        POISONS[name](task)
    elif name == "nan":
        result["layout"][1, 2] = np.nan
    elif name == "shape":
        result["layout"] = result["layout"].T
    elif name == "count":
        result["layout"] = result["layout"][:, :-1]
    elif name == "no aep":
        del result["aep"]
    elif name == "negative aep":
        result["aep"] = -1.0
    elif name == "complex":
        result["extra"] = np.ones(2, complex)
    elif name == "nothing":
        result = None
    elif name is not None:
        raise AssertionError(name)
    answer: dict[str, Any] = result
    return answer


_leak: list[Any] = []


def leaking(task: CallTask) -> dict[str, Any]:
    """Good, but forgets to give memory back."""
    _leak.append(np.ones(task.parameters["megabytes"] * 125_000))
    time.sleep(0.05)
    return good(task)


def threads(task: CallTask) -> dict[str, Any]:
    """Tells how many threads libraries may start."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return {**good(task), "threads": " ".join(os.environ[name] for name in names)}


def versatile(task: CallTask) -> dict[str, Any]:
    """Good, but may tell that it began, may be slow, may fail for one seed, may be large."""
    given = task.parameters
    if "began" in given:
        Path(given["began"]).touch()
    while "gate" in given and task.seed > 1 and not Path(given["gate"]).exists():
        time.sleep(0.02)
    time.sleep(given.get("seconds", 0.0))
    if task.seed == given.get("bad") and not Path(given.get("mended", "none")).exists():
        raise ValueError(f"no layout for seed {task.seed}")
    bulk = np.random.default_rng(task.seed).random(given.get("kilobytes", 0) * 128 + 1)
    return {**good(task), "bulk": bulk}
