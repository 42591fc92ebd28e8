"""Generalised wind climates of WAsP and of the Global Wind Atlas (``.lib``, ``.gwc``).

A description, three counts, roughness lengths and heights; then for every roughness a line of sector frequencies in
percent and, for every height, a line of scale parameters A and a line of shape parameters k. Frequencies are divided by
their sum. Between roughness lengths, then between heights, values are linear, as PyWake's ``GlobalWindAtlasSite`` has
them; nothing is extended beyond the first and last.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from vindeby.interop.file_reading import FileContent, Lines, Options, refuse_option
from vindeby.interop.site_files.weibull_options import given, interpolation, number, turbulence

FloatArray = npt.NDArray[np.float64]
_MOST = 400


def read(path: Path, options: Options) -> FileContent:
    """The wind climate at a height and over a roughness, as sectors of a Weibull site."""
    lines = Lines(path)
    lines.text("the description", blank=True)
    roughness, heights, sectors = _counts(lines)
    roughnesses = _axis(lines, "the roughness lengths", roughness)
    levels = _axis(lines, "the heights", heights)
    frequency, scale, shape = _climates(lines, roughness, heights, sectors)
    lines.refuse_more()
    at_roughness = place_on(options, "roughness", roughnesses)
    at_height = place_on(options, "height", levels)
    columns = {
        "frequency": between(frequency, roughnesses, at_roughness),
        "a": between(between(scale, roughnesses, at_roughness), levels, at_height),
        "k": between(between(shape, roughnesses, at_roughness), levels, at_height),
    }
    weibull = {
        "turbulence_intensity": turbulence(options),
        "interpolation": interpolation(options, "linear"),
        "sectors": [
            {
                "direction": index * 360.0 / sectors,
                **{key: float(values[index]) for key, values in columns.items()},
            }
            for index in range(sectors)
        ],
        **given(options, "wind_speeds", "direction_step", "normalise"),
    }
    note = f"taken at a height of {at_height:g} m over a roughness of {at_roughness:g} m"
    return FileContent({"weibull": weibull}, "lib", (note,))


def _counts(lines: Lines) -> tuple[int, int, int]:
    values = lines.numbers("the counts of roughness lengths, heights and sectors", 3)
    names = ("the number of roughness lengths", "the number of heights", "the number of sectors")
    counts = [lines.whole_number(value, name, 1, _MOST) for value, name in zip(values, names, strict=True)]
    return counts[0], counts[1], counts[2]


def _axis(lines: Lines, what: str, count: int) -> FloatArray:
    values = np.array(lines.numbers(what, count))
    if (np.diff(values) <= 0).any() or values[0] < 0.0:
        lines.refuse(f"has {what} that do not increase from 0 or more", "sort them with their climates")
    return values


def _climates(
    lines: Lines, roughness: int, heights: int, sectors: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Frequencies over roughness and sector; A and k over roughness, height and sector."""
    frequency = np.zeros((roughness, sectors))
    scale, shape = np.zeros((roughness, heights, sectors)), np.zeros((roughness, heights, sectors))
    for row in range(roughness):
        frequency[row] = lines.numbers(f"the frequencies of roughness {row + 1}", sectors)
        if (frequency[row] < 0.0).any() or not frequency[row].sum() > 0.0:
            lines.refuse("has frequencies that are negative, or all 0", "give percentages of the year")
        frequency[row] /= frequency[row].sum()
        for level in range(heights):
            for values, name in ((scale, "A"), (shape, "k")):
                values[row, level] = lines.numbers(f"{name} at height {level + 1}", sectors)
                if (values[row, level] <= 0.0).any():
                    lines.refuse(f"has values of {name} that are not above 0", "correct them")
    return frequency, scale, shape


def place_on(options: Options, name: str, known: FloatArray) -> float:
    """Where on an axis the climate is wanted; needs not be said where there is one point only."""
    value = number(options, name)
    range_text = f"the file has {known[0]:g} to {known[-1]:g} m"
    if value is None and len(known) > 1:
        refuse_option(
            name, "is missing: it decides what is taken from the file", f"give it in metres; {range_text}"
        )
    if value is None:
        return float(known[0])
    if not known[0] <= value <= known[-1]:
        refuse_option(name, "is outside the file", f"nothing is extended; {range_text}", value)
    return value


def between(values: FloatArray, axis: FloatArray, at: float) -> FloatArray:
    """Linear along the first axis."""
    if len(axis) == 1:
        return np.asarray(values[0])
    left = min(int(np.searchsorted(axis, at, side="right")) - 1, len(axis) - 2)
    share = (at - axis[left]) / (axis[left + 1] - axis[left])
    return np.asarray(values[left] * (1.0 - share) + values[left + 1] * share)
