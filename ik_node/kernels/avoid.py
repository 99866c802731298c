"""
Pairs of bodies as inequality rows: theory.md, section 16.

A constraint of kind avoid has six rows, each for one pair A, B of bodies that is near at x, with
the residual r = margin - d. Only a positive r counts. With the unit vector n from B to A and the
nearest points p, r changes by -n . (J_A(p_A) - J_B(p_B)) dx. The pairs that have no row are
farther apart than those that have one, or beyond the influence distance; where a step brings them
nearer than the margin, they count in its cost.
"""

from __future__ import annotations

from ik_node.kernels import solve_state as now
from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.distance import ENDLESS, measure_all, place_bodies
from ik_node.kernels.forward import twist_of
from ik_node.kernels.kinds import KIND_AVOID
from ik_node.kernels.layout import BLOCK, Floats, RESULT, Solve
from ik_node.kernels.options import COLLISION_MARGIN, INFLUENCE_DISTANCE


@kernel
def reach_of(s: Solve) -> float:
    """Return the distance up to which pairs have rows [L]."""
    return float((s.options[COLLISION_MARGIN] + s.options[INFLUENCE_DISTANCE]) / s.length)


@kernel
def excess_of(s: Solve, check: int) -> float:
    """Return by how much a pair is nearer than its margin [L]; of none, what has no effect."""
    distance = s.check_result[RESULT * check] if check >= 0 else ENDLESS
    return float(s.check_margin[check] - distance if distance < ENDLESS else -reach_of(s))


@rare
def measure_pairs(s: Solve) -> None:
    """Measure all pairs at the present frames, and sum up those that have no row."""
    if s.k[now.UNBOUNDED] == 1:
        for check in range(s.checks):
            s.check_result[RESULT * check] = ENDLESS
    else:
        place_bodies(s)
        measure_all(s, reach_of(s))
    sum_up(s)


@rare
def sum_up(s: Solve) -> None:
    """Write CLOSENESS, of all pairs, and CROWD, of those without a row."""
    margin, worst, total = s.options[COLLISION_MARGIN] / s.length, 0.0, 0.0
    for check in range(s.checks):
        worst = max(worst, margin - s.check_result[RESULT * check])
        if s.check_row[check] < 0:
            excess = max(excess_of(s, check), 0.0)
            total += 0.5 * excess * excess
    s.w[now.CLOSENESS], s.w[now.CROWD] = worst, total


@rare
def choose_pairs(s: Solve) -> None:
    """
    Give the rows of all constraints of kind avoid to the nearest pairs at x.

    The measured distances must be those of x, and so are residual and `trial` afterwards.
    """
    reach, last = reach_of(s), -1
    for check in range(s.checks):
        s.check_row[check] = -1
    for c in range(s.nc):
        for r in range(BLOCK * c, BLOCK * c + BLOCK if s.kind[c] == KIND_AVOID else BLOCK * c):
            best, least = -1, reach
            for check in range(s.checks if last != -2 else 0):
                distance = s.check_result[RESULT * check]
                if s.check_row[check] < 0 and distance < least:
                    best, least = check, distance
            last = -2 if best < 0 else best
            s.row_check[r] = best
            if best >= 0:
                s.check_row[best] = r
            s.residual[r] = excess_of(s, best)
            s.trial[r] = s.residual[r]
    sum_up(s)


@kernel
def speed_of(s: Solve, j: int, n: Floats, p: Floats) -> float:
    """Return n . velocity of point p of column j by the variable that moves it."""
    x, y, z, _, _, _ = twist_of(s, j, p[0], p[1], p[2])
    return float(s.rate[j] * (n[0] * x + n[1] * y + n[2] * z))


@rare
def add_pairs(s: Solve, c: int) -> None:
    """Add -n . (J_A(p_A) - J_B(p_B)) to the rows of a constraint of kind avoid."""
    for k in range(BLOCK):
        check = s.row_check[BLOCK * c + k]
        if check < 0:
            continue
        result = s.check_result[RESULT * check :]
        a, b = s.body_column[s.check_a[check]], s.body_column[s.check_b[check]]
        while a != b:
            # A column that carries both changes nothing.
            of_a = a > b
            j = a if of_a else b
            v = s.var[j]
            if v >= 0:
                speed = speed_of(s, j, result[1:], result[4:] if of_a else result[7:])
                s.jac[BLOCK * (s.slot0[c] + v) + k] += -speed if of_a else speed
            if of_a:
                a = s.parent[a]
            else:
                b = s.parent[b]
