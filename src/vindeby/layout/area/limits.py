"""The constraints near a layout as linear limits on a small step, and the nearest feasible step.

A step moves turbine ``i`` by ``d[i]``. Near a layout every rule is a row ``normal . (d[i] - d[j]) >= -room``
(without ``j`` at an edge or beside a neighbour). Of edges, all near ones count, so that a turbine can lean
into a corner; past a corner that points inwards the area is not convex, and the row of an edge that the
turbine has left behind is left out. Two turbines that keep to their row are at least as far apart as it says,
and straight edges are exact, so only circles make a step inexact; ``restore`` mends that, and layouts that
break the rules altogether.

The nearest step is a projection on half-spaces. Hildreth's method (1957) finds it one row at a time; a row
touches two turbines at most, so hundreds of turbines take little time. The order of the rows decides the last bits.
"""

from dataclasses import replace
from itertools import pairwise
from math import cos, hypot, sin, sqrt

import numpy as np

from vindeby.arrays import BoolArray, FloatArray, IntArray
from vindeby.errors import TaskError
from vindeby.layout.area.boundary import Zones, _nearest_edge, areas_of
from vindeby.layout.problem import Layout, LayoutProblem
from vindeby.wake.compiling.compiled import inlined, kernel, scalar

STRICT_M = 1e-6
"""The margin of layouts that keep to the rules by any exact test, whatever rounding does to them."""
EXACT_M = 1e-8
"""Layouts are mended to this: a hundredth of what the problem allows."""
GOLDEN_ANGLE = 2.399963229728653


