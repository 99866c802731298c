"""
The rows of goals that are functions of their users; docs/architecture.md, "a goal of your own".

Such a goal sees the frames of some links. Its residual r and its derivatives G_u by the twist
(v_u, w_u) of each of these frames come from a function outside, whose address stands in the
workspace. With the axis a_j of column j, and the origin p_u less that of the column,

    dr / dx_j = sum over u of G_u (a_j x (p_u - p_j), a_j)   or   G_u (a_j, 0) if j slides.
"""

from __future__ import annotations

from ctypes import c_int64, c_void_p, CFUNCTYPE
from typing import Any

from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import compiling, kernel, rare
from ik_node.kernels.forward import axis_of_motion, compose, frame_rows, put_frame
from ik_node.kernels.layout import Solve

# The type of the function outside: constraint, what it writes, and the three arrays.
FUNCTION = CFUNCTYPE(c_int64, c_int64, c_int64, c_void_p, c_void_p, c_void_p)

if compiling:
    from ik_node.kernels.numba_ext.calls import foreign_call
else:

    def foreign_call(address: int, c: int, what: int, *arrays: Any) -> int:
        """Call the C function at an address, which may write to the arrays."""
        return int(FUNCTION(int(address))(int(c), what, *(array.ctypes.data for array in arrays)))


# What the function writes for constraint c: rows to `trial`, or derivatives to `seen_vector`.
RESIDUAL, DERIVATIVES = 0, 1


@kernel
def ask_user(s: Solve, c: int, what: int) -> None:
    """Call the function of the user's goals; if it fails, the solve is interrupted."""
    if foreign_call(s.function[0], c, what, s.seen_frame, s.trial, s.seen_vector) != 0:
        s.k[now.INTERRUPTED] = 1


@rare
def user_rows(s: Solve, c: int) -> None:
    """Write the frames that goal c sees, then its rows."""
    for u in range(s.seen0[c], s.seen0[c + 1]):
        placed, j = frame_rows(s.seen_offset, 12 * u), s.seen_column[u]
        if j >= 0:
            placed = compose(s.frame, 12 * j, placed)
        put_frame(placed, s.seen_frame, 12 * u)
    ask_user(s, c, RESIDUAL)


@rare
def add_user_derivatives(s: Solve, c: int) -> None:
    """Add the derivatives of goal c by all variables to its block, at the frames it saw last."""
    ask_user(s, c, DERIVATIVES)
    for e in range(s.entry0[c], s.entry0[c + 1]):
        j, u = s.entry_column[e], s.seen0[c] + s.entry_side[e] - 1
        of, k = axis_of_motion(s, j)
        frame, point = s.frame[12 * of :], s.seen_frame[12 * u + 9 :]
        x, y, z = frame[k], frame[3 + k], frame[6 + k]
        vx, vy, vz, wx, wy, wz = x, y, z, 0.0, 0.0, 0.0
        if s.prismatic[j] == 0:
            px, py, pz = point[0] - frame[9], point[1] - frame[10], point[2] - frame[11]
            vx, vy, vz = y * pz - z * py, z * px - x * pz, x * py - y * px
            wx, wy, wz = x, y, z
        for r in range(s.row_end[c] - 6 * c):
            row = s.seen_vector[36 * u + 6 * r :]
            rate = row[0] * vx + row[1] * vy + row[2] * vz
            rate += row[3] * wx + row[4] * wy + row[5] * wz
            s.jac[6 * (s.slot0[c] + s.entry_slot[e]) + r] += s.rate[j] * rate
