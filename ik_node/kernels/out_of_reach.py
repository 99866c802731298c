"""
A proof that a goal cannot be reached, by the lengths of the links; docs/theory.md, section 8.

The distance between two points of a chain is at most the sum of the distances from joint to joint.
A goal is out of reach if the way from the root to its point is longer than that, or the way from
its link through a loop to the root.
"""

from math import sqrt

from ik_node.kernels import layout
from ik_node.kernels.decorators import kernel, rare
from ik_node.kernels.kinds import KIND_COUPLING, KIND_FRAME, KIND_UNIVERSAL
from ik_node.kernels.layout import Floats, Solve
from ik_node.kernels.rotation import Vector
from ik_node.kernels.rows import counting_axis

# Bits of the three components of a position, and of an orientation, in a constraint's mask.
POSITION, ORIENTATION = 7, 56
# Why a goal is out of reach: its chain is too short for its position, or for the position of the
# last joint's axis; a loop is too short.
PROOF_LENGTH, PROOF_WRIST, PROOF_LOOP = 1, 2, 3
PROOFS = 4
# A distance that no joint limits [L], and the rounding of a sum of distances [L].
ENDLESS, ROUNDING = 1e300, 1e-9


@kernel
def length_of(x: float, y: float, z: float) -> float:
    """Return the length of a vector."""
    return sqrt(x * x + y * y + z * z)


@kernel
def origin_of(s: Solve, j: int) -> Vector:
    """Return the origin of column j before its motion, in its parent's frame [L]."""
    frame = s.offset[12 * j :]
    return frame[9], frame[10], frame[11]


@kernel
def end_of(s: Solve, c: int, of_b: bool) -> Vector:
    """Return the origin of frame A or B of constraint c in its column [L]."""
    index = 12 * c + 9
    if of_b:
        return s.b_local[index], s.b_local[index + 1], s.b_local[index + 2]
    return s.a_offset[index], s.a_offset[index + 1], s.a_offset[index + 2]


@kernel
def travel_of(s: Solve, j: int) -> float:
    """Return the longest way |v| that column j slides [L]; 0 if it turns."""
    if s.prismatic[j] == 0:
        return 0.0
    v = s.var[j]
    if v < 0:
        return float(abs(s.held[j]))
    polynomial = s.coefficients[s.width * j :]
    for p in range(2, s.width):
        if polynomial[p] != 0.0:
            return ENDLESS
    largest = max(abs(s.lower[v]), abs(s.upper[v]))
    return (
        float(abs(polynomial[0]) + abs(polynomial[1]) * largest) if largest < ENDLESS else ENDLESS
    )


@kernel
def carries(s: Solve, j: int, above: int) -> bool:
    """Return True if column `above` is j or carries it."""
    while j > above:
        j = s.parent[j]
    return j == above


@kernel
def topmost(s: Solve, j: int, above: int) -> int:
    """Return the first column below `above` on the way down to j; -1 if j is `above`."""
    top = -1
    while j != above:
        top = j
        j = s.parent[j]
    return top


@kernel
def reach_between(s: Solve, j: int, above: int) -> float:
    """Return the longest distance from the origin of `topmost` before its motion to j's [L]."""
    total = 0.0
    while j != above:
        total += travel_of(s, j)
        x, y, z = origin_of(s, j)
        j = s.parent[j]
        if j != above:
            total += length_of(x, y, z)
    return total


@kernel
def keeps_orientation(s: Solve, j: int) -> bool:
    """Return True if no joint turns column j."""
    while j >= 0:
        if s.prismatic[j] == 0:
            return False
        j = s.parent[j]
    return True


@kernel
def has_elbow(s: Solve, j: int) -> bool:
    """
    Return True if a column on the way to j turns at a distance from its parent, which turns.

    A loop with an elbow bends in several ways: around a link that is held, or, as a four-bar,
    towards a goal that it cannot meet.
    """
    while j >= 0:
        parent = s.parent[j]
        if parent >= 0 and s.prismatic[j] == 0 and s.prismatic[parent] == 0:
            x, y, z = origin_of(s, j)
            if length_of(x, y, z) > ROUNDING:
                return True
        j = parent
    return False


@rare
def other_assemblies(s: Solve) -> int:
    """
    Return in which of several ways the loops may close around the links of the goals.

    2: joints turn the link of a goal that leaves its orientation open. 1: a closure closes a loop
    with elbows. 0: neither.
    """
    level = 0
    for c in range(s.nc):
        asked = s.kind[c] == KIND_FRAME and s.mask[c] & ORIENTATION == ORIENTATION
        if s.kind[c] >= KIND_COUPLING:
            continue
        if s.constraints[c, layout.CON_LEVEL] == 0.0:
            if has_elbow(s, s.a_column[c]) or has_elbow(s, s.b_column[c]):
                level = max(level, 1)
        elif not asked and not keeps_orientation(s, s.a_column[c]):
            level = 2
    return level


@kernel
def tolerance_of(s: Solve, c: int, lever: float) -> float:
    """Return how far a point at a lever [L] may be off when constraint c is met [L]."""
    slack = s.constraints[c, layout.CON_TRANSLATION_TOLERANCE]
    slack += s.constraints[c, layout.CON_TRANSLATION_MISFIT]
    turned = s.constraints[c, layout.CON_ROTATION_TOLERANCE]
    return float(slack / s.length + turned * lever + ROUNDING)


@kernel
def turned(frame: Floats, x: float, y: float, z: float) -> Vector:
    """Return R p with the rotation R of a frame."""
    return (
        frame[0] * x + frame[1] * y + frame[2] * z,
        frame[3] * x + frame[4] * y + frame[5] * z,
        frame[6] * x + frame[7] * y + frame[8] * z,
    )