class Limits:
    """The constraints of one problem; positions are (2, n) arrays, relative to ``origin``."""

    def __init__(self, problem: LayoutProblem, types: IntArray) -> None:
        self.origin = problem.boundary.origin
        self.areas = areas_of([zone.boundary for zone in problem.zones], self.origin)
        self.zone = problem.zone_of
        firsts = self.areas.first_edge.tolist()
        self.corners = np.concatenate([_convex_corners(self.areas.edges[a:b]) for a, b in pairwise(firsts)])
        beside = problem.neighbours
        self.beside = np.stack([beside.x, beside.y]) - self.origin[:, None]
        self.need = problem.spacing_by_type[np.append(types, beside.types)]

    def nearest_step(self, place: FloatArray, wanted: FloatArray, within: float) -> FloatArray:
        """Return the feasible step nearest to ``wanted``, with no turbine moved further than ``within`` (m)."""
        rows, normals, rooms = self._rows(place, 1.5 * within)
        step = np.array(wanted)
        _shorten(step, within)
        _project(rows, normals, rooms, step, 1e-3 * EXACT_M, 400)
        # All alike, so that the shorter step keeps to the rows too.
        longest = float(np.hypot(step[0], step[1]).max(initial=0.0))
        return step * min(1.0, 1.5 * within / longest) if longest > 0.0 else step

    def restore(self, place: FloatArray, rounds: int = 60) -> tuple[FloatArray, bool]:
        """Return the layout, moved as little as needed to become feasible, and whether it is."""
        here = np.array(place)
        step = np.zeros_like(here)
        for _ in range(rounds):
            rows, normals, rooms = self._rows(here, 1e-3)
            if not len(rooms) or rooms.min() >= -EXACT_M:
                return here, True
            step[:] = 0.0
            _project(rows, normals, rooms - 0.1 * EXACT_M, step, 0.1 * EXACT_M, 400)
            here += step
        return here, bool(self._rows(here, 0.0)[2].min(initial=0.0) >= -EXACT_M)

    def mended(self, layout: Layout, rounds: int) -> tuple[Layout, bool]:
        """Return the layout, moved as ``restore`` does, and whether it is feasible."""
        origin = self.origin[:, None]
        place, kept = self.restore(np.stack([layout.x, layout.y]) - origin, rounds)
        x, y = place + origin
        return Layout(x, y, layout.types), kept

    def _rows(self, place: FloatArray, within: float) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the turbines of each constraint (-1: none), its direction, and the slack (m)."""
        many = place.shape[1]
        everyone = np.hstack([place, self.beside])
        size = 8 * many + 16
        while True:
            rows, normals, rooms = np.empty((size, 2), np.int64), np.empty((size, 2)), np.empty(size)
            count = _gather(
                self.areas, self.corners, self.zone, everyone, self.need, many, within,
                rows, normals, rooms,
            )  # fmt: skip
            if count <= size:
                return rows[:count], normals[:count], rooms[:count]
            size = count


def strictly_kept(problem: LayoutProblem, layout: Layout) -> Layout:
    """Return the layout, moved to be ``STRICT_M`` inside all constraints; unchanged if that fails."""
    zones = [replace(zone, boundary=zone.boundary.inset(STRICT_M)) for zone in problem.zones]
    spacing = problem.spacing_by_type
    stricter = replace(
        problem,
        boundary=Zones(zones) if isinstance(problem.boundary, Zones) else zones[0].boundary,
        spacing_m=(spacing + STRICT_M * (spacing > 0.0)).tolist(),
    )
    strict, kept = Limits(stricter, layout.types).mended(layout, 60)
    return strict if kept else layout


_MOST_ROUNDS = 2000


def nearest_allowed(problem: LayoutProblem, layout: Layout) -> Layout:
    """Return the layout, moved as little as needed to become feasible; TaskError if that fails."""
    found, _ = Limits(problem, layout.types).mended(layout, _MOST_ROUNDS)
    if not problem.is_feasible(found):
        outside, too_near = problem.shortfalls(found)
        raise TaskError(
            f"cannot be repaired: of the nearest layout, a turbine is {outside:.3g} m outside and a pair "
            f"{too_near:.3g} m too near"
        )
    return strictly_kept(problem, found)


def _convex_corners(edges: FloatArray) -> BoolArray:
    """Return whether the area is convex at the start and at the end of every edge."""
    convex = np.ones((len(edges), 2), np.bool_)
    begins = {(x, y): e for e, (x, y) in enumerate(edges[:, :2].tolist())}
    for e, (ax, ay, bx, by) in enumerate(edges.tolist()):
        after = begins.get((bx, by))
        if after is not None:
            cx, cy = edges[after, 2:]
            convex[e, 1] = convex[after, 0] = (bx - ax) * (cy - by) - (by - ay) * (cx - bx) >= 0.0
    return convex


@inlined
def _add_row(count, rows, normals, rooms, who, normal, room):
    if count < rooms.size:
        rows[count, 0], rows[count, 1] = who
        normals[count, 0], normals[count, 1] = normal
        rooms[count] = room
    return count + 1


@scalar
def _edge_rows(edges, inverted, corners, px, py, within, i, count, rows, normals, rooms):
    """Add the rows of all edges near a turbine, or of the nearest alone if it is outside; return the count."""
    edge, nearest, where, inside = _nearest_edge(edges, px, py)
    if edge < 0:
        return count
    length = sqrt(nearest)
    if inside == inverted and length > 1e-7:
        ax, ay, bx, by = edges[edge]
        normal = (ax + where * (bx - ax) - px) / length, (ay + where * (by - ay) - py) / length
        return _add_row(count, rows, normals, rooms, (i, -1), normal, -length)
    if length > within:
        return count
    for e in range(edges.shape[0]):
        ax, ay, bx, by = edges[e]
        dx, dy = bx - ax, by - ay
        along = ((px - ax) * dx + (py - ay) * dy) / (dx * dx + dy * dy)
        if (along < 0.0 and not corners[e, 0]) or (along > 1.0 and not corners[e, 1]):
            continue
        along = min(1.0, max(0.0, along))
        if hypot(px - (ax + along * dx), py - (ay + along * dy)) > within:
            continue
        long = hypot(dx, dy)
        room = ((py - ay) * dx - (px - ax) * dy) / long
        if room < -1e-6:
            continue
        count = _add_row(count, rows, normals, rooms, (i, -1), (-dy / long, dx / long), room)
    return count


@kernel()
def _gather(areas, corners, zone, place, need, movable, within, rows, normals, rooms):
    count, reach = 0, need.max() + 2.0 * within
    for i in range(movable):
        px, py = place[0, i], place[1, i]
        z, discs = zone[i], areas.discs
        first, last = areas.first_edge[z], areas.first_edge[z + 1]
        count = _edge_rows(
            areas.edges[first:last], areas.inverted[z], corners[first:last], px, py, within, i, count,
            rows, normals, rooms,
        )  # fmt: skip
        for c in range(areas.first_disc[z], areas.first_disc[z + 1]):
            dx, dy, sign = px - discs[c, 0], py - discs[c, 1], discs[c, 3]
            radius = hypot(dx, dy)
            room = sign * (discs[c, 2] - radius)
            if room > within:
                continue
            if radius == 0.0:
                # From the very centre, every way out is equally short.
                dx, dy, radius = cos(GOLDEN_ANGLE * i), sin(GOLDEN_ANGLE * i), 1.0
            normal = -sign * dx / radius, -sign * dy / radius
            count = _add_row(count, rows, normals, rooms, (i, -1), normal, room)
        for j in range(i + 1, place.shape[1]):
            dx, dy = px - place[0, j], py - place[1, j]
            if abs(dx) >= reach or abs(dy) >= reach:
                continue
            least = 0.5 * (need[i] + need[j])
            far = least + 2.0 * within
            square = dx * dx + dy * dy
            if square >= far * far or least == 0.0:
                continue
            apart = sqrt(square)
            if apart < 1e-9 * least:
                # Two on one spot part along a direction of their own, the same in every run.
                dx, dy, apart = cos(GOLDEN_ANGLE * (i + 1)), sin(GOLDEN_ANGLE * (i + 1)), 1.0
                square = 0.0
            who = i, j if j < movable else -1
            count = _add_row(count, rows, normals, rooms, who, (dx / apart, dy / apart), sqrt(square) - least)
    return count


@kernel()
def _project(rows, normals, rooms, step, exact, sweeps):
    """Change ``step`` to the nearest step within all rows (up to ``exact``), by Hildreth's method."""
    weight = np.zeros(rooms.size)
    for _ in range(sweeps):
        worst = 0.0
        for r in range(rooms.size):
            i, j, nx, ny = rows[r, 0], rows[r, 1], normals[r, 0], normals[r, 1]
            value = nx * step[0, i] + ny * step[1, i] + rooms[r]
            share = 1.0
            if j >= 0:
                value -= nx * step[0, j] + ny * step[1, j]
                share = 0.5
            change = max(-share * value, -weight[r])
            if change == 0.0:
                continue
            weight[r] += change
            worst = max(worst, abs(change))
            step[0, i] += change * nx
            step[1, i] += change * ny
            if j >= 0:
                step[0, j] -= change * nx
                step[1, j] -= change * ny
        if worst <= exact:
            break


@kernel()
def _shorten(step, most):
    for i in range(step.shape[1]):
        long = hypot(step[0, i], step[1, i])
        if long > most:
            step[0, i] *= most / long
            step[1, i] *= most / long
