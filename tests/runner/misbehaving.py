"""Functions for campaigns of the tests that spoil the process they run in, or return what cannot be stored."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaign.examples import small
from tests.runner.functions import good
from vindeby.campaign import Campaign
from vindeby.runner import CallTask

_opened: list[int] = []


def campaign_of(function: str, seeds: int, parameters: dict[str, Any] | None = None, **run: Any) -> Campaign:
    """One farm and one type with a function of this module as its method."""
    data = small()
    data["farms"], data["turbines"] = data["farms"][:1], data["turbines"][:1]
    name = f"tests.runner.misbehaving:{function}"
    data["method"] = {"call": {"function": name, "parameters": parameters or {}, "energy": "own"}}
    data["seeds"] = seeds
    data["run"] = {"workers": 2, **run}
    return Campaign.from_data(data)


def fails_once(task: CallTask) -> dict[str, Any]:
    """The task with seed 0 raises at first; each notes when it began and ended."""
    folder = Path(task.parameters["folder"])
    if task.seed == 0 and not (folder / "failed").exists():
        (folder / "failed").touch()
        raise ValueError("not yet")
    began = time.monotonic()
    time.sleep(1.5 if task.seed else 0.1)
    (folder / f"task-{task.seed}").write_text(f"{began} {time.monotonic()}")
    return good(task)


def leaking_files(task: CallTask) -> dict[str, Any]:
    """Opens files and never closes them; as many as there can be where ``parameters.files`` is 0."""
    time.sleep(task.parameters.get("seconds", 0.0))
    _limit_files(task)
    if task.parameters["files"]:
        _opened.extend(os.open(os.devnull, os.O_RDONLY) for _ in range(task.parameters["files"]))
        return good(task)
    result = good(task)
    with contextlib.suppress(OSError):
        while True:
            _opened.append(os.open(os.devnull, os.O_RDONLY))
    return result


def borrowing_files(task: CallTask) -> dict[str, Any]:
    """Takes every descriptor that is left for a while, and gives all of them back."""
    _limit_files(task)
    taken = []
    try:
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        time.sleep(task.parameters["seconds"])
    finally:
        for descriptor in taken:
            os.close(descriptor)
    return good(task)


def _limit_files(task: CallTask) -> None:
    """Set here and not in the coordinator, so that the limit holds for workers only."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(task.parameters["limit"], hard), hard))


def changing_parameters(task: CallTask) -> dict[str, Any]:
    """Counts in its parameters, in the way that ``parameters.how`` says."""
    given: Any = task.parameters
    result = good(task)
    how = given["how"]
    if how == "item":
        given["factor"] += 1.0
    elif how == "nested":
        given["nested"]["list"].append(1.0)
    elif how == "copy":
        given = {**given, "factor": given["factor"] + 1.0}
    return {**result, "aep": result["aep"] + given["factor"] + len(given["nested"]["list"])}


class Labelled(np.ndarray[Any, Any]):
    """A subclass of ndarray, as libraries have them."""


_shared = np.zeros(3)


def returning(task: CallTask) -> dict[str, Any]:
    """Good, but with another array beside, for the seeds that ``parameters.extras`` names."""
    result = good(task)
    _shared[:] = task.seed
    extras: dict[str, Any] = {
        "masked": lambda: np.ma.masked_array([1.0, 2.0], [False, True]),
        "masked inside": lambda: [np.ma.masked_array([1.0, 2.0], [False, True]), [3.0, 4.0]],
        "17 dimensions": lambda: np.ones((1,) * 17),
        "16 dimensions": lambda: np.ones((1,) * 16),
        "object": lambda: np.array([{}, None]),
        "nan": lambda: np.array([1.0, np.nan]),
        "subclass": lambda: np.arange(3.0).view(Labelled),
        "nothing": lambda: np.ones((0, 3)),
        "read-only": lambda: np.broadcast_to(np.float64(2.0), (3,)),
        "long double": lambda: np.ones(2, np.longdouble),
        "shared": lambda: _shared,
        "ragged": lambda: [[1.0], [1.0, 2.0]],
    }
    name = task.parameters["extras"].get(str(task.seed))
    if name == "reserved":
        result["checksum"] = 1.0
    elif name is not None:
        result["extra"] = extras[name]()
    return result


def raising(task: CallTask) -> dict[str, Any]:
    """Raises an exception with a text of ``parameters.megabytes`` for seed 1."""
    if task.seed == 1:
        raise ValueError("x" * (task.parameters["megabytes"] * 1_000_000) + " the end \udc80")
    return good(task)


def _no_arrays(*_: Any, **__: Any) -> Any:
    raise RuntimeError("a stand-in that was left behind")


def spoiling(task: CallTask) -> dict[str, Any]:
    """Good, but for the seeds that ``parameters.spoilers`` names something of the process is left broken."""
    result = good(task)
    how = task.parameters["spoilers"].get(str(task.seed))
    if how is None:
        return result
    if how == "stdout":
        sys.stdout = sys.stderr = None
    elif how == "closed stdout":
        sys.stdout.close()
        sys.stderr.close()
    elif how == "closed descriptors":
        os.close(1)
        os.close(2)
    elif how == "numpy":
        np.asarray = np.array = np.concatenate = np.isfinite = _no_arrays  # type: ignore[assignment]
        time.sleep(0.3)
    elif how == "numpy and failure":
        np.asarray = np.stack = np.random.default_rng = _no_arrays
        good(task)
    elif how == "errors":
        np.seterr(all="raise")
    elif how == "os":
        os.write = os.open = os.fstat = _no_arrays
    elif how == "children":
        for _ in range(200):
            if os.fork() == 0:
                time.sleep(1000)
                os._exit(0)
    else:
        raise AssertionError(how)
    return result


def forking(task: CallTask) -> dict[str, Any]:
    """For some seeds five forked children come back out of the function, in the way that ``parameters.how`` says."""
    result = good(task)
    how = task.parameters["how"].get(str(task.seed))
    for _ in range(5 if how else 0):
        child = os.fork()
        if child == 0:
            if how == "raise":
                raise ValueError("only in the child")
            if how == "exit":
                sys.exit(7)
            return {**result, "aep": 99.0}
        result["ended"] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return result


def _square(number: int) -> int:
    return number * number


def with_a_pool(task: CallTask) -> dict[str, Any]:
    """Good, with forked processes of the standard library, given its parameters."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        squares = pool.map(_square, task.parameters["numbers"])
        sizes = pool.map(len, [task.parameters, task.parameters["numbers"]])
    return {**good(task), "squares": np.array(squares), "sizes": np.array(sizes)}


def gated(task: CallTask) -> dict[str, Any]:
    """Good, after a while; beyond ``parameters.free`` tasks only when the gate is open."""
    given = task.parameters
    while "gate" in given and task.seed >= given["free"] and not Path(given["gate"]).exists():
        time.sleep(0.01)
    time.sleep(given.get("seconds", 0.0))
    return good(task)
