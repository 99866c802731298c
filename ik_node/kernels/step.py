"""One damped step that keeps the bounds, and how a step is applied."""

from ik_node.kernels._jit import kernel
from ik_node.kernels.factor import factorise, solve_factored
from ik_node.kernels.forward import forward
from ik_node.kernels.layout import CON_LEVEL, Solve
from ik_node.kernels.rotation import principal_euler, turn_euler
from ik_node.kernels.rows import residuals

BOUND_ROUNDS = 8


@kernel
def add_jacobian_times_step(s: Solve, out: int) -> None:
    """Add J step to the rows that begin at s.w[out]."""
    for c in range(s.nc):
        first, slots = s.i[s.slot0 + c], s.i[s.slot0 + c + 1] - s.i[s.slot0 + c]
        for r in range(s.i[s.row0 + c], s.i[s.row0 + c + 1]):
            at = s.i[s.jac0 + c] + (r - s.i[s.row0 + c]) * slots
            total = 0.0
            for k in range(slots):
                total += s.w[s.jac + at + k] * s.w[s.step + s.i[s.slot_var + first + k]]
            s.w[out + r] += total


@kernel
def transpose_times(s: Solve, rows: int, out: int) -> None:
    """Write J^T times the rows at s.w[rows] to the variables at s.w[out]."""
    for v in range(s.nv):
        s.w[out + v] = 0.0
    for c in range(s.nc):
        first, slots = s.i[s.slot0 + c], s.i[s.slot0 + c + 1] - s.i[s.slot0 + c]
        for r in range(s.i[s.row0 + c], s.i[s.row0 + c + 1]):
            at = s.i[s.jac0 + c] + (r - s.i[s.row0 + c]) * slots
            for k in range(slots):
                v = s.i[s.slot_var + first + k]
                s.w[out + v] += s.w[s.jac + at + k] * s.w[rows + r]


@kernel
def bounded_step(s: Solve) -> None:
    """
    Find the damped step that keeps every variable within its bounds.

    Starts from `s.fixed` (1 = held), `s.wish` and `s.rhs`. A variable that the step would
    carry past a bound is put on it, and the rest is solved again for what is then left: the others
    take over its share. Every call starts anew, so a bound lets go as soon as the step points
    inward. On return `s.step` is the step and `s.rhs` is used up.
    """
    for _ in range(BOUND_ROUNDS):
        moved = False
        for v in range(s.nv):
            if s.k[s.fixed + v] == 0:
                s.w[s.step + v] = s.w[s.wish + v]
            moved = moved or s.w[s.step + v] != 0.0
        for r in range(s.nr):
            s.w[s.trial + r] = s.w[s.rhs + r]
        if moved:
            add_jacobian_times_step(s, s.rhs)
        factorise(s)
        solve_factored(s)
        for r in range(s.nr):
            s.w[s.rhs + r] = s.w[s.trial + r]
        hit = False
        for v in range(s.nv):
            if s.k[s.fixed + v] != 0 or s.k[s.free_ball + v] != 0:
                continue
            least, most = s.w[s.lower + v] - s.w[s.x + v], s.w[s.upper + v] - s.w[s.x + v]
            if s.w[s.step + v] < least:
                s.w[s.step + v], s.k[s.fixed + v], hit = least, 2, True
            elif s.w[s.step + v] > most:
                s.w[s.step + v], s.k[s.fixed + v], hit = most, 2, True
        if not hit:
            return


@kernel
def apply_step(s: Solve, start: int, out: int) -> None:
    """
    Write start + step to out, on SO(3) where a ball is free, never past a bound.

    `start` and `out` are where variables begin in s.w; they may be the same.
    """
    for v in range(s.nv):
        if s.k[s.free_ball + v] == 0:
            value = s.w[start + v] + s.w[s.step + v]
            s.w[out + v] = min(max(value, s.w[s.lower + v]), s.w[s.upper + v])
    for j in range(s.n):
        if s.i[s.ball + j] == 1 and s.k[s.free_ball + s.i[s.var + j]] == 1:
            z, y, x = s.i[s.var + j], s.i[s.var + j + 1], s.i[s.var + j + 2]
            ex, ey, ez = turn_euler(
                s.w[start + x],
                s.w[start + y],
                s.w[start + z],
                s.w[s.step + x],
                s.w[s.step + y],
                s.w[s.step + z],
            )
            if not (
                s.w[s.lower + x] <= ex <= s.w[s.upper + x]
                and s.w[s.lower + y] <= ey <= s.w[s.upper + y]
                and s.w[s.lower + z] <= ez <= s.w[s.upper + z]
            ):
                ex, ey, ez = principal_euler(ex, ey, ez)
            s.w[out + x], s.w[out + y], s.w[out + z] = ex, ey, ez


@kernel
def restore(s: Solve, level: int, closed: float) -> bool:
    """
    Bring rows of finished levels back to what they are held at, by chord steps from x_try.

    Uses the factor of the step just taken, so a step costs one forward pass and one solve; goal
    rows give way as little as they can. Returns whether all are within `closed` [m or rad].
    """
    for attempt in range(8):
        worst = 0.0
        for c in range(s.nc):
            held = s.constraints[c, CON_LEVEL] < level
            for r in range(s.i[s.row0 + c], s.i[s.row0 + c + 1]):
                s.w[s.rhs + r] = s.w[s.trial + r] - s.w[s.hold + r] if held else 0.0
                worst = max(worst, abs(s.w[s.rhs + r]))
        if worst <= closed:
            return True
        if attempt == 7 or not worst < 1e3:
            return False
        for v in range(s.nv):
            s.w[s.step + v] = 0.0
        solve_factored(s)
        apply_step(s, s.x_try, s.x_try)
        forward(s, s.x_try)
        residuals(s)
    return False
