"""A random search for a minimum of the Rastrigin function; it does not depend on vindeby."""

from typing import Any

import numpy as np


def rastrigin(x: np.ndarray) -> float:
    return float(10 * x.size + np.sum(x**2 - 10 * np.cos(2 * np.pi * x)))


def minimise(task: Any) -> dict[str, Any]:
    """Return the best point found and its value; the seed of the task determines the start and every step."""
    random = np.random.default_rng(task.seed)
    x = random.uniform(-5.12, 5.12, task.parameters["dimensions"])
    value = rastrigin(x)
    for step in range(task.parameters["steps"]):
        candidate, place = x.copy(), random.integers(x.size)
        far, near = random.uniform(-5.12, 5.12), x[place] + 0.02 * random.normal()
        candidate[place] = far if step % 2 else near
        if (found := rastrigin(candidate)) < value:
            x, value = candidate, found
    return {"x": x, "value": value}
