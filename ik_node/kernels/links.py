"""Poses and Jacobians of links, at given values of all joints."""

from __future__ import annotations

from ik_node.kernels.decorators import entry, FLOATS, INT, INTS, kernel
from ik_node.kernels.forward import forward, twist_of
from ik_node.kernels.layout import Floats, Ints, open_solve, Solve, unit_of_column
from ik_node.kernels.rotation import quaternion_at
from ik_node.kernels.unchecked_array import flat, table


@kernel
def place_links(s: Solve) -> None:
    """
    Write the frames of all columns and links at q.

    The model is the one of `model.flatten.flatten_links`: it has no variables, so that every
    column takes its value from q, and each of its constraints has a link as frame A.
    """
    for j in range(s.n):
        s.held[j] = s.q[s.column_q[j]] / unit_of_column(s, j)
    forward(s, s.x)


@entry(INTS, FLOATS, INTS, *3 * [FLOATS])
def link_poses(i: Ints, f: Floats, k: Ints, w: Floats, q: Floats, poses: Floats) -> int:
    """
    Write the poses (links, 7) of all links in the root frame: position [m], quaternion xyzw.

    The packed model is that of `place_links`. The values q (nq,) [rad or m] are taken as they are:
    couplings are not applied. Return 0.
    """
    # The workspace stands in for the joint table and the options, which are not read.
    s = open_solve(i, f, k, w, q, w, w)
    place_links(s)
    made = flat(poses, 7 * s.nc)
    for c in range(s.nc):
        x, y, z, real = quaternion_at(s.a_frame, 12 * c)
        for r in range(3):
            made[7 * c + r] = s.a_frame[12 * c + 9 + r] * s.length
        made[7 * c + 3] = x
        made[7 * c + 4] = y
        made[7 * c + 5] = z
        made[7 * c + 6] = real
    return 0


@entry(INTS, FLOATS, INTS, *3 * [FLOATS], INT)
def link_jacobian(
    i: Ints, f: Floats, k: Ints, w: Floats, q: Floats, jacobian: Floats, link: int
) -> int:
    """
    Write the geometric Jacobian (6, nq) of a link's origin, in the axes of the root frame.

    It has linear rows [m], then angular rows [rad], per [rad or m]; see `link_poses`. Return 0.
    """
    s = open_solve(i, f, k, w, q, w, w)
    place_links(s)
    made = table(jacobian, 6, s.nq)
    for r in range(6):
        for g in range(s.nq):
            made[r, g] = 0.0
    point = s.a_frame[12 * link + 9 :]
    j = s.a_column[link]
    while j >= 0:
        twist, unit = twist_of(s, j, point[0], point[1], point[2]), unit_of_column(s, j)
        for r in range(6):
            made[r, s.column_q[j]] = twist[r] * (s.length / unit if r < 3 else 1.0)
        j = s.parent[j]
    return 0
