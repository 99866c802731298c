"""
The way from closed loops to a distant configuration, in parts that keep the branch.

What is asked for differs: values of joints (`drive`, joint-space commands), values of actuators or
of a joint space (`transmit`), poses on a path (`path`). The way to it is the same everywhere. It
is divided into parts; a part is predicted, the loops are closed with what is given held, and a
part that closing or a window changes by too much is undone and made shorter, since another branch
is near. After a part that is kept, the next one is twice as long. The tables say what differs.
"""

from math import acos, inf, sin, sqrt

from ik_node.kernels.decorators import kernel
from ik_node.kernels.layout import Floats

# The ways: steps of SETTLE to joint targets; positions of a transmission; from frame to frame.
DRIVE, TRANSMISSION, PATH = range(3)
# Largest motion of a joint on a part [rad or L]: farther on the tangent is another one. On a path
# it is the caller's `max_step`.
LONGEST = (0.3, 0.3, inf)
# Share of a part by which closing the loops may correct it: more leads to another branch. A path
# may bend a joint as far as its window allows.
BEND = (0.5, 0.3, inf)
# Factor of a part that is undone. A transmission ends its way quickly, where it is blocked.
SHORTER = (0.5, 0.25, 0.5)
# A way is blocked where a smaller share of it is not possible either; of a transmission, a smaller
# part [rad or L].
LEAST = (1e-4, 1e-6, 0.5**8)
# Factor of the next part after one that was kept.
GROWTH = 2.0
# Below this angle between quaternions the arc is a straight line [rad]: its sine loses digits.
STRAIGHT = 1e-6


@kernel
def next_share(kind: int, share: float, kept: bool) -> float:
    """Return the share of the next part, after one that was kept or undone."""
    return GROWTH * share if kept else SHORTER[kind] * share


@kernel
def pose_between(
    position0: Floats,
    quat0: Floats,
    position1: Floats,
    quat1: Floats,
    share: float,
    position: Floats,
    quat: Floats,
) -> None:
    """
    Write the pose at a share of the way from one to another: on a line, with slerp.

    The shorter arc between q0 and q1, at an angle a: (sin((1 - s) a) q0 + sin(s a) q1) / sin(a).
    """
    cosine, total = 0.0, 0.0
    for k in range(4):
        cosine += quat0[k] * quat1[k]
    angle = acos(min(abs(cosine), 1.0))
    first, second = 1.0 - share, share
    if share < 1.0 and angle >= STRAIGHT:
        first, second = sin(first * angle) / sin(angle), sin(second * angle) / sin(angle)
    if cosine < 0.0:
        first = -first
    for k in range(3):
        start = position0[k]
        position[k] = start + share * (position1[k] - start) if share < 1.0 else position1[k]
    for k in range(4):
        quat[k] = first * quat0[k] + second * quat1[k] if share < 1.0 else quat1[k]
        total += quat[k] * quat[k]
    for k in range(4 if share < 1.0 else 0):
        quat[k] /= sqrt(total)