@kernel
def beside_goal(s: Solve, g: int, px: float, py: float, pz: float) -> Vector:
    """
    Return R p, from the axes of the column of goal g to those of the root when its pose is met.

    That is R = R_B R_A^T, with the rotations of the goal and of its frame A.
    """
    a = s.a_offset[12 * g :]
    x = a[0] * px + a[3] * py + a[6] * pz
    y = a[1] * px + a[4] * py + a[7] * pz
    z = a[2] * px + a[5] * py + a[8] * pz
    return turned(s.b_local[12 * g :], x, y, z)


@kernel
def length_beside(s: Solve, g: int, x: float, y: float, z: float) -> float:
    """Return the length of the components of a vector in root axes that goal g asks for [L]."""
    total = 0.0
    for k in range(3):
        if s.mask[g] & (1 << k):
            a, b = s.a_frame[12 * g :], s.b_frame[12 * g :]
            ex, ey, ez = counting_axis(s.axes[g], a, b, k)
            total += (ex * x + ey * y + ez * z) ** 2
    return sqrt(total)


@kernel
def goal_is_too_far(s: Solve, g: int) -> int:
    """
    Return a proof if the point of goal g is farther from the first joint than the chain is long.

    If the goal has an orientation and its link turns about an axis, that axis is known as well.
    The chain then ends at the point of the axis that is nearest to the joint before: for a wrist
    whose axes intersect, at their intersection.
    """
    link = s.a_column[g]
    wx, wy, wz = end_of(s, g, True)
    ax, ay, az = end_of(s, g, False)
    ox, oy, oz = origin_of(s, topmost(s, link, -1))
    reach, lever = reach_between(s, link, -1), length_of(ax, ay, az)
    whole = s.mask[g] & ORIENTATION == ORIENTATION
    by_wrist = whole and s.prismatic[link] == 0
    if by_wrist:
        along = 0.0
        if s.parent[link] >= 0:
            x, y, z = origin_of(s, link)
            frame = s.offset[12 * link :]
            along = -(x * frame[2] + y * frame[5] + z * frame[8])
            reach += sqrt(max(x * x + y * y + z * z - along * along, 0.0)) - length_of(x, y, z)
        lever = length_of(ax, ay, az - along)
        x, y, z = beside_goal(s, g, -ax, -ay, along - az)
        wx, wy, wz = wx + x, wy + y, wz + z
    else:
        reach += lever
        lever = 0.0
    if length_beside(s, g, wx - ox, wy - oy, wz - oz) > reach + tolerance_of(s, g, lever):
        return PROOF_WRIST if by_wrist else PROOF_LENGTH
    return 0


@kernel
def loop_is_too_short(s: Solve, g: int, c: int) -> bool:
    """Return True if closure c cannot close while goal g is met."""
    link, a, b = s.a_column[g], s.a_column[c], s.b_column[c]
    by_a = carries(s, a, link)
    if by_a == carries(s, b, link):
        return False
    near, far = (a, b) if by_a else (b, a)
    # The first point on the way from the link that its pose decides, in its column.
    px, py, pz = end_of(s, c, not by_a)
    top, reach = topmost(s, near, link), 0.0
    if top >= 0:
        reach += reach_between(s, near, link) + length_of(px, py, pz)
        px, py, pz = origin_of(s, top)
    gx, gy, gz = end_of(s, g, False)
    px, py, pz = px - gx, py - gy, pz - gz
    wx, wy, wz = end_of(s, g, True)
    lever = length_of(px, py, pz)
    if s.mask[g] & ORIENTATION == ORIENTATION:
        px, py, pz = beside_goal(s, g, px, py, pz)
    elif keeps_orientation(s, link):
        px, py, pz = turned(s.frame[12 * link :], px, py, pz)
    else:
        reach += lever
        px, py, pz = 0.0, 0.0, 0.0
    wx, wy, wz = wx + px, wy + py, wz + pz
    ox, oy, oz = end_of(s, c, by_a)
    if far >= 0:
        reach += reach_between(s, far, -1) + length_of(ox, oy, oz)
        ox, oy, oz = origin_of(s, topmost(s, far, -1))
    slack = tolerance_of(s, g, lever) + tolerance_of(s, c, 0.0)
    return length_beside(s, g, wx - ox, wy - oy, wz - oz) > reach + slack


@rare
def out_of_reach(s: Solve) -> int:
    """
    Return 0, or why the lengths of the links prove that not all goals can be met.

    The number is PROOF_* + PROOFS (g + nc c), with the goal g and, of a loop, the closure c.

    Looks at goals for a position in the root frame, or for components of it whose axes are
    known, each by itself.
    """
    for g in range(s.nc):
        link, asked = s.a_column[g], s.mask[g] & POSITION
        if (
            s.constraints[g, layout.CON_LEVEL] == 0.0
            or s.kind[g] != KIND_FRAME
            or asked == 0
            or (asked != POSITION and s.axes[g] == layout.AXES_A)
            or s.b_column[g] >= 0
            or link < 0
        ):
            continue
        proof = goal_is_too_far(s, g)
        if proof > 0:
            return proof + PROOFS * g
        for c in range(s.nc):
            if (
                s.constraints[c, layout.CON_LEVEL] == 0.0
                and (s.kind[c] == KIND_FRAME or s.kind[c] == KIND_UNIVERSAL)
                and s.mask[c] & POSITION == POSITION
                and loop_is_too_short(s, g, c)
            ):
                return PROOF_LOOP + PROOFS * (g + s.nc * c)
    return 0
